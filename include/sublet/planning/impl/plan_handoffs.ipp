// SPDX-License-Identifier: BSL-1.0

/// plan_with_handoffs(): a plan for every schedule; where a pool is far higher than in one schedule, the
/// placement of that schedule, or one between the two, and the waits that make it valid.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/sorting.hpp>

#include <sublet/core/placement_problem.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/planning/detail/place_in_schedule.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/planning/detail/schedule.hpp>
#include <sublet/planning/detail/stages.hpp>

#include <ctime>
#include <utility>
#include <vector>

namespace sublet::detail {

/// The buffers of a plan, to be placed again.
SUBLET_DECL placement_problem problem_of(memory_plan const& plan, plan_options const& options)
{
    placement_problem problem{{}, options.pools};
    for (memory_plan::placed_buffer const& b : plan.buffers)
        problem.buffers.push_back({b.life, b.size, b.alignment, b.pool, no_offset});
    auto const pinned = options.pinned.tabulate(plan.buffer_of.size(), "pinned");
    for (value_id v = 0; v != plan.buffer_of.size(); ++v)
        if (plan.buffer_of[v] != no_buffer && pinned[v] != no_offset)
            problem.buffers[plan.buffer_of[v]].pinned = pinned[v];
    return problem;
}

/// The placement of a plan.
SUBLET_DECL placement placement_of(memory_plan const& plan, plan_report const& report)
{
    placement now;
    for (memory_plan::placed_buffer const& b : plan.buffers) now.offset.push_back(b.offset);
    for (pool_report const& pool : report.pools) now.pools.push_back({.height = pool.arena_bytes});
    return now;
}

/// For each pool, the height from which waits are not worth more gain: that in the schedule and `thousandths`
/// of it.
SUBLET_DECL table<pool_id, byte_count> wait_limits_of(placement const& in_schedule, std::size_t pools,
                                                      table<pool_id, pool_limits> const& given,
                                                      unsigned thousandths)
{
    table<pool_id, byte_count> limits;
    for (pool_id pool = 0; pool != pools; ++pool) {
        byte_count const height = in_schedule.pools[pool].height;
        byte_count const gain = height / 1000 * thousandths + height % 1000 * thousandths / 1000;
        byte_count const capacity = pool < given.size() ? given[pool].capacity : no_limit;
        limits.push_back(smaller(capacity, sum_fits(height, gain) ? height + gain : no_limit));
    }
    return limits;
}

/// Pools are independent: those of the plan that are within their limits stay as they are. A schedule does
/// not order the positions of a step with early reads, so a bound in it may be above a height.
SUBLET_DECL void keep_low_pools(memory_plan const& plan, placement const& now,
                                table<pool_id, byte_count> const& limits, placement& placed)
{
    auto is_low = [&](pool_id pool) { return now.pools[pool].height <= limits[pool]; };
    for (buffer_id b = 0; b != plan.buffers.size(); ++b)
        if (is_low(plan.buffers[b].pool)) placed.offset[b] = now.offset[b];
    for (pool_id pool = 0; pool != now.pools.size(); ++pool)
        if (is_low(pool)) {
            placed.pools[pool].height = now.pools[pool].height;
            placed.pools[pool].blocks.clear();
        }
    for (memory_plan::block const& b : plan.blocks)
        if (is_low(b.pool)) placed.pools[b.pool].blocks.push_back(b);
}

/// Adds the hand-offs that make the plan valid, for which `graph` gets them, too.
SUBLET_DECL void add_handoffs(snapshot const& p, plan_in_schedule const& schedule,
                              handoff_options const& wanted, dependence_options& graph,
                              planned_with_handoffs& result)
{
    memory_plan& plan = result.plan;
    table<buffer_id, memory_plan::placed_buffer> occupants = plan.buffers;
    for (buffer_id b = 0; b != occupants.size(); ++b) occupants[b].life = schedule.in_schedule[b];
    handoff_set const found = find_handoffs(schedule.timed.graph, schedule.lives, occupants);
    result.handoff_bytes.assign(plan.handoffs.size(), 0);
    for (handoff h : found.handoffs) plan.handoffs.push_back(h);
    for (byte_count b : found.bytes) result.handoff_bytes.push_back(b);
    graph.handoffs = plan.handoffs;
    result.critical_path_with = parallel_schedule(dependences(p, graph), wanted.duration).critical_path;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL planned_with_handoffs plan_with_handoffs(snapshot const& p, plan_options const& given,
                                                     handoff_options const& how)
{
    SUBLET_EXPECTS(how.minimum_gain <= 1000, "sublet: minimum_gain is %, but at most 1000 thousandths",
                   how.minimum_gain);
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    detail::asked_options const asked_durations(how, p.steps(), &handoff_options::duration);
    handoff_options const& wanted = *asked_durations;
    std::clock_t const begun = std::clock();
    planned_with_handoffs result;
    memory_plan& plan = result.plan;
    plan_options unchecked = options;
    unchecked.check = false;
    static_cast<planned_memory&>(result) = plan_concurrent(p, unchecked, {.handoffs = wanted.handoffs});
    bool const is_placed = result || result.error().what == fault::over_capacity;
    if (!is_placed && result.error().what != fault::clash) return result; // hand-offs may resolve two pins
    result.bytes_without = result.figures.arena_bytes;

    placement const now = detail::placement_of(plan, result.figures);
    placement_problem problem = detail::problem_of(plan, options);
    dependence_options graph = detail::dependences_of(options, plan.handoffs);
    auto const role = options.role.tabulate(p.values(), "role");
    detail::plan_in_schedule schedule =
        detail::place_in_schedule(p, dependences(p, graph), problem, plan.buffer_of, role, wanted.duration,
                                  wanted.workers, options.effort);
    if (options.in_place && !p.overwrites().empty())
        detail::lower_bounds_to(detail::bounds_in_schedule(p, options, plan, problem, schedule),
                                schedule.placed);
    result.makespan = schedule.timed.schedule.makespan;
    result.critical_path = result.critical_path_with = schedule.timed.schedule.critical_path;

    table<pool_id, byte_count> const limits =
        detail::wait_limits_of(schedule.placed, now.pools.size(), options.pools, wanted.minimum_gain);
    bool waits = false, is_split = false;
    for (pool_id pool = 0; pool != now.pools.size(); ++pool) {
        waits = waits || now.pools[pool].height > limits[pool];
        is_split = is_split || (pool < options.pools.size() &&
                                schedule.placed.pools[pool].height > options.pools[pool].largest_block);
    }
    if (schedule.placed.status <= placement::outcome::feasible && (waits || !is_placed)) {
        placement placed = schedule.placed;
        bool const is_known =
            !wanted.few_waits || !is_placed || is_split ||
            detail::lower_with_handoffs(schedule, problem, now, limits, options.effort, placed);
        if (is_placed) detail::keep_low_pools(plan, now, limits, placed);
        for (placement::pool_result& pool : placed.pools)
            pool.lower_bound = detail::smaller(pool.lower_bound, pool.height);
        plan.arena_bytes.clear();
        plan.blocks.clear();
        std::vector<value_id> external = std::move(result.figures.external);
        result.figures = detail::begun_report(p, program_reading::concurrent);
        result.figures.external = std::move(external);
        result.figures.is_scheduled = true;
        result.figures.is_cut_short = !is_known;
        detail::enter_offsets(placed, result);
        detail::add_handoffs(p, schedule, wanted, graph, result);
    }
    detail::finish_plan(result, begun, options.check,
                        [&] { return check_concurrent_plan(p, plan, options); });
    return result;
}

} // namespace sublet
