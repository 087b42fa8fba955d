// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/range_lists.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/planning/detail/schedule.hpp>

#include <ctime>
#include <optional>
#include <utility>

namespace sublet::detail {

struct plan_in_schedule {
    scheduled_graph timed;
    concurrent_live_ranges lives;
    table<buffer_id, live_range> in_schedule;
    placement placed;
    byte_count bytes = no_limit;
};

/// The lowest placement among the schedules of one makespan.
SUBLET_DECL plan_in_schedule place_in_schedule(snapshot const& p, dependence_graph const& g,
                                               placement_problem& problem,
                                               table<value_id, buffer_id> const& buffer_of,
                                               table<value_id, value_role> const& role,
                                               handoff_options const& wanted, effort work)
{
    plan_in_schedule best;
    for (schedule_side side : {schedule_side::earliest, schedule_side::latest}) {
        plan_in_schedule next;
        next.timed = in_schedule_order(g, parallel_schedule(g, wanted.duration, {wanted.workers, side}));
        if (side == schedule_side::latest && next.timed.schedule.makespan > best.timed.schedule.makespan)
            break;
        next.lives = concurrent_lifetimes(p, next.timed.graph, problem.buffers.size(), buffer_of, role);
        next.in_schedule = schedule_live_ranges(next.lives, next.timed.schedule);
        for (buffer_id b = 0; b != problem.buffers.size(); ++b)
            problem.buffers[b].life = next.in_schedule[b];
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

/// For each pool, the most bytes at one position of the schedule that no plan in it goes below, whichever pairs it takes:
/// a result needs no bytes of its own while its step runs, if nothing touches the operand afterwards.
SUBLET_DECL table<pool_id, byte_count> bounds_in_schedule(snapshot const& p, plan_options const& options,
                                                       memory_plan const& plan, placement_problem const& problem,
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
                lives.size(), [&](buffer_id b) { return problem.buffers[b].pool == pool ? lives[b] : live_range{}; },
                [&](buffer_id b) { return problem.buffers[b].size; },
                static_cast<std::uint32_t>(schedule.timed.graph.positions() + 1))
                .peak;
        bounds.push_back(larger(live, pins));
    }
    return bounds;
}

/// Visits of one placement with some waits, for each buffer: there are a few dozen such placements.
inline constexpr std::uint64_t trial_visits = 256;

/// Lowers the placement `now`, valid for every schedule, to the limits, and stores the result in `placed` if
/// that is possible. First the buffers above the limit may wait and be waited for; if that does not suffice,
/// also those below, an eighth of the arena at a time. At the end a binary search finds how many of the
/// largest suffice. Returns false if the visits were spent before.
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
    std::clock_t const begin = std::clock();
    planned_with_handoffs result;
    memory_plan& plan = result.plan;
    plan_options unchecked = options;
    unchecked.check = false;
    static_cast<planned_memory&>(result) = plan_concurrent(p, unchecked, {.handoffs = wanted.handoffs});
    bool const is_placed = result || result.error().what == fault::over_capacity;
    if (!is_placed && result.error().what != fault::clash) return result; // hand-offs may resolve two pins
    result.bytes_without = result.figures.arena_bytes;

    auto const role = options.role.tabulate(p.values(), "role");
    auto const pinned = options.pinned.tabulate(p.values(), "pinned");
    dependence_options graph = detail::dependences_of(options, plan.handoffs);
    dependence_graph const g = dependences(p, graph);
    placement_problem problem{{}, options.pools};
    placement now;
    for (memory_plan::placed_buffer const& b : plan.buffers) {
        problem.buffers.push_back({b.life, b.size, b.alignment, b.pool, no_offset});
        now.offset.push_back(b.offset);
    }
    for (pool_report const& pool : result.figures.pools) now.pools.push_back({.height = pool.arena_bytes});
    for (value_id v = 0; v != p.values(); ++v)
        if (plan.buffer_of[v] != no_buffer && pinned[v] != no_offset)
            problem.buffers[plan.buffer_of[v]].pinned = pinned[v];
    detail::plan_in_schedule schedule =
        detail::place_in_schedule(p, g, problem, plan.buffer_of, role, wanted, options.effort);
    if (options.in_place && !p.overwrites().empty()) {
        table<pool_id, byte_count> const bounds = detail::bounds_in_schedule(p, options, plan, problem, schedule);
        for (pool_id pool = 0; pool != bounds.size(); ++pool) {
            byte_count& bound = schedule.placed.pools[pool].lower_bound;
            bound = detail::smaller(bound, bounds[pool]);
        }
    }
    result.makespan = schedule.timed.schedule.makespan;
    result.critical_path = result.critical_path_with = schedule.timed.schedule.critical_path;

    table<pool_id, byte_count> limits; // height from which waits are not worth more gain
    bool waits = false, is_split = false;
    for (pool_id pool = 0; pool != now.pools.size(); ++pool) {
        byte_count const height = schedule.placed.pools[pool].height;
        byte_count const minimum_gain =
            height / 1000 * wanted.minimum_gain + height % 1000 * wanted.minimum_gain / 1000;
        byte_count const capacity = pool < options.pools.size() ? options.pools[pool].capacity : no_limit;
        limits.push_back(detail::smaller(
            capacity, detail::sum_fits(height, minimum_gain) ? height + minimum_gain : no_limit));
        waits = waits || now.pools[pool].height > limits[pool];
        is_split = is_split || (pool < options.pools.size() && height > options.pools[pool].largest_block);
    }
    if (schedule.placed.status <= placement::outcome::feasible && (waits || !is_placed)) {
        placement placed = schedule.placed;
        bool const is_known =
            !wanted.few_waits || !is_placed || is_split ||
            detail::lower_with_handoffs(schedule, problem, now, limits, options.effort, placed);
        for (buffer_id b = 0; b != plan.buffers.size() && is_placed; ++b) // pools are independent
            if (pool_id const pool = plan.buffers[b].pool; now.pools[pool].height <= limits[pool]) {
                placed.offset[b] = now.offset[b];
                placed.pools[pool].height = now.pools[pool].height;
            }
        for (placement::pool_result& pool :
             placed.pools) // a schedule does not order the positions of a step with early reads
            pool.lower_bound = detail::smaller(pool.lower_bound, pool.height);
        for (pool_id pool = 0; pool != now.pools.size() && is_placed; ++pool)
            if (now.pools[pool].height <= limits[pool]) placed.pools[pool].blocks.clear();
        for (memory_plan::block const& b : plan.blocks)
            if (is_placed && now.pools[b.pool].height <= limits[b.pool])
                placed.pools[b.pool].blocks.push_back(b);
        plan.arena_bytes.clear();
        plan.blocks.clear();
        detail::set_offsets(placed, plan);
        std::vector<value_id> external = std::move(result.figures.external);
        result.figures = plan_report{};
        result.figures.external = std::move(external);
        result.figures.reading = program_reading::concurrent;
        result.figures.is_scheduled = true;
        result.figures.is_cut_short = !is_known;
        result.figures.steps = p.steps();
        result.figures.values = p.values();
        detail::fill_report(result.figures, placed, plan);

        table<buffer_id, memory_plan::placed_buffer> occupants = plan.buffers;
        for (buffer_id b = 0; b != occupants.size(); ++b) occupants[b].life = schedule.in_schedule[b];
        detail::handoff_set const found =
            detail::find_handoffs(schedule.timed.graph, schedule.lives, occupants);
        result.handoff_bytes.assign(plan.handoffs.size(), 0);
        for (handoff h : found.handoffs) plan.handoffs.push_back(h);
        for (byte_count b : found.bytes) result.handoff_bytes.push_back(b);
        graph.handoffs = plan.handoffs;
        result.critical_path_with =
            detail::parallel_schedule(dependences(p, graph), wanted.duration).critical_path;
    }
    if (options.check && result) {
        result.figures.refute(check_concurrent_plan(p, plan, options));
        result.figures.is_checked = true;
    }
    result.figures.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return result;
}

} // namespace sublet
