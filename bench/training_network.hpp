// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_TRAINING_NETWORK_HPP
#define SUBLET_BENCH_TRAINING_NETWORK_HPP

/// Networks made in code, forward or trained, at any batch size: no file is needed to plan and run them.
///
///     ResNet       x ─┬─ f ─┐     DenseNet   x ─┬─ f ─┬─ g ─┬─ h ─
///                     └──── + ─                 └─────┴─────┴─ cat
///
///     Inception    x ─┬─ 1 ─────┐     BERT       q k' ─ softmax ─ v     (tokens by tokens)
///                     ├─ 1 ─ 3 ─┤
///                     └─ 1 ─ 5 ─┴─ cat
///
/// resnet50() trained at batch size 32 is resnet50_b32_sgd.onnx, a trace of such a program: bench_execution
/// --compare FILE.onnx counts buffers, bytes and bounds of both. The file has additional views, which need no
/// bytes (of detach, transpose, reshape and expand); everything else is the same.

#include "network_maker.hpp"

#include <utility>
#include <vector>

namespace bench {

/// He, Zhang, Ren and Sun, "Deep residual learning for image recognition", CVPR 2016: 50 layers, images of
/// 224 by 224, 1000 classes; the stride of a block is in its second convolution.
inline plan_model::network resnet50(training_options const& options)
{
    network_maker make(options);
    auto convolved = [&make](feature x, byte_count channels, byte_count side, byte_count stride = 1) {
        return make.batch_norm(make.convolution(x, channels, side, stride));
    };
    feature x = make.max_pool(make.relu(convolved(make.input(3, 224, 224), 64, 7, 2)), 2);
    struct stage {
        unsigned blocks;
        byte_count channels, stride;
    };
    for (stage const& s : {stage{3, 64, 1}, stage{4, 128, 2}, stage{6, 256, 2}, stage{3, 512, 2}})
        for (unsigned block = 0; block != s.blocks; ++block) {
            byte_count const stride = block == 0 ? s.stride : 1;
            feature y = make.relu(convolved(x, s.channels, 1));
            y = make.relu(convolved(y, s.channels, 3, stride));
            y = convolved(y, 4 * s.channels, 1);
            x = make.relu(make.add(y, block == 0 ? convolved(x, 4 * s.channels, 1, stride) : x));
        }
    return std::move(make).finish(make.linear(make.mean(x), 1000));
}

/// Szegedy et al., "Going deeper with convolutions", CVPR 2015: its nine modules, without the auxiliary
/// classifiers.
inline plan_model::network inception(training_options const& options)
{
    network_maker make(options);
    auto convolved = [&make](feature x, byte_count channels, byte_count side, byte_count stride = 1) {
        return make.relu(make.convolution(x, channels, side, stride));
    };
    feature x = make.max_pool(convolved(make.input(3, 224, 224), 64, 7, 2), 2);
    x = make.max_pool(convolved(convolved(x, 64, 1), 192, 3), 2);
    struct module {
        byte_count one, before_three, three, before_five, five, pooled;
        bool halves_size;
    };
    for (module const& m :
         {module{64, 96, 128, 16, 32, 32, false}, module{128, 128, 192, 32, 96, 64, true},
          module{192, 96, 208, 16, 48, 64, false}, module{160, 112, 224, 24, 64, 64, false},
          module{128, 128, 256, 24, 64, 64, false}, module{112, 144, 288, 32, 64, 64, false},
          module{256, 160, 320, 32, 128, 128, true}, module{256, 160, 320, 32, 128, 128, false},
          module{384, 192, 384, 48, 128, 128, false}}) {
        feature const one = convolved(x, m.one, 1);
        feature const three = convolved(convolved(x, m.before_three, 1), m.three, 3);
        feature const five = convolved(convolved(x, m.before_five, 1), m.five, 5);
        feature const pooled = convolved(make.max_pool(x, 1), m.pooled, 1);
        x = make.concatenation({one, three, five, pooled});
        if (m.halves_size) x = make.max_pool(x, 2);
    }
    return std::move(make).finish(make.linear(make.mean(x), 1000));
}

/// Huang, Liu, van der Maaten and Weinberger, "Densely connected convolutional networks", CVPR 2017: 121
/// layers, each of which concatenates 32 channels to the existing ones.
inline plan_model::network densenet121(training_options const& options)
{
    network_maker make(options);
    auto convolved = [&make](feature x, byte_count channels, byte_count side) {
        return make.convolution(make.relu(make.batch_norm(x)), channels, side);
    };
    feature x = make.convolution(make.input(3, 224, 224), 64, 7, 2);
    x = make.max_pool(make.relu(make.batch_norm(x)), 2);
    for (unsigned layers : {6u, 12u, 24u, 16u}) {
        std::vector<feature> features{x};
        for (unsigned layer = 0; layer != layers; ++layer) {
            feature const all = layer == 0 ? x : make.concatenation(features);
            features.push_back(convolved(convolved(all, 128, 1), 32, 3));
        }
        x = make.concatenation(features);
        if (layers == 16) continue;
        x = convolved(x, x.channels / 2, 1);
        x = make.operation("avg_pool2d", {x}, {no_value, x.channels, x.height / 2, x.width / 2}, true, false);
    }
    return std::move(make).finish(make.linear(make.mean(make.relu(make.batch_norm(x))), 1000));
}

/// Devlin, Chang, Lee and Toutanova, "BERT: pre-training of deep bidirectional transformers for language
/// understanding", NAACL 2019: the encoder of the base model, 12 layers of 768 with 12 heads, after the
/// embedding; attention is not fused, so its size is quadratic in the number of tokens.
inline plan_model::network transformer(training_options const& options, byte_count tokens = 128)
{
    network_maker make(options);
    byte_count const width = 768, heads = 12;
    feature x = make.layer_norm(make.input(width, tokens, 1));
    feature const square{no_value, heads * tokens, tokens, 1};
    for (unsigned layer = 0; layer != 12; ++layer) {
        feature const q = make.linear(x, width), k = make.linear(x, width), v = make.linear(x, width);
        feature const scores = make.operation("bmm", {q, k}, square, true, false);
        feature const weights = make.operation("softmax", {scores}, square, false, true);
        feature const mixed = make.operation("bmm", {weights, v}, {no_value, width, tokens, 1}, true, false);
        x = make.layer_norm(make.add(make.linear(mixed, width), x));
        feature const wide = make.linear(x, 4 * width);
        x = make.layer_norm(
            make.add(make.linear(make.operation("gelu", {wide}, wide, true, false), width), x));
    }
    return std::move(make).finish(make.linear(x, 2));
}

} // namespace bench

#endif
