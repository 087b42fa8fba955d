// SPDX-License-Identifier: BSL-1.0

/// check_plan() for the least and the largest sizes; a sweep over positions compares neighbours in the order
/// of the stacking with its pairs; formulas are compared value by value.

#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/checking/detail/stacked_classes.hpp>
#include <sublet/checking/detail/step_order.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/formula_bounds.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>

namespace sublet::detail {

class symbolic_checker {
public:
    symbolic_checker(snapshot const& program, symbolic_plan const& plan, symbolic_options const& options)
        : program_(program), plan_(plan), options_(options),
          bytes_(options.bytes.tabulate(program.values(), "bytes")), layer_of_(plan.buffers.size(), no_layer)
    {
        for (dimension const& its : options.dims) {
            least_.push_back(its.least);
            most_.push_back(its.largest());
        }
    }

    std::optional<counterexample> first_fault()
    {
        if (is_foreign() || !is_stacking())
            return counterexample{.what = fault::foreign_plan, .at_shape = least_};
        for (shape const& s : {least_, most_})
            if (verdict valid = check_at(s); !valid) {
                valid.error().at_shape = s;
                return valid.error();
            }
        plan_requirements const required = derive_requirements(program_, options_.at(most_));
        if (auto fact = moved_pin(required)) return fact;
        if (auto fact = open_size(required)) return fact;
        if (auto fact = misaligned(required)) return fact;
        if (auto fact = open_view(required)) return fact;
        if (plan_.valid_for == program_reading::concurrent) {
            if (auto fact = open_schedule(required)) return fact;
            return too_high();
        }
        if (auto fact = open_pair(required)) return fact;
        if (auto fact = moved_write(required)) return fact;
        if (auto fact = missing_pair(required)) return fact;
        return too_high();
    }

private:
    [[nodiscard]] verdict check_at(shape const& s) const
    {
        if (plan_.valid_for == program_reading::concurrent)
            return check_concurrent_plan(program_, plan_.at(s), options_.at(s));
        return check_plan(program_, plan_.at(s), options_.at(s));
    }

    static constexpr std::uint32_t no_layer = ~std::uint32_t{0};

    bool is_foreign() const
    {
        if (plan_.valid_for != options_.valid_for || plan_.handoffs != options_.handoffs) return true;
        if (plan_.valid_for == program_reading::concurrent && !plan_.order.empty()) return true;
        if (plan_.dims.size() != options_.dims.size() || plan_.buffer_of.size() != program_.values())
            return true;
        for (std::size_t d = 0; d != plan_.dims.size(); ++d)
            if (plan_.dims[d].least != options_.dims[d].least ||
                plan_.dims[d].most != options_.dims[d].most ||
                plan_.dims[d].stride != options_.dims[d].stride)
                return true;
        for (buffer_id b : plan_.buffer_of)
            if (b != no_buffer && b >= plan_.buffers.size()) return true;
        if (!plan_.offset_in_root.empty() && plan_.offset_in_root.size() != program_.values()) return true;
        for (symbolic_plan::buffer const& b : plan_.buffers)
            if (b.size >= plan_.sizes.size() || b.alignment == 0 || b.pool >= plan_.stack.pools) return true;
        for (formula const& size : plan_.sizes)
            if (!size.is_known() || (size.is_by_shape() && !plan_.bytes_at)) return true;
        return plan_.most_bytes.size() != plan_.stack.pools || plan_.stack.pools < options_.pools.size();
    }

    /// Each buffer is once in the order, as the plan describes it, after what lies below it.
    bool is_stacking()
    {
        std::vector<stacking::layer> const& order = plan_.stack.order;
        if (order.size() != plan_.buffers.size()) return false;
        for (std::size_t i = 0; i != order.size(); ++i) {
            stacking::layer const& its = order[i];
            std::size_t const end =
                i + 1 == order.size() ? plan_.stack.below.size() : order[i + 1].first_below;
            if (its.buffer >= plan_.buffers.size() || layer_of_[its.buffer] != no_layer) return false;
            symbolic_plan::buffer const& b = plan_.buffers[its.buffer];
            if (its.pool != b.pool || its.alignment != b.alignment || its.pinned != b.pinned) return false;
            if (its.over != no_buffer || its.first_below > end || end > plan_.stack.below.size())
                return false;
            if (i == 0 && its.first_below != 0) return false;
            for (std::size_t k = its.first_below; k != end; ++k) {
                buffer_id const under = plan_.stack.below[k];
                if (under >= plan_.buffers.size() || layer_of_[under] == no_layer) return false;
            }
            layer_of_[its.buffer] = static_cast<std::uint32_t>(i);
        }
        return true;
    }

    formula const& size_of(value_id v) const { return plan_.sizes[plan_.buffers[plan_.buffer_of[v]].size]; }
    bool are_equal(formula const& a, formula const& b) const
    {
        return a == b || (a.is_known() && b.is_known() && !a.is_by_shape() && !b.is_by_shape() &&
                          never_above(a, b, options_.dims) && never_above(b, a, options_.dims));
    }

    /// Each buffer has exactly the size of its values' storage; several in one have formulas.
    std::optional<counterexample> open_size(plan_requirements const& required) const
    {
        for (symbolic_plan::buffer const& b : plan_.buffers)
            if (formula const& size = plan_.sizes[b.size];
                !size.is_by_shape() && !never_above(formula{}, size, options_.dims))
                return counterexample{.what = fault::outside_arena,
                                      .of = counterexample::place{.value = b.root, .pool = b.pool},
                                      .at_shape = shape{}};
        table<buffer_id, value_id> first(plan_.buffers.size(), no_value); // a root in it
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v) {
            if (plan_.buffer_of[v] == no_buffer) continue;
            value_id const r = required.root[v];
            value_id& its = first[plan_.buffer_of[v]];
            bool const is_joined = its != no_value && its != r;
            if (its == no_value) its = r;
            formula const &needed = bytes_[r], &has = size_of(v);
            bool const by_shape = needed.is_by_shape() || has.is_by_shape();
            if (by_shape ? needed.is_by_shape() && has.is_by_shape() && !is_joined : are_equal(needed, has))
                continue;
            return counterexample{
                .what = fault::outside_arena,
                .of = counterexample::place{.value = v, .pool = plan_.buffers[plan_.buffer_of[v]].pool},
                .at_shape = shape{}};
        }
        return std::nullopt;
    }

    /// A buffer is pinned where its values are.
    std::optional<counterexample> moved_pin(plan_requirements const& required) const
    {
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v) {
            if (plan_.buffer_of[v] == no_buffer || required.root[v] != v) continue;
            symbolic_plan::buffer const& b = plan_.buffers[plan_.buffer_of[v]];
            if (required.pinned[v] != no_offset && required.pinned[v] != b.pinned)
                return counterexample{.what = fault::off_pin,
                                      .of = counterexample::place{.value = v,
                                                                  .pool = b.pool,
                                                                  .begin = b.pinned,
                                                                  .needed = required.pinned[v]},
                                      .at_shape = shape{}};
        }
        return std::nullopt;
    }

    /// An offset is a multiple of each alignment for every shape if that divides the alignment of its buffer.
    std::optional<counterexample> misaligned(plan_requirements const& required) const
    {
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v) {
            if (plan_.buffer_of[v] == no_buffer) continue;
            symbolic_plan::buffer const& b = plan_.buffers[plan_.buffer_of[v]];
            byte_count const of_pool = b.pool < options_.pools.size() ? options_.pools[b.pool].alignment : 1;
            for (byte_count needed : {required.alignment[v], of_pool})
                if ((b.pinned != no_offset ? b.pinned : b.alignment) % needed != 0)
                    return counterexample{
                        .what = fault::misaligned,
                        .of = counterexample::place{.value = v, .pool = b.pool, .needed = needed},
                        .at_shape = shape{}};
        }
        return std::nullopt;
    }

    /// The offset of each value in its root, derived again: from the root on, each chain of views once.
    table<value_id, formula> offsets_of_views(table<value_id, value_id> const& alias_of,
                                              table<value_id, formula> const& offset) const
    {
        table<value_id, formula> sum(alias_of.size());
        table<value_id, unsigned char> is_known(alias_of.size(), 0);
        std::vector<value_id> chain;
        for (value_id v = 0; v != alias_of.size(); ++v) {
            for (value_id at = v; at != no_value && is_known[at] == 0; at = alias_of[at]) chain.push_back(at);
            for (; !chain.empty(); chain.pop_back()) {
                value_id const at = chain.back(), of = alias_of[at];
                is_known[at] = 1;
                if (of != no_value) sum[at] = offset[at] == formula{} ? sum[of] : sum[of] + offset[at];
            }
        }
        return sum;
    }

    std::optional<counterexample> open_view(plan_requirements const& required) const
    {
        auto const alias_of = options_.alias_of.tabulate(program_.values(), "alias_of");
        auto const offset = options_.view_offset.tabulate(program_.values(), "view_offset");
        table<value_id, formula> const begins = offsets_of_views(alias_of, offset);
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v) {
            value_id const r = required.root[v];
            if (v == r || !bytes_[r].is_known()) continue;
            formula const& begin = begins[v];
            counterexample::view const view{.value = v, .other = r};
            bool const is_said =
                plan_.offset_in_root.empty() ? begin == formula{} : plan_.offset_in_root[v] == begin;
            if (plan_.buffer_of[v] != no_buffer && !is_said)
                return counterexample{.what = fault::misplaced_view, .of = view, .at_shape = shape{}};
            if (required.alignment[v] != required.alignment[r] &&
                !is_multiple_of(begin, required.alignment[v], options_.dims))
                return counterexample{.what = fault::unlike_root,
                                      .of = counterexample::view{.value = v,
                                                                 .other = r,
                                                                 .end = required.alignment[v],
                                                                 .fact = "alignment"},
                                      .at_shape = shape{}};
            if (!never_above(formula{}, begin, options_.dims))
                return counterexample{.what = fault::misplaced_view, .of = view, .at_shape = shape{}};
            if (bytes_[r].is_by_shape() || bytes_[v].is_by_shape()) continue;
            formula const end = bytes_[v].is_known() ? begin + bytes_[v] : begin;
            if (end != bytes_[r] && !never_above(end, bytes_[r], options_.dims))
                return counterexample{.what = fault::oversized_view, .of = view, .at_shape = shape{}};
        }
        return std::nullopt;
    }

    /// Classes in one buffer are alive one after the other; one that begins where another one ends is in an
    /// in-place pair with it, of values that begin at the same byte for every shape.
    std::optional<counterexample> open_pair(plan_requirements const& required) const
    {
        std::vector<sort_key> proved; // {root of the operand, root of the result}
        for (overwrite o : program_.overwrites()) {
            value_id const in = required.root[o.in], out = required.root[o.out];
            if (plan_.buffer_of[o.in] == no_buffer || plan_.buffer_of[o.in] != plan_.buffer_of[o.out])
                continue;
            position_id const at = required.position[o.step];
            if (in == out || required.life[in].last != at + 1 || required.life[out].first != at) continue;
            if (plan_.offset_in_root.empty() ||
                are_equal(plan_.offset_in_root[o.in], plan_.offset_in_root[o.out]))
                proved.push_back({in, out, 0});
        }
        sort_by_key(proved);
        std::vector<sort_key> classes; // {buffer, begin, root}
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v)
            if (plan_.buffer_of[v] != no_buffer && required.root[v] == v)
                classes.push_back({plan_.buffer_of[v], required.life[v].first, v});
        sort_by_key(classes);
        value_id latest = no_value;    // of the buffer: the one that ends last
        position_id end = 0, next = 0; // its end, and the latest end of the others
        for (std::size_t i = 0; i != classes.size(); ++i) {
            value_id const its{classes[i].id};
            live_range const life = required.life[its];
            bool const is_first = i == 0 || classes[i - 1].key != classes[i].key;
            if (is_first) latest = no_value, end = next = 0;
            bool const is_alone = is_first || end <= life.first;
            // An input that only the first step reads begins where its result begins.
            bool const begins_too = !is_first && classes[i - 1].tie == classes[i].tie;
            bool const is_pair = !is_alone && (is_listed(proved, sort_key{latest, its, 0}) ||
                                               (begins_too && is_listed(proved, sort_key{its, latest, 0})));
            if (!is_alone && (next > life.first || !is_pair))
                return counterexample{
                    .what = fault::clash,
                    .of = counterexample::overlap{.value = smaller(latest, its),
                                                  .other = larger(latest, its),
                                                  .position = life.first,
                                                  .pool = plan_.buffers[plan_.buffer_of[its]].pool},
                    .at_shape = shape{}};
            if (life.last >= end) next = end, end = life.last, latest = its;
            else next = larger(next, life.last);
        }
        return std::nullopt;
    }

    /// With all bytes of its storage for a view of which the place or the size is open.
    std::optional<counterexample> moved_write(plan_requirements required) const
    {
        if (options_.order.empty()) return std::nullopt;
        for (value_id v = 0; v != bytes_.size(); ++v) {
            bool const is_placed = plan_.offset_in_root.empty() || plan_.offset_in_root[v].is_constant();
            if (is_placed && bytes_[v].is_constant()) continue;
            required.bytes[v] = no_size;
            if (!is_placed) required.offset_in_root.set(v, 0);
        }
        auto fact = first_moved_write(program_, required);
        if (fact) fact->at_shape = shape{};
        return fact;
    }

    /// The order of the steps: the one that all shapes have, in which a view with an open place or size shares
    /// bytes with none; or one that has every wait of some shape, in which it is all of its storage.
    step_order order_of_shapes(plan_requirements& required, bool has_all_waits) const
    {
        for (value_id v = 0; v != bytes_.size(); ++v) {
            value_id const r = required.root[v];
            formula const place = plan_.offset_in_root.empty() ? formula{} : plan_.offset_in_root[v];
            bool const is_open = !place.is_constant() || !bytes_[v].is_constant();
            bool const is_all = v == r || (place == formula{} && bytes_[v] == bytes_[r]);
            bool const has_none = bytes_[v] == formula{};
            if (is_all || (has_all_waits && (is_open || has_none))) { // more than any other view
                required.bytes[v] = bytes_[r].is_known() ? no_size - 1 : no_size;
                required.offset_in_root.set(v, 0);
            } else if (is_open) {
                required.bytes[v] = 0;
                if (!place.is_constant()) required.offset_in_root.set(v, 0);
            }
        }
        return order_of_steps(program_, required, plan_.handoffs);
    }

    /// For every schedule: in the order that all shapes have, classes are touched one after the other, or lie
    /// above each other.
    std::optional<counterexample> open_schedule(plan_requirements required) const
    {
        plan_requirements strict = required;
        step_order const of_all_waits = order_of_shapes(strict, true);
        step_order const order = order_of_shapes(required, false);
        for (step_order const* its : {&of_all_waits, &order}) {
            if (!its->fault) continue;
            counterexample fact = *its->fault;
            fact.schedule = its->cycle;
            fact.at_shape = shape{};
            return fact;
        }
        memory_plan joined; // of each buffer
        joined.buffer_of = plan_.buffer_of;
        for (symbolic_plan::buffer const& b : plan_.buffers)
            joined.buffers.push_back({b.root, b.life, 1, 1, b.pool, 0});
        std::vector<sort_key> proved; // {roots of operand and result, step}
        for (overwrite o : program_.overwrites())
            if (options_.in_place && (plan_.offset_in_root.empty() ||
                                      are_equal(plan_.offset_in_root[o.in], plan_.offset_in_root[o.out])))
                proved.push_back(
                    {std::uint64_t{required.root[o.in]} << 32 | required.root[o.out], o.step, 0});
        sort_by_key(proved);
        stacked_classes const classes(program_, required, order, joined);
        clashing_classes found = classes.joined([&](step_id s, value_id u, value_id v) {
            return is_listed(proved, sort_key{std::uint64_t{u} << 32 | v, s, 0});
        });
        if (!found) found = classes.apart(plan_.stack);
        if (!found) return std::nullopt;
        return clash(found->first, found->second, no_position);
    }

    /// Where a buffer begins, it is in pairs with the next ones below and above it.
    std::optional<counterexample> missing_pair(plan_requirements const& required) const
    {
        std::vector<stacking::layer> const& order = plan_.stack.order;
        std::vector<sort_key> pairs, begins, ends; // {upper, lower}, {position, pool and layer}
        for (std::size_t i = 0; i != order.size(); ++i) {
            for (buffer_id under : plan_.stack.below_of(i)) pairs.push_back({i, layer_of_[under], 0});
        }
        sort_by_key(pairs);
        table<buffer_id, live_range> life(plan_.buffers.size());
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v)
            if (buffer_id const b = plan_.buffer_of[v]; b != no_buffer)
                life[b] = hull(life[b], required.life[required.root[v]]);
        std::vector<sort_key> by_rank; // {pool, layer, buffer}: buffers of a pool are neighbours
        for (buffer_id b = 0; b != plan_.buffers.size(); ++b)
            by_rank.push_back({plan_.buffers[b].pool, layer_of_[b], b});
        sort_by_key(by_rank);
        for (std::uint32_t rank = 0; rank != by_rank.size(); ++rank) {
            live_range const its = life[by_rank[rank].id];
            if (is_empty(its)) continue;
            begins.push_back({its.first, 0, rank});
            ends.push_back({its.last, 0, rank});
        }
        sort_by_key(begins);
        sort_by_key(ends);
        rank_set active(by_rank.size());
        auto next_end = ends.begin();
        for (std::size_t i = 0, end = 0; i != begins.size(); i = end) {
            for (; next_end->key <= begins[i].key; ++next_end) active.erase(next_end->id);
            for (end = i; end != begins.size() && begins[end].key == begins[i].key; ++end)
                active.insert(begins[end].id);
            for (std::size_t k = i; k != end; ++k) {
                std::uint32_t const its = begins[k].id;
                for (std::uint32_t const other : {active.below(its), active.above(its)}) {
                    if (other == active.none || by_rank[other].key != by_rank[its].key) continue;
                    sort_key const &low = by_rank[smaller(other, its)], &high = by_rank[larger(other, its)];
                    if (is_listed(pairs, sort_key{high.tie, low.tie, 0})) continue;
                    return clash(plan_.buffers[buffer_id{low.id}].root,
                                 plan_.buffers[buffer_id{high.id}].root, position_id::of(begins[k].key));
                }
            }
        }
        return std::nullopt;
    }

    /// Two values without a pair; or what is wrong for a shape in the middle, since nothing is at the ends.
    counterexample clash(value_id a, value_id b, position_id when) const
    {
        shape middle = least_;
        for (std::size_t d = 0; d != middle.size(); ++d) {
            byte_count const stride = options_.dims[d].stride;
            middle[d] += (most_[d] - least_[d]) / stride / 2 * stride;
        }
        if (verdict valid = check_at(middle); !valid) {
            valid.error().at_shape = middle;
            return valid.error();
        }
        return counterexample{.what = fault::clash,
                              .of = counterexample::overlap{.value = smaller(a, b),
                                                            .other = larger(a, b),
                                                            .position = when,
                                                            .pool = plan_.buffers[plan_.buffer_of[a]].pool},
                              .at_shape = shape{}};
    }

    /// Longest paths of the largest sizes, which are above those of every shape.
    std::optional<counterexample> too_high() const
    {
        std::vector<stacking::layer> const& order = plan_.stack.order;
        table<buffer_id, byte_count> end(plan_.buffers.size(), 0);
        table<pool_id, byte_count> highest(plan_.stack.pools, 0);
        std::vector<byte_count> bounds;
        for (formula const& size : plan_.sizes) {
            if (size.is_by_shape()) return std::nullopt; // nothing is proved
            bounds.push_back(upper_bound_of(size, options_.dims));
        }
        for (std::size_t i = 0; i != order.size(); ++i) {
            symbolic_plan::buffer const& b = plan_.buffers[order[i].buffer];
            byte_count begin = 0;
            byte_count const size = bounds[b.size];
            bool const has_limit = b.pinned != no_offset || (b.pool < options_.pools.size() &&
                                                             options_.pools[b.pool].capacity != no_limit);
            if (size == no_size && has_limit)
                return counterexample{.what = fault::outside_arena,
                                      .of = counterexample::place{.value = b.root, .pool = b.pool},
                                      .at_shape = shape{}};
            if (size == no_size) return std::nullopt; // no bytes of a pool are stated
            for (buffer_id under : plan_.stack.below_of(i)) begin = larger(begin, end[under]);
            begin = align_up(begin, b.alignment);
            SUBLET_EXPECTS(begin != no_offset, "sublet: the sizes of a shape exceed 64 bits together");
            if (b.pinned != no_offset && begin > b.pinned && size != 0)
                return counterexample{.what = fault::off_pin,
                                      .of = counterexample::place{.value = b.root,
                                                                  .pool = b.pool,
                                                                  .begin = begin,
                                                                  .needed = b.pinned},
                                      .at_shape = shape{}};
            if (b.pinned != no_offset) begin = larger(begin, b.pinned);
            end[order[i].buffer] = checked_add(begin, size);
            if (size != 0) highest[b.pool] = larger(highest[b.pool], end[order[i].buffer]);
        }
        for (pool_id p = 0; p != plan_.stack.pools; ++p) {
            if (highest[p] > plan_.most_bytes[p])
                return counterexample{
                    .what = fault::outside_arena,
                    .of = counterexample::place{.pool = p, .end = highest[p], .needed = plan_.most_bytes[p]},
                    .at_shape = shape{}};
            if (p < options_.pools.size() && highest[p] > options_.pools[p].capacity)
                return counterexample{.what = fault::over_capacity,
                                      .of = counterexample::place{.pool = p,
                                                                  .end = highest[p],
                                                                  .needed = options_.pools[p].capacity},
                                      .at_shape = shape{}};
        }
        return std::nullopt;
    }

    snapshot const& program_;
    symbolic_plan const& plan_;
    symbolic_options const& options_;
    table<value_id, formula> const bytes_;
    shape least_, most_;
    table<buffer_id, std::uint32_t> layer_of_; // in the order of the stacking
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_plan(snapshot const& p, symbolic_plan const& plan, symbolic_options const& options)
{
    for (pool_id pool = 0; pool != options.pools.size(); ++pool)
        SUBLET_EXPECTS(options.pools[pool].guard == 0,
                       "sublet: pool % has a guard, and a plan for every shape keeps none", pool);
    for (pool_id pool = 0; pool != options.pools.size(); ++pool)
        SUBLET_EXPECTS(options.pools[pool].page == 1,
                       "sublet: pool % has pages, and a plan for every shape keeps none", pool);
    auto const asked = detail::with_said_views(p, detail::tabulated_options(options, p.values()));
    std::optional<counterexample> fact = detail::symbolic_checker(p, plan, *asked).first_fault();
    if (fact && options.dims.empty()) fact->at_shape.reset(); // there is one shape
    return fact;
}

} // namespace sublet
