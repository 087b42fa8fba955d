// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_SHAPED_NETWORKS_HPP
#define SUBLET_BENCH_SHAPED_NETWORKS_HPP

/// Networks with sizes for every shape, made in code with their real dimensions.
///
///     gpt2_prompt      batch x length          12 layers of 768, 12 heads, scores by length^2
///     gpt2_training    batch x length          the same, with dropout; backward; Adam at the end
///     llama_prompt     batch x length          16 layers of 2048, 32 heads, 8 of k and v; 2 bytes, norms in
///     4 llama_step       batch x past            one more token: heads of a cache, which is external bert
///     batch x length          12 layers of 768, a mask, a class for each sentence unet             batch x
///     height x width  64 to 1024 channels, each level down joined with one up detector         height x
///     width          ResNet-50, a pyramid of five scales, two heads on each resnet50         batch images of
///     224 by 224

#include "shaped_maker.hpp"

#include <sublet/core/formula.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace bench {

// --- GPT-2 and BERT --------------------------------------------------------------------------------------

inline constexpr byte_count base_width = 768, base_heads = 12, base_layers = 12;

/// GPT-2 normalizes before, and BERT behind.
inline value_id base_layer(shaped_maker& make, value_id x, value_id mask, bool is_gpt, formula const& batch,
                           formula const& length)
{
    constexpr byte_count w = base_width;
    value_id const in = is_gpt ? make.layer_norm(x, w) : x;
    value_id q, k, v;
    if (is_gpt) {
        auto const each = make.parts(make.linear(in, w, 3 * w), 3);
        q = make.copy(each[0]), k = make.copy(each[1]), v = make.copy(each[2]); // by heads
    } else {
        q = make.copy(make.reshape(make.linear(in, w, w)));
        k = make.copy(make.reshape(make.linear(in, w, w)));
        v = make.copy(make.reshape(make.linear(in, w, w)));
    }
    value_id scores = make.matmul(q, k, 4 * base_heads * batch * length * length);
    scores = make.activation({scores}, keeps::nothing); // scale
    scores = make.activation({scores, mask}, keeps::nothing);
    scores = make.dropout(make.activation({scores}, keeps::result)); // softmax
    value_id const mixed = make.reshape(make.copy(make.matmul(scores, v, make.bytes(q))));
    x = make.add(make.dropout(make.linear(mixed, w, w)), x);
    if (!is_gpt) x = make.layer_norm(x, w);
    value_id wide = is_gpt ? make.layer_norm(x, w) : x;
    wide = make.activation({make.linear(wide, w, 4 * w)}, keeps::operand); // gelu
    x = make.add(make.dropout(make.linear(wide, 4 * w, w)), x);
    return is_gpt ? x : make.layer_norm(x, w);
}

/// Radford, Wu, Child, Luan, Amodei and Sutskever, "Language models are unsupervised multitask learners",
/// 2019: the smallest model. A prompt gives the scores of one more token, training those of all.
inline shaped_network gpt2(bool trains)
{
    constexpr byte_count tokens = 50'257, w = base_width;
    shaped_maker make(trains ? "gpt2_training" : "gpt2_prompt",
                      {{"batch", 1, trains ? 16u : 64u}, {"length", 1, 2048}}, trains);
    formula const batch = sublet::symbol(0), length = sublet::symbol(1);
    value_id const text = make.input(8 * batch * length), mask = make.given(4 * 2048 * 2048);
    value_id const table = make.parameter(4 * tokens * w), places = make.parameter(4 * 2048 * w);
    value_id x = make.operation({table, text}, 4 * w * batch * length, {text}, {table});
    value_id const place = make.operation({places}, 4 * w * length, {}, {places});
    x = make.dropout(make.added_to_each(x, place));
    for (byte_count layer = 0; layer != base_layers; ++layer)
        x = base_layer(make, x, mask, true, batch, length);
    if (!trains) x = make.make({x}, 4 * w * batch); // the last token
    x = make.layer_norm(x, w);
    formula const rows = trains ? batch * length : batch;
    value_id const scores = make.matmul(x, table, 4 * tokens * rows);
    if (!trains) return std::move(make).finish(scores);
    value_id const logarithms = make.make({scores}, make.bytes(scores));
    make.differentiate({logarithms}, {logarithms}, {scores});
    value_id const next = make.input(8 * batch * length);
    return std::move(make).train(make.operation({logarithms, next}, 4, {next}, {logarithms}));
}

/// Devlin, Chang, Lee and Toutanova, "BERT: pre-training of deep bidirectional transformers for language
/// understanding", NAACL 2019: the base model.
inline shaped_network bert()
{
    constexpr byte_count w = base_width;
    shaped_maker make("bert", {{"batch", 1, 64}, {"length", 1, 512}});
    formula const batch = sublet::symbol(0), length = sublet::symbol(1);
    value_id const text = make.input(8 * batch * length), kinds = make.input(8 * batch * length);
    value_id const given_mask = make.input(8 * batch * length);
    value_id const mask = make.elementwise({make.make({given_mask}, 4 * batch * length)});
    value_id x = make.make({make.given(4 * 30'522 * w), text}, 4 * w * batch * length);
    value_id const kind = make.make({make.given(4 * 2 * w), kinds}, make.bytes(x));
    x = make.elementwise({make.add(x, kind), make.make({make.given(4 * 512 * w)}, 4 * w * length)});
    x = make.layer_norm(x, w);
    for (byte_count layer = 0; layer != base_layers; ++layer)
        x = base_layer(make, x, mask, false, batch, length);
    x = make.elementwise({make.linear(make.make({x}, 4 * w * batch), w, w)}); // tanh of the first token
    return std::move(make).finish(make.elementwise({make.linear(x, w, 2)}));
}

// --- LLaMA -----------------------------------------------------------------------------------------------

/// Touvron et al., "LLaMA: open and efficient foundation language models", 2023, with the dimensions of its
/// models of 2024 with 1.2 * 10^9 parameters: 16 layers of 2048, 32 heads of 64, 8 of k and v.
inline shaped_network llama(bool is_step)
{
    constexpr byte_count w = 2048, kv = 512, heads = 32, inner = 8192, tokens = 128'256, layers = 16;
    shaped_maker make(is_step ? "llama_step" : "llama_prompt",
                      {{"batch", 1, is_step ? 64u : 16u}, {is_step ? "past" : "length", 1, 2048}});
    formula const batch = sublet::symbol(0), length = is_step ? 1 : sublet::symbol(1);
    formula const rows = is_step ? sublet::symbol(1) + 1 : length, all = batch * length; // rows of the cache
    auto normed = [&make](value_id x) {
        value_id const wide = make.make({x}, 2 * make.bytes(x));
        value_id const mean =
            make.make({make.make({wide}, make.bytes(wide))}, 4 * ceil_divide(make.bytes(x), 2 * w));
        value_id const scaled = make.elementwise({wide, make.elementwise({mean})});
        return make.elementwise({make.make({scaled}, make.bytes(x)), make.given(2 * w)});
    };
    auto multiplied = [&make](value_id x, byte_count from, byte_count to) {
        return make.linear(x, from, to, 2, false);
    };
    value_id const text = make.input(8 * all), table = make.given(2 * tokens * w);
    value_id const mask = make.input(2 * all * rows);
    value_id const angles = make.make({make.input(8 * length), make.given(4 * 32)}, 4 * 64 * length);
    value_id const cosine = make.make({angles}, 2 * 64 * length), sine = make.make({angles}, 2 * 64 * length);
    auto rotated = [&](value_id x) {
        value_id const half = make.make({x}, make.bytes(x)); // exchanged
        value_id const by_cosine = make.elementwise({x, cosine});
        return make.add(by_cosine, make.elementwise({half, sine}));
    };
    value_id x = make.make({table, text}, 2 * w * all);
    for (byte_count layer = 0; layer != layers; ++layer) {
        value_id h = normed(x);
        value_id const q = rotated(make.reshape(multiplied(h, w, w)));
        value_id k = rotated(make.reshape(multiplied(h, w, kv))), v = make.reshape(multiplied(h, w, kv));
        value_id const keys = make.given(2 * kv * 2049 * batch), values = make.given(2 * kv * 2049 * batch);
        make.store(k, keys);
        make.store(v, values);
        k = make.make({is_step ? keys : k}, 2 * w * batch * rows); // a head of k for four of q
        v = make.make({is_step ? values : v}, 2 * w * batch * rows);
        value_id scores = make.make({q, k}, 2 * heads * all * rows);
        scores = make.elementwise({make.elementwise({scores}), mask});
        scores = make.elementwise({make.make({scores}, 2 * make.bytes(scores))}); // softmax in 4 bytes
        scores = make.make({scores}, 2 * heads * all * rows);
        x = make.add(multiplied(make.copy(make.make({scores, v}, 2 * w * all)), w, w), x);
        h = normed(x);
        value_id const gate = make.elementwise({multiplied(h, w, inner)});
        x = make.add(multiplied(make.add(gate, multiplied(h, w, inner)), inner, w), x);
    }
    if (!is_step) x = make.make({x}, 2 * w * batch); // the last token
    value_id const scores = make.make({normed(x), table}, 2 * tokens * batch);
    return std::move(make).finish(make.make({scores}, 4 * tokens * batch));
}

// --- images ----------------------------------------------------------------------------------------------

/// Floats: so many channels for each pixel of each image.
struct image {
    value_id value = no_value;
    byte_count channels = 0;
    formula images, height, width;

    formula bytes(byte_count of) const { return 4 * of * images * height * width; }
};

inline image convolved(shaped_maker& make, image const& x, byte_count channels, byte_count side,
                       byte_count stride = 1, bool is_active = true)
{
    image y{no_value, channels, x.images, ceil_divide(x.height, stride), ceil_divide(x.width, stride)};
    y.value = make.make({x.value, make.given(4 * channels * x.channels * side * side)}, y.bytes(channels));
    y.value =
        make.elementwise({y.value, make.given(4 * channels), make.given(4 * channels)}); // norm, or bias
    if (is_active) y.value = make.elementwise({y.value});
    return y;
}
inline image pooled(shaped_maker& make, image const& x)
{
    image y{no_value, x.channels, x.images, ceil_divide(x.height, 2), ceil_divide(x.width, 2)};
    y.value = make.make({x.value}, y.bytes(y.channels));
    return y;
}
inline image doubled(shaped_maker& make, image const& x, byte_count channels)
{
    image y{no_value, channels, x.images, 2 * x.height, 2 * x.width};
    y.value = make.make({x.value}, y.bytes(channels));
    return y;
}

/// Ronneberger, Fischer and Brox, "U-Net: convolutional networks for biomedical image segmentation", MICCAI
/// 2015, with margins.
inline shaped_network unet()
{
    shaped_maker make("unet", {{"batch", 1, 16}, {"height", 64, 1024, 32}, {"width", 64, 1024, 32}});
    image x{no_value, 3, sublet::symbol(0), sublet::symbol(1), sublet::symbol(2)};
    x.value = make.input(x.bytes(3));
    auto block = [&make](image const& in, byte_count channels) {
        return convolved(make, convolved(make, in, channels, 3), channels, 3);
    };
    std::vector<image> kept;
    for (byte_count channels : {64u, 128u, 256u, 512u}) {
        kept.push_back(block(x, channels));
        x = pooled(make, kept.back());
    }
    x = block(x, 1024);
    for (; !kept.empty(); kept.pop_back()) {
        image const& level = kept.back();
        image both = level;
        both.channels = 2 * level.channels;
        both.value =
            make.make({level.value, doubled(make, x, level.channels).value}, level.bytes(both.channels));
        x = block(both, level.channels);
    }
    return std::move(make).finish(convolved(make, x, 2, 1, 1, false).value);
}

/// He, Zhang, Ren and Sun, "Deep residual learning for image recognition", CVPR 2016: the results of the four
/// stages of 50 layers.
inline std::vector<image> resnet50_stages(shaped_maker& make, image const& input)
{
    image x = pooled(make, convolved(make, input, 64, 7, 2));
    struct stage {
        unsigned blocks;
        byte_count channels, stride;
    };
    std::vector<image> all;
    for (stage const& s : {stage{3, 64, 1}, stage{4, 128, 2}, stage{6, 256, 2}, stage{3, 512, 2}}) {
        for (unsigned block = 0; block != s.blocks; ++block) {
            byte_count const stride = block == 0 ? s.stride : 1;
            image y = convolved(make, convolved(make, x, s.channels, 1), s.channels, 3, stride);
            y = convolved(make, y, 4 * s.channels, 1, 1, false);
            value_id const other =
                block == 0 ? convolved(make, x, 4 * s.channels, 1, stride, false).value : x.value;
            y.value = make.elementwise({make.add(y.value, other)});
            x = y;
        }
        all.push_back(x);
    }
    return all;
}

inline shaped_network resnet50_by_batch()
{
    shaped_maker make("resnet50", {{"batch", 1, 64}});
    image x{no_value, 3, sublet::symbol(0), 224, 224};
    x.value = make.input(x.bytes(3));
    x = resnet50_stages(make, x).back();
    value_id const mean = make.make({x.value}, 4 * x.channels * x.images);
    return std::move(make).finish(make.elementwise({make.linear(make.reshape(mean), x.channels, 1000)}));
}

/// Lin, Goyal, Girshick, He and Dollar, "Focal loss for dense object detection", ICCV 2017: a pyramid of five
/// scales (Lin et al., CVPR 2017), with nine boxes for each place and 80 classes; the best 1000 of each scale
/// are kept.
inline shaped_network detector()
{
    shaped_maker make("detector", {{"height", 64, 1344, 32}, {"width", 64, 1344, 32}});
    image x{no_value, 3, 1, sublet::symbol(0), sublet::symbol(1)};
    x.value = make.input(x.bytes(3));
    std::vector<image> const stages = resnet50_stages(make, x);
    std::vector<image> scales;
    image from_above;
    for (std::size_t i = stages.size(); i-- != 1;) {
        image side = convolved(make, stages[i], 256, 1, 1, false);
        if (from_above.value != no_value)
            side.value = make.add(side.value, doubled(make, from_above, 256).value);
        from_above = side;
        scales.insert(scales.begin(), side);
    }
    for (image& scale : scales) scale = convolved(make, scale, 256, 3, 1, false);
    scales.push_back(convolved(make, stages.back(), 256, 3, 2, false));
    scales.push_back(convolved(make, scales.back(), 256, 3, 2, false));
    std::vector<value_id> best;
    for (byte_count numbers : {80u, 4u}) {
        std::vector<value_id> flat;
        formula sum;
        for (image const& scale : scales) {
            image y = scale;
            for (unsigned layer = 0; layer != 4; ++layer) y = convolved(make, y, 256, 3);
            y = convolved(make, y, 9 * numbers, 3, 1, false);
            if (numbers == 80) y.value = make.elementwise({y.value});
            flat.push_back(make.reshape(make.copy(y.value))); // channels last
            sum += make.bytes(flat.back());
        }
        best.push_back(make.make(std::move(flat), sum));
    }
    value_id const scores = make.make({best[0]}, 4 * 5000),
                   boxes = make.make({best[1], scores}, 4 * 4 * 5000);
    return std::move(make).finish(make.make({scores, boxes}, 4 * 6 * 300));
}

inline std::vector<shaped_network> shaped_networks()
{
    std::vector<shaped_network> all;
    all.push_back(gpt2(false));
    all.push_back(gpt2(true));
    all.push_back(llama(false));
    all.push_back(llama(true));
    all.push_back(bert());
    all.push_back(unet());
    all.push_back(detector());
    all.push_back(resnet50_by_batch());
    return all;
}

} // namespace bench

#endif
