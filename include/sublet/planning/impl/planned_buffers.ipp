// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/choose_pools.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/sharing/in_place.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

// --- planned buffers -------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_COLD_DECL std::optional<counterexample> oversized_view(buffer_table const& table)
{
    if (table.oversized_view == no_value) return std::nullopt;
    buffer const& its = table.buffers[table.buffer_of[table.oversized_view]];
    return counterexample{fault::oversized_view, counterexample::view{.value = table.oversized_view,
                                                                      .other = its.root,
                                                                      .end = table.oversized_bytes,
                                                                      .needed = its.size}};
}

SUBLET_COLD_DECL std::vector<value_id> external_roots(buffer_table const& table)
{
    std::vector<value_id> roots;
    for (buffer const& b : table.buffers)
        if ((!b.eligible || has_role(b.role, value_role::external)) && !is_empty(b.life))
            roots.push_back(b.root);
    return roots;
}

SUBLET_COLD_DECL std::vector<value_id> external_roots(snapshot const& p, buffer_table const& table)
{
    std::vector<value_id> roots;
    bool is_any = false;
    for (buffer const& b : table.buffers)
        is_any = is_any || !b.eligible || has_role(b.role, value_role::external);
    if (!is_any) return roots;
    sublet::table<buffer_id, unsigned char> is_used(table.buffers.size(), 0);
    for (touch t : p.touches({0, step_id::of(p.steps())})) is_used[table.buffer_of[t.value]] = 1;
    for (edge_use u : p.edge_uses()) is_used[table.buffer_of[u.value]] = 1;
    for (buffer_id i = 0; i != table.buffers.size(); ++i) {
        buffer const& b = table.buffers[i];
        if (is_used[i] && (!b.eligible || has_role(b.role, value_role::external))) roots.push_back(b.root);
    }
    return roots;
}

SUBLET_COLD_DECL snapshot with_view_uses(snapshot const& p, plan_options const& options)
{
    table<value_id, value_id> const alias_of = options.alias_of.tabulate(p.values(), "alias_of");
    table<value_id, value_role> const role = options.role.tabulate(p.values(), "role");
    buffer_classes const classes = classes_of(alias_of);
    table<value_id, unsigned char> exists;
    for (value_role flags : role) exists.push_back(is_given(flags));
    for (touch t : p.touches({0, step_id::of(p.steps())}))
        if (t.defines()) exists[t.value] = 1;
    return with_effects(p, p.values(),
        [&](node_id n, effect_sink& sink) {
            step_range const steps = p.steps_of(n);
            std::vector<value_id> made; // by the step
            for (step_id s = steps.first; s != steps.last; ++s) {
                if (s != steps.first) sink.next_step();
                made.clear();
                for (touch t : p.touches(s)) {
                    sink.add(t.kind, t.value);
                    if (t.defines()) made.push_back(t.value);
                }
                sort_ascending(made);
                for (touch t : p.touches(s)) {
                    value_id const root = classes.root[classes.buffer_of[t.value]];
                    bool const needs_root = t.views_what_is_there() ||
                                            (t.kind == touch::access::write_view && exists[root]);
                    if (needs_root && !std::binary_search(made.begin(), made.end(), root)) sink.use(root);
                }
                for (overwrite o : p.overwrites(s)) sink.may_overwrite(o.in, o.out);
                copy_step_facts(p, s, sink);
            }
            for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
        });
}

SUBLET_COLD_DECL std::optional<counterexample> list_planned(buffer_table const& table, memory_plan& plan,
                                                            placement_problem& problem)
{
    std::optional<counterexample> refuted = oversized_view(table);
    sublet::table<buffer_id, buffer_id> planned(table.buffers.size(), no_buffer); // in the problem
    std::size_t count = 0;
    for (buffer const& b : table.buffers) count += b.is_planned();
    problem.buffers.reserve(problem.buffers.size() + count);
    plan.buffers.reserve(plan.buffers.size() + count);
    for (buffer_id i = 0; i != table.buffers.size(); ++i) {
        buffer const& b = table.buffers[i];
        if (b.is_unsized()) plan.unsized.push_back(b.root);
        if (b.conflicting_pin != no_offset && !refuted && (b.is_planned() || b.is_empty_storage()))
            refuted = counterexample{fault::off_pin, counterexample::place{.value = b.root,
                                                                           .pool = b.pool,
                                                                           .begin = b.pinned,
                                                                           .needed = b.conflicting_pin}};
        if (!b.is_planned()) continue;
        planned[i] = buffer_id::of(plan.buffers.size());
        problem.buffers.push_back({b.life, b.size, b.alignment, b.pool, b.pinned});
        plan.buffers.push_back({b.root, b.life, b.size, b.alignment, b.pool, no_offset});
    }
    for (buffer_id i = 0; i != table.buffers.size(); ++i)
        if (buffer_id const over = table.buffers[i].over; over != no_buffer) {
            plan.buffers[planned[i]].over = planned[over];
            problem.colocated.push_back({planned[i], planned[over], 0});
        }
    plan.buffer_of.resize(table.buffer_of.size());
    for (value_id v = 0; v != plan.buffer_of.size(); ++v) plan.buffer_of[v] = planned[table.buffer_of[v]];
    bool has_empty = false;
    for (buffer const& b : table.buffers) has_empty = has_empty || b.is_empty_storage();
    for (value_id v = 0; v != plan.buffer_of.size() && has_empty; ++v)
        if (buffer const& b = table.buffers[table.buffer_of[v]]; b.is_empty_storage())
            plan.empty.push_back(
                {v, b.pool, b.pinned == no_offset ? byte_count{0} : b.pinned});
    plan.offset_in_root = table.offset_in_root;
    return refuted;
}

SUBLET_COLD_DECL void set_chosen_pools(buffer_table& table, plan_options const& options,
                                       sublet::table<pool_id, pool_limits> const& room)
{
    if (options.pool_choices.empty()) return;
    memory_plan plan;
    placement_problem problem{{}, room};
    list_planned(table, plan, problem);
    for (plan_options::pool_choice const& c : options.pool_choices) {
        SUBLET_EXPECTS(c.value < table.buffer_of.size(),
                       "sublet: a choice names value %, but there are only % values", c.value,
                       table.buffer_of.size());
        buffer_id const b = plan.buffer_of[c.value];
        if (b != no_buffer && plan.buffers[b].root == c.value) problem.choices.push_back({b, c.pool, c.cost});
    }
    deterministic_control control;
    sublet::table<buffer_id, pool_id> const chosen = choose_pools(problem, {}, control).pool_of;
    buffer_id next = 0;
    for (buffer& b : table.buffers)
        if (b.is_planned()) b.pool = chosen[next++];
}

SUBLET_COLD_DECL std::optional<counterexample>
why_not_placed(placement const& placed, placement_problem const& problem, memory_plan const& plan)
{
    std::optional<counterexample> why = why_not_placed(problem, placed);
    if (!why) return why;
    counterexample::buffers const its = *why->as<counterexample::buffers>();
    auto value_of = [&plan](buffer_id b) { return b == no_buffer ? no_value : plan.buffers[b].root; };
    if (why->what == fault::clash) {
        why->of = counterexample::overlap{.value = value_of(its.buffer),
                                          .other = value_of(its.other),
                                          .position = its.position,
                                          .pool = its.pool,
                                          .begin = its.begin,
                                          .end = its.end};
    } else {
        why->of = counterexample::place{.value = value_of(its.buffer),
                                        .pool = its.pool,
                                        .begin = its.begin,
                                        .end = its.end,
                                        .needed = its.needed};
    }
    return why;
}

SUBLET_COLD_DECL void set_offsets(placement const& placed, memory_plan& plan)
{
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) plan.buffers[b].offset = placed.offset[b];
    for (placement::pool_result const& pool : placed.pools) {
        plan.arena_bytes.push_back(pool.height);
        plan.blocks.insert(plan.blocks.end(), pool.blocks.begin(), pool.blocks.end());
    }
    for (memory_plan::empty_value const& e : plan.empty) { // its pool has an arena, perhaps of no bytes
        SUBLET_EXPECTS(e.pool < 65536,
                       "sublet: value % names pool %, which is out of range (pools are numbered from 0)",
                       e.value, e.pool);
        if (e.pool >= plan.arena_bytes.size()) plan.arena_bytes.resize(e.pool + 1, 0);
    }
}

// --- in place gains --------------------------------------------------------------------------------------

SUBLET_COLD_DECL std::vector<memory_plan::in_place_gain>
in_place_gains(buffer_table const& table, sublet::table<position_id, step_id> const& steps)
{
    std::vector<memory_plan::in_place_gain> gains;
    if (table.in_place.empty()) return gains;
    sublet::table<step_id, position_id> position_of(steps.size());
    for (position_id at = 0; at != steps.size(); ++at) position_of[steps[at]] = at;

    std::vector<sort_key> by_pool; // {pool, position, pair}
    by_pool.reserve(table.in_place.size());
    gains.reserve(table.in_place.size());
    for (std::uint32_t i = 0; i != table.in_place.size(); ++i) {
        memory_plan::in_place_pair const& pair = table.in_place[i];
        buffer const& in = table.buffers[table.buffer_of[pair.in]];
        by_pool.push_back({in.pool, position_of[pair.step], i});
        gains.push_back({pair});
    }
    sort_by_key(by_pool);
    auto const positions = static_cast<std::uint32_t>(steps.size());
    memory_pressure levels;
    for (std::size_t i = 0; i != by_pool.size();) {
        auto const pool = pool_id::of(by_pool[i].key);
        if (i == 0 || by_pool[i - 1].key != pool)
            levels = pressure(
                table.buffers.size(),
                [&](buffer_id b) {
                    buffer const& its = table.buffers[b];
                    return its.is_planned() && its.pool == pool ? its.life : live_range{};
                },
                [&](buffer_id b) { return table.buffers[b].size; }, positions);
        byte_count const here = levels.live_bytes[to_size(by_pool[i].tie)];
        auto above = [&](byte_count more) {
            byte_count const height = checked_add(here, more);
            return height > levels.peak ? height - levels.peak : 0;
        };
        std::size_t const first = i;
        byte_count all = 0;
        for (; i != by_pool.size() && by_pool[i].key == pool && by_pool[i].tie == by_pool[first].tie; ++i) {
            memory_plan::in_place_gain& gain = gains[by_pool[i].id];
            gain.peak_bytes = above(gain.bytes);
            all = checked_add(all, gain.bytes);
        }
        for (std::size_t of_step = first; of_step != i; ++of_step)
            gains[by_pool[of_step].id].step_peak_bytes = above(all);
    }
    return gains;
}

// --- in-place selection ----------------------------------------------------------------------------------

enum class pair_choice : std::uint8_t { all, at_peak, none };

class in_place_selector {
public:
    in_place_selector(buffer_table const& table, sublet::table<position_id, step_id> const& steps,
                      sublet::table<pool_id, pool_limits> const& pools, effort work)
        : table_(table), steps_(steps), pools_(pools), work_(work)
    {
    }

    SUBLET_COLD in_place_selection place(std::vector<memory_plan::in_place_pair> const& pairs)
    {
        in_place_selection best = packed(pairs);
        if (pairs.empty()) return best;
        matched_ = best.gains;
        find_bounds(best);
        choice_.assign(bounds_.size(), pair_choice::all);
        for (pair_choice next : {pair_choice::at_peak, pair_choice::none}) try_with(next, best);
        for (pool_id pool = 0; pool != bounds_.size(); ++pool) {
            best.placed.pools[pool].lower_bound = bounds_[pool].bytes;
            best.placed.pools[pool].peak_position = bounds_[pool].peak_position;
        }
        return best;
    }

private:
    pool_id pool_of(memory_plan::in_place_pair const& pair) const
    {
        return table_.buffers[table_.buffer_of[pair.in]].pool;
    }

    SUBLET_COLD in_place_selection packed(std::vector<memory_plan::in_place_pair> pairs) const
    {
        in_place_selection result;
        result.problem.pools = pools_;
        buffer_table const joined = join_in_place(table_, std::move(pairs));
        result.gains = in_place_gains(joined, steps_);
        result.valid = list_planned(joined, result.plan, result.problem);
        result.placed = pack(result.problem, pack_budgets(work_));
        return result;
    }

    /// Lower bounds, for pools with pairs, of every plan with any choice of pairs: the bytes live are fewest
    /// with all matched pairs. A bound proved by search is only of placements with all pairs.
    SUBLET_COLD void find_bounds(in_place_selection const& first)
    {
        bounds_.resize(first.placed.pools.size());
        for (memory_plan::in_place_gain const& gain : matched_) {
            pool_bound& its = bounds_[pool_of(gain)];
            its.has_pairs = true;
            its.without = larger(its.without, gain.step_peak_bytes);
        }
        for (pool_id pool = 0; pool != bounds_.size(); ++pool) {
            placement::pool_result const& found = first.placed.pools[pool];
            pool_bound& its = bounds_[pool];
            its.bytes = found.lower_bound;
            its.peak_position = found.peak_position;
            if (!its.has_pairs) continue;
            auto life = [&](buffer_id b) {
                placement_problem::buffer const& buffer = first.problem.buffers[b];
                return buffer.pool == pool ? buffer.life : live_range{};
            };
            byte_count unit = 1;
            auto size = [&](buffer_id b) { return align_up(first.problem.buffers[b].size, unit); };
            std::size_t const buffers = first.problem.buffers.size();
            auto const positions = static_cast<std::uint32_t>(steps_.size());
            byte_count const peak = sublet::detail::pressure(buffers, life, size, positions).peak;
            its.without = checked_add(its.without, peak);
            if (found.height <= peak) continue;
            if (found.proof.kind == placement::proof::reason::exhausted) {
                its.bytes = peak;
                for (placement_problem::buffer const& b : first.problem.buffers)
                    if (b.pool == pool && b.pinned != no_offset)
                        its.bytes = larger(its.bytes, b.pinned + b.size);
            }
            // If all offsets are multiples of one unit, all buffers but the highest occupy whole units.
            unit = common_alignment(pool);
            if (unit <= 1 || larger(unit, found.height) > no_limit / 4) continue; // sums stay within 64 bits
            memory_pressure const aligned = sublet::detail::pressure(buffers, life, size, positions);
            byte_count padding = 0;
            for (buffer const& b : table_.buffers)
                if (b.is_planned() && b.pool == pool && contains(b.life, aligned.peak_position))
                    padding = larger(padding, align_up(b.size, unit) - b.size);
            its.bytes = larger(its.bytes, aligned.peak - padding);
        }
    }

    /// The alignment of all buffers of a pool; 1 if they differ.
    byte_count common_alignment(pool_id pool) const
    {
        byte_count common = 0;
        for (buffer const& b : table_.buffers) {
            if (!b.is_planned() || b.pool != pool) continue;
            byte_count const its =
                pool < pools_.size() ? combine_alignment(b.alignment, pools_[pool].alignment) : b.alignment;
            if (common != 0 && its != common) return 1;
            common = its;
        }
        return common;
    }

    SUBLET_COLD bool is_worth_trying(pair_choice next, pool_id pool, byte_count height) const
    {
        pool_bound const& its = bounds_[pool];
        if (!its.has_pairs || height <= its.bytes) return false;
        if (next == pair_choice::none) return its.without < height;
        if (height - its.bytes <= its.bytes / 128) return false; // too little to gain by another pack()
        bool lowers = false, does_not = false;
        for (memory_plan::in_place_gain const& gain : matched_)
            if (pool_of(gain) == pool) (gain.step_peak_bytes != 0 ? lowers : does_not) = true;
        return lowers && does_not;
    }

    std::vector<memory_plan::in_place_pair> pairs_of(table<pool_id, pair_choice> const& taken) const
    {
        std::vector<memory_plan::in_place_pair> pairs;
        for (memory_plan::in_place_gain const& gain : matched_) {
            pair_choice const which = taken[pool_of(gain)];
            if (which == pair_choice::all || (which == pair_choice::at_peak && gain.step_peak_bytes != 0))
                pairs.push_back(gain);
        }
        return pairs;
    }

    /// Pools are independent, and packing the same problem again gives the same result.
    SUBLET_COLD void try_with(pair_choice next, in_place_selection& best)
    {
        table<pool_id, pair_choice> wanted = choice_;
        bool is_tried = false, is_best = true, is_better = false;
        for (pool_id pool = 0; pool != bounds_.size(); ++pool)
            if (is_worth_trying(next, pool, best.placed.pools[pool].height)) {
                wanted[pool] = next;
                is_tried = true;
            }
        if (!is_tried) return;
        in_place_selection found = packed(pairs_of(wanted));
        for (pool_id pool = 0; pool != bounds_.size(); ++pool) {
            if (wanted[pool] == choice_[pool]) continue;
            bool const is_lower = found.placed.pools[pool].height < best.placed.pools[pool].height;
            if (is_lower) choice_[pool] = next;
            (is_lower ? is_better : is_best) = is_lower;
        }
        if (is_better) best = is_best ? std::move(found) : packed(pairs_of(choice_));
    }

    struct pool_bound {
        bool has_pairs = false;
        byte_count bytes = 0;
        byte_count without = 0; // peak of the bytes live without any pair
        position_id peak_position = 0;
    };

    buffer_table const& table_;
    table<position_id, step_id> const& steps_;
    table<pool_id, pool_limits> const& pools_;
    effort const work_;
    std::vector<memory_plan::in_place_gain> matched_;
    table<pool_id, pool_bound> bounds_;
    table<pool_id, pair_choice> choice_;
};

SUBLET_COLD_DECL in_place_selection select_in_place(buffer_table const& table,
                                                    std::vector<memory_plan::in_place_pair> const& pairs,
                                                    sublet::table<position_id, step_id> const& steps,
                                                    sublet::table<pool_id, pool_limits> const& pools,
                                                    effort work)
{
    return in_place_selector(table, steps, pools, work).place(pairs);
}

} // namespace sublet::detail
