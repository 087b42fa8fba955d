// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_NETWORK_MAKER_HPP
#define SUBLET_BENCH_NETWORK_MAKER_HPP

/// Builds a network operation by operation, forward, and then its training steps.
///
///     x ─ convolution ─ norm ─ relu ─ ... ─ loss          w    state: external, read and then written
///     │        │          │      │            │           │
///     │   convolution  norm    threshold     nll      sgd_momentum(w, dw, momentum)
///     └── _backward ◄─ _backward ◄─ ... ◄─ _backward
///
/// Only structure and sizes: which values an operation reads, how large its results are, and which values its
/// backward operation reads. The order is that of a tape: forward, backward from the last operation to the
/// first, a gradient added to the previous one as soon as it is computed, then one update per parameter.

#include "../examples/plan_model/network.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench {

using sublet::byte_count;
using sublet::no_value;
using sublet::value_id;
using sublet::value_role;

/// What a relu keeps for its backward operation. The next operation needs the result anyway, so keeping the
/// operand costs more.
enum class relu_keeps : std::uint8_t { result, operand };

struct training_options {
    byte_count batch = 1;
    bool trains = true; ///< false: forward only, with fixed batch norm statistics
    relu_keeps keeps = relu_keeps::result;
};

/// A value of 4-byte floats, with so many per image (or sentence) of the batch.
struct feature {
    value_id value = no_value;
    byte_count channels = 0, height = 0, width = 0;
};

/// Builds a network operation by operation, and then its training steps.
class network_maker {
public:
    explicit network_maker(training_options const& options) : options_(options)
    {
    }

    feature input(byte_count channels, byte_count height, byte_count width)
    {
        feature x{no_value, channels, height, width};
        x.value = add_external("input", 4 * floats(x), value_role::external);
        return x;
    }

    feature convolution(feature x, byte_count channels, byte_count side, byte_count stride = 1)
    {
        auto strided = [stride](byte_count length) { return (length + stride - 1) / stride; };
        feature const y{no_value, channels, strided(x.height), strided(x.width)};
        value_id const weight = parameter(4 * channels * x.channels * side * side);
        return step("convolution", {x.value, weight}, y,
                    {{"convolution_backward", {x.value, weight}, {x.value, weight}}});
    }

    feature batch_norm(feature x)
    {
        value_id const weight = parameter(4 * x.channels), bias = parameter(4 * x.channels);
        value_id const mean = add_external("running_mean", 4 * x.channels, kept());
        value_id const variance = add_external("running_variance", 4 * x.channels, kept());
        feature const y = step("native_batch_norm", {x.value, weight, bias, mean, variance},
                               {no_value, x.channels, x.height, x.width});
        if (!options_.trains) return y;
        value_id const saved_mean = add_result(4 * x.channels),
                       saved_inverse_std = add_result(4 * x.channels);
        net_.operations.back().mutated = {mean, variance};
        differentiate(y, {{"native_batch_norm_backward",
                           {x.value, weight, mean, variance, saved_mean, saved_inverse_std},
                           {x.value, weight, bias}}});
        return y;
    }

    feature relu(feature x)
    {
        feature const y = in_place(step("relu", {x.value}, x));
        value_id const kept = options_.keeps == relu_keeps::result ? y.value : x.value;
        differentiate(y, {{"threshold_backward", {kept}, {x.value}, true}});
        return y;
    }

    /// Its backward operation does nothing: both gradients are that of the result.
    feature add(feature x, feature y)
    {
        feature const sum = in_place(step("add", {x.value, y.value}, x));
        differentiate(sum, {{"", {}, {x.value, y.value}}});
        return sum;
    }

    feature max_pool(feature x, byte_count stride)
    {
        feature y{no_value, x.channels, (x.height + stride - 1) / stride, (x.width + stride - 1) / stride};
        y = step("max_pool2d_with_indices", {x.value}, y);
        if (!options_.trains) return y;
        value_id const indices = add_result(8 * floats(y));
        differentiate(y, {{"max_pool2d_with_indices_backward", {x.value, indices}, {x.value}}});
        return y;
    }

    feature mean(feature x)
    {
        return step("mean", {x.value}, {no_value, x.channels, 1, 1}, {{"div", {}, {x.value}}});
    }

    feature linear(feature x, byte_count channels)
    {
        value_id const weight = parameter(4 * x.channels * channels), bias = parameter(4 * channels);
        return step("addmm", {bias, x.value, weight}, {no_value, channels, x.height, x.width},
                    {{"mm", {weight}, {x.value}}, {"mm", {x.value}, {weight}}, {"sum", {}, {bias}}});
    }

    feature layer_norm(feature x)
    {
        value_id const weight = parameter(4 * x.channels), bias = parameter(4 * x.channels);
        feature const y = step("native_layer_norm", {x.value, weight, bias}, x);
        if (!options_.trains) return y;
        byte_count const tokens = 4 * options_.batch * x.height * x.width;
        value_id const saved_mean = add_result(tokens), saved_inverse_std = add_result(tokens);
        differentiate(y, {{"native_layer_norm_backward",
                           {x.value, weight, saved_mean, saved_inverse_std},
                           {x.value, weight, bias}}});
        return y;
    }

    /// Any other operation, without parameters; its backward operation reads the operands, the result or
    /// both.
    feature operation(std::string const& type, std::vector<feature> const& operands, feature shape,
                      bool keeps_operands, bool keeps_result)
    {
        std::vector<value_id> uses;
        for (feature const& x : operands) uses.push_back(x.value);
        feature const y = step(type, uses, shape);
        std::vector<value_id> kept;
        if (keeps_operands) kept = uses;
        if (keeps_result) kept.push_back(y.value);
        differentiate(y, {{type + "_backward", kept, uses}});
        return y;
    }

    /// Concatenates the channels. Backward, the operands' gradients are parts of the result's.
    feature concatenation(std::vector<feature> const& parts)
    {
        feature all{no_value, 0, parts.front().height, parts.front().width};
        std::vector<value_id> uses;
        for (feature const& part : parts) {
            all.channels += part.channels;
            uses.push_back(part.value);
        }
        return step("cat", uses, all, {{"slice", {}, uses, false, true}});
    }

    /// Without training, the output is the result of the last operation; with training, it is the loss and
    /// the writes to parameters, momenta and running statistics.
    plan_model::network finish(feature last) &&
    {
        if (!options_.trains) {
            net_.values[last.value].role = value_role::output;
            return std::move(*this).with_inputs_first();
        }
        value_id const target = add_external("target", 8 * options_.batch, value_role::external);
        feature const log_probabilities = step("_log_softmax", {last.value}, last);
        differentiate(log_probabilities,
                      {{"_log_softmax_backward_data", {log_probabilities.value}, {last.value}}});
        value_id const loss = add_operation("nll_loss_forward", {log_probabilities.value, target}, 4);
        net_.values[loss].role = value_role::output;
        value_id const weight = add_result(4);
        differentiate(
            {loss},
            {{"nll_loss_backward", {log_probabilities.value, target, weight}, {log_probabilities.value}}});
        gradient_.resize(net_.values.size(), no_value);
        gradient_[loss] = add_operation("ones_like", {loss}, 4);
        for (std::size_t i = tape_.size(); i-- != 0;) backpropagate(tape_[i]);
        for (value_id w : parameters_) {
            value_id const momentum = add_external("momentum", net_.values[w].bytes, value_role::state);
            add_operation("sgd_momentum", {w, gradient_[w], momentum});
            net_.operations.back().mutated = {w, momentum};
        }
        return std::move(*this).with_inputs_first();
    }

private:
    /// An operation that computes gradients of `targets` from that of a result.
    struct derivative {
        std::string type; // empty: the same gradient
        std::vector<value_id> kept, targets;
        bool is_elementwise = false, is_view = false;
    };
    struct tape_entry {
        value_id result;
        std::vector<derivative> by;
    };

    byte_count floats(feature x) const { return options_.batch * x.channels * x.height * x.width; }

    value_id new_value(std::string name, byte_count bytes, value_role role, sublet::node_id producer)
    {
        auto const v = static_cast<value_id>(net_.values.size());
        name += '_' + std::to_string(v);
        net_.values.push_back({.name = std::move(name), .bytes = bytes, .role = role, .producer = producer});
        return v;
    }
    value_id add_external(std::string const& name, byte_count bytes, value_role role)
    {
        return new_value(name, bytes, role, sublet::no_node);
    }
    value_role kept() const { return options_.trains ? value_role::state : value_role::external; }
    value_id parameter(byte_count bytes)
    {
        parameters_.push_back(add_external("parameter", bytes, kept()));
        return parameters_.back();
    }

    void add_operation(std::string const& type, std::vector<value_id> uses)
    {
        plan_model::operation next;
        next.label = "node " + std::to_string(net_.operations.size()) + " (" + type + ')';
        next.type = type;
        next.inputs = std::move(uses);
        net_.operations.push_back(std::move(next));
    }
    value_id add_operation(std::string const& type, std::vector<value_id> uses, byte_count bytes)
    {
        add_operation(type, std::move(uses));
        return add_result(bytes);
    }
    value_id add_result(byte_count bytes)
    {
        plan_model::operation& last = net_.operations.back();
        auto const producer = static_cast<sublet::node_id>(net_.operations.size() - 1);
        last.outputs.push_back(new_value(last.type, bytes, value_role::intermediate, producer));
        return last.outputs.back();
    }

    feature step(std::string const& type, std::vector<value_id> uses, feature shape,
                 std::vector<derivative> by = {})
    {
        shape.value = add_operation(type, std::move(uses), 4 * floats(shape));
        if (!by.empty()) differentiate(shape, std::move(by));
        return shape;
    }
    feature in_place(feature result)
    {
        net_.operations.back().overwritable = net_.operations.back().inputs;
        return result;
    }
    void differentiate(feature result, std::vector<derivative> by)
    {
        if (options_.trains) tape_.push_back({result.value, std::move(by)});
    }

    /// External values other than parameters have no gradient.
    bool has_gradient(value_id v) const
    {
        return net_.values[v].producer != sublet::no_node || net_.values[v].role == value_role::state;
    }

    void backpropagate(tape_entry const& done)
    {
        value_id const result_gradient = gradient_[done.result];
        for (derivative const& d : done.by) {
            if (d.type.empty()) {
                for (value_id v : d.targets) accumulate(v, result_gradient);
                continue;
            }
            std::vector<value_id> uses = d.kept;
            uses.insert(uses.begin(), result_gradient);
            add_operation(d.type, uses);
            if (d.is_elementwise) net_.operations.back().overwritable = uses;
            std::vector<value_id> made;
            for (value_id v : d.targets) {
                made.push_back(has_gradient(v) ? add_result(net_.values[v].bytes) : no_value);
                if (d.is_view && made.back() != no_value) net_.values[made.back()].alias_of = result_gradient;
            }
            for (std::size_t i = 0; i != made.size(); ++i)
                if (made[i] != no_value) accumulate(d.targets[i], made[i]);
        }
    }
    void accumulate(value_id v, value_id more)
    {
        gradient_.resize(net_.values.size() + 1, no_value);
        if (gradient_[v] == no_value) {
            gradient_[v] = more;
            return;
        }
        value_id const sum = add_operation("add", {gradient_[v], more}, net_.values[v].bytes);
        for (value_id part : {gradient_[v], more})
            if (net_.values[part].alias_of == no_value) net_.operations.back().overwritable.push_back(part);
        gradient_[v] = sum;
    }

    /// The same network, external values first.
    plan_model::network with_inputs_first() &&
    {
        std::vector<value_id> id(net_.values.size());
        std::vector<plan_model::network_value> sorted;
        for (bool is_given : {true, false})
            for (std::size_t v = 0; v != id.size(); ++v) {
                if ((net_.values[v].producer == sublet::no_node) != is_given) continue;
                id[v] = static_cast<value_id>(sorted.size());
                sorted.push_back(std::move(net_.values[v]));
                net_.results += !is_given;
            }
        for (auto& value : sorted)
            if (value.alias_of != no_value) value.alias_of = id[value.alias_of];
        for (auto& operation : net_.operations)
            for (auto* list :
                 {&operation.inputs, &operation.outputs, &operation.mutated, &operation.overwritable})
                for (value_id& v : *list) v = id[v];
        net_.values = std::move(sorted);
        return std::move(net_);
    }

    training_options options_;
    plan_model::network net_;
    std::vector<value_id> parameters_, gradient_; // by value
    std::vector<tape_entry> tape_;
};

} // namespace bench

#endif
