// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_SHAPED_MAKER_HPP
#define SUBLET_BENCH_SHAPED_MAKER_HPP

/// Builds a network with sizes for every shape operation by operation, and then its training step.
///
/// Element-wise operations may overwrite their operands of the same size; reshapes and parts are views.
/// Weights are external. A training step is made from a tape, from the last operation to the first:
///
///     y = gelu(x)  ──► tape: {y, keeps x, to x}  ──► dx = gelu_backward(dy, x), which may overwrite dy
///     q, k, v = parts of qkv (views)             ──► dqkv = cat(dq, dk, dv)
///     x used twice                               ──► dx = add(dx, more), as soon as `more` is there

#include <sublet/core/formula.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace bench {

using sublet::byte_count;
using sublet::formula;
using sublet::no_value;
using sublet::step_id;
using sublet::value_id;
using sublet::value_role;

/// A program with sizes for every shape.
class shaped_network {
public:
    struct tensor {
        formula bytes = {};
        value_role role = value_role::intermediate;
        value_id of = no_value;
        formula offset = {};
    };
    /// Of results, only the first may overwrite anything.
    struct operation {
        std::vector<value_id> reads, results, written;
        std::size_t overwritable = 0; ///< so many of the first it reads
    };

    char const* name = "";
    std::vector<sublet::dimension> dims;
    std::vector<tensor> tensors;
    std::vector<operation> operations;

    sublet::snapshot program() const
    {
        return sublet::sequence(operations.size(), tensors.size(),
                                [this](step_id s, sublet::effect_sink& sink) {
                                    operation const& its = operations[s];
                                    for (value_id v : its.reads) sink.use(v);
                                    for (value_id v : its.written) sink.write(v);
                                    for (value_id v : its.results)
                                        if (tensors[v].of != no_value) sink.view(v);
                                        else sink.def(v);
                                    for (std::size_t i = 0; i != its.overwritable; ++i)
                                        sink.may_overwrite(its.reads[i], its.results.front());
                                });
    }
    /// They refer to this network.
    sublet::symbolic_options options() const
    {
        auto const all = std::span(tensors);
        return {.bytes = [all](value_id v) { return all[v].bytes; },
                .dims = dims,
                .role = [all](value_id v) { return all[v].role; },
                .alias_of = [all](value_id v) { return all[v].of; },
                .view_offset = [all](value_id v) { return all[v].offset; }};
    }
};

/// What an operation needs backward.
enum class keeps : std::uint8_t { nothing, operand, result };

/// Builds a network operation by operation, and then its training step.
class shaped_maker {
public:
    using ids = std::vector<value_id>;

    shaped_maker(char const* name, std::vector<sublet::dimension> dims, bool trains = false) : trains_(trains)
    {
        net_.name = name;
        net_.dims = std::move(dims);
    }

    formula const& bytes(value_id v) const { return net_.tensors[v].bytes; }
    void set_output(value_id v) { net_.tensors[v].role = value_role::output; }

    value_id input(formula const& bytes) { return add({.bytes = bytes, .role = value_role::input}); }
    value_id given(formula const& bytes) { return add({.bytes = bytes, .role = value_role::external}); }
    value_id parameter(formula const& bytes)
    {
        parameters_.push_back(
            add({.bytes = bytes, .role = trains_ ? value_role::state : value_role::external}));
        return parameters_.back();
    }
    value_id make(ids reads, formula const& bytes)
    {
        value_id const made = add({.bytes = bytes});
        net_.operations.push_back({std::move(reads), {made}, {}, 0});
        return made;
    }
    /// May overwrite the first `overwritable` that it reads.
    value_id elementwise(ids reads, std::size_t overwritable = 1)
    {
        value_id const made = make(std::move(reads), formula{});
        net_.operations.back().overwritable = overwritable;
        net_.tensors[made].bytes = bytes(net_.operations.back().reads.front());
        return made;
    }
    value_id view(value_id of, formula const& offset, formula const& bytes)
    {
        value_id const made = add({.bytes = bytes, .of = of, .offset = offset});
        net_.operations.push_back({{}, {made}, {}, 0});
        return made;
    }

    /// Writes a value to storage outside.
    void store(value_id v, value_id to) { net_.operations.push_back({{v}, {}, {to}, 0}); }

    // --- operations with gradients -----------------------------------------------------------------------

    /// Backward, one operation reads the gradients of the results and what is kept, and makes those of
    /// `targets`.
    void differentiate(ids results, ids kept, ids targets, bool is_elementwise = false)
    {
        if (trains_)
            tape_.push_back({std::move(results), std::move(kept), std::move(targets), is_elementwise, false});
    }

    /// `kept` is read again backward, for gradients of `targets`.
    value_id operation(ids reads, formula const& bytes, ids kept, ids targets)
    {
        value_id const made = make(std::move(reads), bytes);
        differentiate({made}, std::move(kept), std::move(targets));
        return made;
    }
    value_id matmul(value_id a, value_id b, formula const& bytes)
    {
        value_id const made = make({a, b}, bytes);
        differentiate({made}, {b}, {a});
        differentiate({made}, {a}, {b});
        return made;
    }
    value_id linear(value_id x, byte_count from, byte_count to, byte_count width = 4, bool has_bias = true)
    {
        value_id const made = matmul(x, parameter(width * from * to), rows_of(x, from, width) * to * width);
        return has_bias ? biased(made, to, width) : made;
    }
    value_id biased(value_id x, byte_count channels, byte_count width = 4)
    {
        value_id const bias = parameter(width * channels);
        value_id const made = elementwise({x, bias});
        differentiate({made}, {}, {bias});
        same_gradient(made, {x});
        return made;
    }
    value_id add(value_id x, value_id y)
    {
        value_id const made = elementwise({x, y}, 2);
        same_gradient(made, {x, y});
        return made;
    }
    /// The second one is smaller, and is added to each part.
    value_id added_to_each(value_id x, value_id y)
    {
        value_id const made = elementwise({x, y});
        differentiate({made}, {}, {y});
        same_gradient(made, {x});
        return made;
    }
    value_id layer_norm(value_id x, byte_count channels)
    {
        value_id const weight = parameter(4 * channels), bias = parameter(4 * channels);
        value_id const made = make({x, weight, bias}, bytes(x));
        if (!trains_) return made;
        value_id const mean = add({.bytes = rows_of(x, channels) * 4}), scale = add({.bytes = bytes(mean)});
        net_.operations.back().results = {made, mean, scale};
        differentiate({made}, {x, weight, mean, scale}, {x, weight, bias});
        return made;
    }
    /// May overwrite the first one; its gradient may, too.
    value_id activation(ids reads, keeps what)
    {
        value_id const x = reads.front(), made = elementwise(std::move(reads));
        differentiate({made}, what == keeps::nothing ? ids{} : ids{what == keeps::result ? made : x}, {x},
                      true);
        return made;
    }
    /// Leaves a byte for each float, in training only.
    value_id dropout(value_id x)
    {
        if (!trains_) return x;
        value_id const made = elementwise({x}), mask = add({.bytes = ceil_divide(bytes(x), 4)});
        net_.operations.back().results.push_back(mask);
        differentiate({made}, {mask}, {x}, true);
        return made;
    }
    /// So many views of equal parts.
    ids parts(value_id x, byte_count count)
    {
        ids made;
        formula const size = ceil_divide(bytes(x), count);
        for (byte_count i = 0; i != count; ++i) made.push_back(view(x, size * i, size));
        differentiate(made, {}, {x});
        return made;
    }
    value_id reshape(value_id x)
    {
        value_id const made = view(x, 0, bytes(x));
        same_gradient(made, {x});
        return made;
    }
    /// The same numbers in another order.
    value_id copy(value_id x)
    {
        value_id const made = make({x}, bytes(x));
        differentiate({made}, {}, {x});
        return made;
    }

    // --- ends --------------------------------------------------------------------------------------------

    shaped_network finish(value_id last) &&
    {
        set_output(last);
        return std::move(net_);
    }
    /// Backward from a loss, then one update for each parameter, with two moments.
    shaped_network train(value_id loss) &&
    {
        set_output(loss);
        set_gradient(loss, make({}, bytes(loss)));
        for (std::size_t i = tape_.size(); i-- != 0;) backpropagate(tape_[i]);
        for (value_id w : parameters_) {
            value_id const first = add({.bytes = bytes(w), .role = value_role::state});
            value_id const second = add({.bytes = bytes(w), .role = value_role::state});
            net_.operations.push_back({{gradient_[w]}, {}, {w, first, second}, 0});
        }
        return std::move(net_);
    }

private:
    struct tape_entry {
        std::vector<value_id> results, kept, targets;
        bool is_elementwise = false, is_same = false;
    };

    value_id add(shaped_network::tensor const& t)
    {
        net_.tensors.push_back(t);
        return static_cast<value_id>(net_.tensors.size() - 1);
    }
    formula rows_of(value_id x, byte_count channels, byte_count width = 4) const
    {
        return ceil_divide(bytes(x), width * channels);
    }
    void same_gradient(value_id result, ids targets)
    {
        if (trains_) tape_.push_back({{result}, {}, std::move(targets), false, true});
    }

    bool has_gradient(value_id v) const
    {
        return net_.tensors[v].role == value_role::intermediate || net_.tensors[v].role == value_role::state;
    }
    void set_gradient(value_id v, value_id to)
    {
        gradient_.resize(net_.tensors.size(), no_value);
        gradient_[v] = to;
    }
    void backpropagate(tape_entry const& done)
    {
        ids reads;
        gradient_.resize(net_.tensors.size(), no_value);
        for (value_id v : done.results) reads.push_back(gradient_[v]);
        if (done.is_same) {
            for (value_id v : done.targets) accumulate(v, reads.front());
            return;
        }
        reads.insert(reads.end(), done.kept.begin(), done.kept.end());
        ids made, targets;
        for (value_id v : done.targets)
            if (has_gradient(v)) {
                targets.push_back(v);
                made.push_back(add({.bytes = bytes(v)}));
            }
        if (made.empty()) return;
        net_.operations.push_back({std::move(reads), made, {}, done.is_elementwise ? 1u : 0u});
        for (std::size_t i = 0; i != made.size(); ++i) accumulate(targets[i], made[i]);
    }
    void accumulate(value_id v, value_id more)
    {
        gradient_.resize(net_.tensors.size(), no_value);
        if (gradient_[v] != no_value) more = elementwise({gradient_[v], more}, 2);
        set_gradient(v, more);
    }

    bool trains_;
    shaped_network net_;
    ids parameters_, gradient_; // by value
    std::vector<tape_entry> tape_;
};

} // namespace bench

#endif
