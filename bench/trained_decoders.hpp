// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_TRAINED_DECODERS_HPP
#define SUBLET_BENCH_TRAINED_DECODERS_HPP

/// Decoders in training, of any size: forward, backward and an update of each weight, with floating-point
/// operations by step. Steps other than updates may run again.
///
///     x ─┬─ norm ─ q k v ─ q k' ─ softmax ─ v ─ linear ─ + ─┬─ norm ─ linear ─ gelu ─ linear ─ + ─
///        └───────────────────────────────────────────────┘  └──────────────────────────────────┘
///
/// Attention is not fused: its probabilities are tokens by tokens for each head, and are kept for the
/// backward steps. Element-wise steps may overwrite their operands. Weights are state; a token's embedding
/// and the last linear layer share theirs. q, k and v are views of one result.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench {

using sublet::byte_count;
using sublet::no_value;
using sublet::step_id;
using sublet::value_id;
using sublet::value_role;

struct trained_decoder_sizes {
    unsigned layers = 12;
    byte_count batch = 1, tokens = 1, width = 1, heads = 1, words = 1;
    bool updates_at_once = false; ///< a weight is updated once its gradient is there; else all at the end
};

class trained_decoder {
public:
    explicit trained_decoder(trained_decoder_sizes const& sizes) : is_(sizes)
    {
        std::vector<layer> layers(is_.layers);
        value_id const tokens = add(8 * rows(), value_role::external);
        value_id const targets = add(8 * rows(), value_role::external);
        value_id const embedding = weight(is_.words * is_.width);
        value_id x = step({tokens, embedding}, wide(1), 0);
        for (layer& l : layers) x = forward(l, x);
        norm const last = forward(x);
        value_id const logits = linear(last.y, embedding, is_.width, is_.words);
        byte_count const many = rows() * is_.words;
        value_id const probabilities = step({logits}, 4 * many, 5 * many);
        overwrites(logits, probabilities);
        value_id const loss = step({probabilities, targets}, 4, 2 * rows());
        values_[loss].role = value_role::output;
        value_id dy = step({probabilities, targets}, 4 * many, 2 * many);
        overwrites(probabilities, dy);
        value_id const of_words = gradient(last.y, dy, is_.width, is_.words);
        dy = backward(last, back(dy, embedding, is_.width, is_.words));
        for (std::size_t i = layers.size(); i-- != 0;) dy = backward(layers[i], dy);
        value_id const of_tokens = step({dy, tokens}, 4 * is_.words * is_.width, rows() * is_.width);
        value_id const sum = step({of_words, of_tokens}, 4 * is_.words * is_.width, is_.words * is_.width);
        overwrites(of_words, sum);
        overwrites(of_tokens, sum);
        has_gradient(embedding, sum);
        for (auto const& [of, gradient] : gradients_) update(of, gradient);
    }

    sublet::snapshot program() const
    {
        return sublet::sequence(steps_.size(), values_.size(), [this](step_id s, sublet::effect_sink& sink) {
            operation const& op = steps_[s];
            for (value_id v : op.reads) sink.use(v);
            for (value_id v : op.makes)
                if (values_[v].of != no_value) sink.view(v);
                else sink.def(v);
            if (op.writes != no_value) sink.write(op.writes);
            for (auto const& [in, out] : op.overwrites) sink.may_overwrite(in, out);
            sink.may_recompute(op.writes == no_value);
            sink.only_views();
        });
    }

    sublet::plan_options options() const
    {
        std::vector<byte_count> bytes, offset;
        std::vector<value_role> role;
        std::vector<value_id> alias_of;
        for (tensor const& t : values_) {
            bytes.push_back(t.bytes);
            role.push_back(t.role);
            alias_of.push_back(t.of);
            offset.push_back(t.offset);
        }
        return {.bytes = bytes, .role = role, .alias_of = alias_of, .view_offset = offset};
    }

    std::vector<byte_count> flops() const
    {
        std::vector<byte_count> result;
        for (operation const& op : steps_) result.push_back(op.flops);
        return result;
    }

private:
    struct tensor {
        byte_count bytes = 0;
        value_role role = value_role::intermediate;
        value_id of = no_value;
        byte_count offset = 0;
    };
    struct operation {
        std::vector<value_id> reads, makes;
        value_id writes = no_value;
        std::vector<std::pair<value_id, value_id>> overwrites;
        byte_count flops = 0;
    };
    struct norm {
        value_id x, gain, bias, y, mean, deviation;
    };
    struct layer {
        norm before_attention, before_linear;
        value_id q, k, v, probabilities, mixed, narrow, active;
        value_id to_qkv, to_mixed, to_wide, to_narrow; // weights
    };

    byte_count rows() const { return is_.batch * is_.tokens; }
    byte_count wide(byte_count times) const { return 4 * times * rows() * is_.width; }
    byte_count square() const { return is_.batch * is_.heads * is_.tokens * is_.tokens; }
    byte_count attention_flops() const { return 2 * rows() * is_.tokens * is_.width; }

    value_id add(byte_count bytes, value_role role)
    {
        values_.push_back({bytes, role});
        return static_cast<value_id>(values_.size() - 1);
    }
    value_id weight(byte_count floats) { return add(4 * floats, value_role::state); }
    value_id also_makes(byte_count bytes)
    {
        value_id const v = add(bytes, value_role::intermediate);
        steps_.back().makes.push_back(v);
        return v;
    }
    value_id step(std::vector<value_id> reads, byte_count bytes, byte_count flops)
    {
        steps_.push_back({});
        steps_.back().reads = std::move(reads);
        steps_.back().flops = flops;
        return also_makes(bytes);
    }
    void overwrites(value_id in, value_id out) { steps_.back().overwrites.push_back({in, out}); }

    value_id linear(value_id x, value_id w, byte_count from, byte_count to)
    {
        return step({x, w}, 4 * rows() * to, 2 * rows() * from * to);
    }
    /// The gradient of the operand of a linear layer, and that of its weight.
    value_id back(value_id dy, value_id w, byte_count from, byte_count to)
    {
        return step({dy, w}, 4 * rows() * from, 2 * rows() * from * to);
    }
    value_id gradient(value_id x, value_id dy, byte_count from, byte_count to)
    {
        return step({x, dy}, 4 * from * to, 2 * rows() * from * to);
    }

    value_id sum(value_id a, value_id b)
    {
        value_id const y = step({a, b}, wide(1), rows() * is_.width);
        overwrites(a, y);
        overwrites(b, y);
        return y;
    }

    norm forward(value_id x)
    {
        norm n{x, weight(is_.width), weight(is_.width), no_value, no_value, no_value};
        n.y = step({x, n.gain, n.bias}, wide(1), 8 * rows() * is_.width);
        n.mean = also_makes(4 * rows());
        n.deviation = also_makes(4 * rows());
        return n;
    }
    value_id backward(norm const& n, value_id dy)
    {
        value_id const dx = step({dy, n.x, n.gain, n.mean, n.deviation}, wide(1), 12 * rows() * is_.width);
        value_id const of_gain = also_makes(4 * is_.width), of_bias = also_makes(4 * is_.width);
        has_gradient(n.gain, of_gain);
        has_gradient(n.bias, of_bias);
        return dx;
    }

    value_id forward(layer& l, value_id x)
    {
        l.before_attention = forward(x);
        l.to_qkv = weight(3 * is_.width * is_.width);
        value_id const qkv = linear(l.before_attention.y, l.to_qkv, is_.width, 3 * is_.width);
        steps_.push_back({});
        for (value_id* part : {&l.q, &l.k, &l.v}) {
            *part = also_makes(wide(1));
            values_[*part].of = qkv;
        }
        values_[l.k].offset = wide(1);
        values_[l.v].offset = wide(2);
        value_id const scores = step({l.q, l.k}, 4 * square(), attention_flops());
        l.probabilities = step({scores}, 4 * square(), 5 * square());
        overwrites(scores, l.probabilities);
        l.mixed = step({l.probabilities, l.v}, wide(1), attention_flops());
        l.to_mixed = weight(is_.width * is_.width);
        x = sum(x, linear(l.mixed, l.to_mixed, is_.width, is_.width));
        l.before_linear = forward(x);
        l.to_wide = weight(4 * is_.width * is_.width);
        l.narrow = linear(l.before_linear.y, l.to_wide, is_.width, 4 * is_.width);
        l.active = step({l.narrow}, wide(4), 4 * 8 * rows() * is_.width);
        l.to_narrow = weight(4 * is_.width * is_.width);
        return sum(x, linear(l.active, l.to_narrow, 4 * is_.width, is_.width));
    }

    value_id backward(layer const& l, value_id dy)
    {
        value_id const of_active = back(dy, l.to_narrow, 4 * is_.width, is_.width);
        has_gradient(l.to_narrow, gradient(l.active, dy, 4 * is_.width, is_.width));
        value_id const of_narrow = step({of_active, l.narrow}, wide(4), 4 * 12 * rows() * is_.width);
        overwrites(of_active, of_narrow);
        value_id dx = back(of_narrow, l.to_wide, is_.width, 4 * is_.width);
        has_gradient(l.to_wide, gradient(l.before_linear.y, of_narrow, is_.width, 4 * is_.width));
        dy = sum(dy, backward(l.before_linear, dx));
        value_id const of_mixed = back(dy, l.to_mixed, is_.width, is_.width);
        has_gradient(l.to_mixed, gradient(l.mixed, dy, is_.width, is_.width));
        value_id const of_probabilities = step({of_mixed, l.v}, 4 * square(), attention_flops());
        value_id const of_v = step({l.probabilities, of_mixed}, wide(1), attention_flops());
        value_id const of_scores = step({of_probabilities, l.probabilities}, 4 * square(), 4 * square());
        overwrites(of_probabilities, of_scores);
        value_id const of_q = step({of_scores, l.k}, wide(1), attention_flops());
        value_id const of_k = step({of_scores, l.q}, wide(1), attention_flops());
        value_id const of_qkv = step({of_q, of_k, of_v}, wide(3), 0);
        dx = back(of_qkv, l.to_qkv, is_.width, 3 * is_.width);
        has_gradient(l.to_qkv, gradient(l.before_attention.y, of_qkv, is_.width, 3 * is_.width));
        return sum(dy, backward(l.before_attention, dx));
    }

    void has_gradient(value_id of, value_id gradient)
    {
        if (is_.updates_at_once) update(of, gradient);
        else gradients_.push_back({of, gradient});
    }
    void update(value_id of, value_id gradient)
    {
        steps_.push_back({});
        steps_.back().reads = {gradient};
        steps_.back().writes = of;
        steps_.back().flops = values_[of].bytes / 2;
    }

    trained_decoder_sizes is_;
    std::vector<tensor> values_;
    std::vector<operation> steps_;
    std::vector<std::pair<value_id, value_id>> gradients_;
};

} // namespace bench

#endif
