// SPDX-License-Identifier: BSL-1.0

/// In a schedule each buffer lives in one range, so pack() places it. Between that and every schedule,
/// buffers that may wait have the conflicts of the schedule and the others those of the dependences: more of
/// them may wait until the limit holds, and a binary search then finds how few of the largest suffice.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>
#include <sublet/planning/detail/concurrent_bounds.hpp>
#include <sublet/planning/detail/place_in_schedule.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL plan_in_schedule place_in_schedule(snapshot const& p, dependence_graph const& g,
                                               placement_problem& problem,
                                               table<value_id, buffer_id> const& buffer_of,
                                               table<value_id, value_role> const& role,
                                               per_value<std::uint64_t, step_id> const& duration,
                                               std::size_t workers, effort work)
{
    plan_in_schedule best;
    for (schedule_side side : {schedule_side::earliest, schedule_side::latest}) {
        plan_in_schedule next;
        next.timed = in_schedule_order(g, parallel_schedule(g, duration, {workers, side}));
        if (side == schedule_side::latest && next.timed.schedule.makespan > best.timed.schedule.makespan)
            break;
        next.lives = concurrent_lifetimes(p, next.timed.graph, problem.buffers.size(), buffer_of, role);
        next.in_schedule = schedule_live_ranges(next.lives, next.timed.schedule);
        for (buffer_id b = 0; b != problem.buffers.size(); ++b) problem.buffers[b].life = next.in_schedule[b];
        pack_options budgets = pack_budgets(work);
        budgets.visits = offset_visits(work);
        next.placed = pack(problem, budgets);
        next.bytes = next.placed.status <= placement::outcome::feasible ? 0 : no_limit - 1;
        for (placement::pool_result const& pool : next.placed.pools)
            if (sum_fits(next.bytes, pool.height)) next.bytes += pool.height;
            else next.bytes = no_limit - 1;
        if (side == schedule_side::earliest || next.bytes < best.bytes) best = std::move(next);
    }
    return best;
}

SUBLET_DECL table<pool_id, byte_count> bounds_in_schedule(snapshot const& p, plan_options const& options,
                                                          memory_plan const& plan,
                                                          placement_problem const& problem,
                                                          plan_in_schedule const& schedule)
{
    table<value_id, value_id> const alias_of = options.alias_of.tabulate(p.values(), "alias_of");
    table<value_id, value_role> const role = options.role.tabulate(p.values(), "role");
    buffer_classes const classes = classes_of(alias_of);
    table<buffer_id, live_range> const apart = schedule_live_ranges(
        concurrent_lifetimes(p, schedule.timed.graph, classes.root.size(), classes.buffer_of, role),
        schedule.timed.schedule);
    table<buffer_id, live_range> lives = schedule.in_schedule;
    table<buffer_id, unsigned char> may_begin_over(lives.size(), 0);
    for (overwrite o : p.overwrites()) {
        buffer_id const in = plan.buffer_of[o.in], out = plan.buffer_of[o.out];
        if (in == no_buffer || out == no_buffer || in == out || may_begin_over[out]) continue;
        position_id const begin = apart[classes.buffer_of[o.out]].first;
        if (lives[out].first != begin || apart[classes.buffer_of[o.in]].last > begin + 1) continue;
        if (problem.buffers[out].size > problem.buffers[in].size) continue;
        may_begin_over[out] = 1;
        if (!is_empty(lives[out])) ++lives[out].first;
    }
    table<pool_id, byte_count> bounds;
    for (pool_id pool = 0; pool != schedule.placed.pools.size(); ++pool) {
        byte_count pins = 0;
        for (placement_problem::buffer const& b : problem.buffers)
            if (b.pool == pool && b.pinned != no_offset) pins = larger(pins, checked_add(b.pinned, b.size));
        byte_count const live =
            pressure(
                lives.size(),
                [&](buffer_id b) { return problem.buffers[b].pool == pool ? lives[b] : live_range{}; },
                [&](buffer_id b) { return problem.buffers[b].size; },
                static_cast<std::uint32_t>(schedule.timed.graph.positions() + 1))
                .peak;
        bounds.push_back(larger(live, pins));
    }
    return bounds;
}

/// Visits of one placement with some waits, for each buffer: there are a few dozen such placements.
inline constexpr std::uint64_t trial_visits = 256;

SUBLET_DECL bool lower_with_handoffs(plan_in_schedule const& schedule, placement_problem const& problem,
                                     placement now, table<pool_id, byte_count> const& limits, effort work,
                                     placement& placed)
{
    buffer_range_lists const exact =
        find_conflict_ranges(schedule.timed.graph, schedule.lives, most_conflict_ranges).of;
    std::vector<sort_key> waiting; // {size, , buffer}
    table<buffer_id, unsigned char> may_wait(problem.buffers.size());
    auto fits_limits = [&] {
        std::uint64_t const visits = smaller(offset_visits(work) / 16, trial_visits * problem.buffers.size());
        now = place_concurrently(
            problem, schedule.lives,
            schedule_conflicts(exact, schedule.lives, schedule.in_schedule, may_wait),
            {.bounds = limits, .visits = visits, .most_visits = 2 * visits + 256 * problem.buffers.size()});
        bool low = now.status <= placement::outcome::feasible;
        for (pool_id i = 0; i != limits.size(); ++i) {
            low = low && now.pools[i].height <= limits[i];
            now.pools[i].lower_bound = schedule.placed.pools[i].lower_bound; // instead of the limit
        }
        return low;
    };
    byte_count eighths = 8;
    int rounds = 16;
    do {
        std::size_t const before = waiting.size();
        while (waiting.size() == before) {
            for (buffer_id b = 0; b != may_wait.size(); ++b) {
                placement_problem::buffer const& it = problem.buffers[b];
                byte_count const limit = limits[it.pool], low = limit - limit / 8 * (8 - eighths);
                if (may_wait[b] || now.pools[it.pool].height <= limit || now.offset[b] + it.size <= low)
                    continue;
                may_wait[b] = 1;
                waiting.push_back({descending(it.size), 0, b});
            }
            if (waiting.size() == before && eighths-- == 0) return true;
        }
        if (rounds-- == 0) return true;
        if (fits_limits()) break;
        for (placement::pool_result const& pool : now.pools)
            if (pool.height == no_limit) return false;
    } while (true);
    placed = now;

    sort_by_key(waiting);
    for (std::size_t few = 0, enough = waiting.size(); few + 1 < enough;) { // invariant: `few` do not suffice
        std::size_t const half = few + (enough - few) / 2;
        for (std::size_t i = 0; i != waiting.size(); ++i) may_wait[buffer_id{waiting[i].id}] = i < half;
        if (fits_limits()) {
            placed = now;
            enough = half;
        } else few = half;
    }
    return true;
}

SUBLET_DECL void lower_bounds_to(table<pool_id, byte_count> const& bounds, placement& placed)
{
    for (pool_id pool = 0; pool != bounds.size(); ++pool)
        placed.pools[pool].lower_bound = smaller(placed.pools[pool].lower_bound, bounds[pool]);
}

} // namespace sublet::detail
