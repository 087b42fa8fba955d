// SPDX-License-Identifier: BSL-1.0

/// plan_with_handoffs(): a plan for every schedule; where a pool is far higher than in one schedule, the
/// placement of that schedule, or one between the two, and the waits that make it valid.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/analysis/internal/left_out.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_schedule.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/sorting.hpp>

#include <sublet/core/placement_problem.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/keep_concurrently.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/planning/detail/carried_places.hpp>
#include <sublet/planning/detail/concurrent_bounds.hpp>
#include <sublet/planning/detail/place_in_schedule.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/planning/detail/previous_places.hpp>
#include <sublet/planning/detail/schedule.hpp>
#include <sublet/planning/detail/schedule_orders.hpp>
#include <sublet/planning/detail/stages.hpp>
#include <sublet/planning/detail/step_groups.hpp>
#include <sublet/schedules.hpp>

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

/// For each pool, the height within which waits are to be few: its capacity, or that in the schedule and the
/// minimum gain. Of bytes for all pools together, those that need least to do without waits get theirs first.
SUBLET_DECL table<pool_id, byte_count> wait_limits_of(placement const& in_schedule, placement const& without,
                                                      placement_problem const& problem,
                                                      handoff_options const& wanted)
{
    bool const has_most = wanted.most_bytes != no_limit;
    table<pool_id, byte_count> limits;
    std::vector<sort_key> by_need; // {bytes, , pool}
    byte_count spare = wanted.most_bytes;
    for (pool_id pool = 0; pool != without.pools.size(); ++pool) {
        byte_count const capacity = limits_of(problem, pool).capacity;
        byte_count const height = smaller(in_schedule.pools[pool].height, capacity);
        byte_count const gain =
            height / 1000 * wanted.minimum_gain + height % 1000 * wanted.minimum_gain / 1000;
        if (has_most) limits.push_back(height);
        else if (capacity != no_limit) limits.push_back(capacity);
        else limits.push_back(sum_fits(height, gain) ? height + gain : no_limit);
        spare -= smaller(spare, height);
        byte_count const enough = smaller(without.pools[pool].height, capacity);
        by_need.push_back({enough - smaller(enough, height), 0, pool});
    }
    sort_by_key(by_need);
    for (sort_key const& next : by_need) {
        byte_count const more = has_most ? smaller(next.key, spare) : 0;
        limits[pool_id{next.id}] += more;
        spare -= more;
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

/// Two buffers conflict if both live at some time of a schedule.
class in_one_schedule final : public buffer_conflicts {
public:
    explicit in_one_schedule(table<buffer_id, live_range> const& lives) : lives_(lives) {}
    [[nodiscard]] meeting of(buffer_id a, buffer_id b) const override
    {
        return {lives_[a].first < lives_[b].last && lives_[b].first < lives_[a].last, no_step};
    }

private:
    table<buffer_id, live_range> const& lives_;
};

/// The buffers of the plan, with the guards of their pools: what takes over bytes of a guard waits, too.
SUBLET_DECL table<buffer_id, memory_plan::placed_buffer> occupants_of(memory_plan const& plan,
                                                                      plan_options const& options)
{
    table<buffer_id, memory_plan::placed_buffer> occupants = plan.buffers;
    for (memory_plan::placed_buffer& b : occupants)
        if (b.pool < options.pools.size()) b.size += options.pools[b.pool].guard;
    return occupants;
}

/// Adds the hand-offs that make the plan valid, for which `graph` gets them, too.
SUBLET_DECL void add_handoffs(snapshot const& p, handoff_set const& found, handoff_options const& wanted,
                              dependence_options& graph, planned_with_handoffs& result)
{
    memory_plan& plan = result.plan;
    result.handoff_bytes.assign(plan.handoffs.size(), 0);
    for (handoff h : found.handoffs) plan.handoffs.push_back(h);
    for (byte_count b : found.bytes) result.handoff_bytes.push_back(b);
    graph.handoffs = plan.handoffs;
    result.critical_path_with = parallel_schedule(dependences(p, graph), wanted.duration).critical_path;
}

/// From each step to the next one on its worker, unless an edge says so already.
SUBLET_DECL std::vector<handoff> handoffs_of_workers(dependence_graph const& g,
                                                     table<step_id, step_time> const& schedule)
{
    std::vector<sort_key> runs; // {worker, start, step}
    for (step_id s = 0; s != schedule.size(); ++s)
        runs.push_back({schedule[s].worker, schedule[s].start, s});
    sort_by_key(runs);
    std::vector<handoff> result;
    for (std::size_t i = 1; i < runs.size(); ++i) {
        step_id const from = runs[i - 1].id, to = runs[i].id;
        if (runs[i - 1].key == runs[i].key && !is_listed(g.before[g.start_of(to)], g.position_of[from]) &&
            !is_listed(g.before[g.position_of[to]], g.position_of[from]))
            result.push_back({from, to});
    }
    return result;
}

/// Takes the plan of the program in its order, if that has fewer bytes where few are wanted: a step of it may
/// reuse what another reads early, or writes in place. If results are in place, one step waits for another
/// all along the order.
SUBLET_DECL void take_sequence(snapshot const& p, plan_options const& options, handoff_options const& wanted,
                               dependence_graph const& ordered, planned_with_handoffs& result)
{
    bool may_have_more = wanted.most_bytes != no_limit; // for fewer waits
    for (pool_limits const& pool : options.pools) may_have_more = may_have_more || pool.capacity != no_limit;
    byte_count const enough = wanted.few_waits && may_have_more ? wanted.most_bytes : result.least_bytes;
    if (result && result.figures.arena_bytes <= enough) return;
    auto const duration = wanted.duration.tabulate(p.steps(), "duration");
    std::uint64_t all = 0;
    for (std::uint64_t takes : duration) all += takes;
    bool const is_within_time = wanted.longest == 0 ? wanted.workers == 1 : all <= wanted.longest;
    bool const is_too_high = result && result.figures.arena_bytes > wanted.most_bytes;
    if (!is_within_time && (!is_too_high || wanted.longest != 0)) return;
    planned_memory alone = plan_memory(p, options);
    if (!alone || (result && alone.figures.arena_bytes >= result.figures.arena_bytes)) return;

    table<step_id, step_time> in_sequence(p.steps()); // on one worker
    std::uint64_t now = 0;
    for (step_id s : steps_in_order(p, options.order)) {
        in_sequence[s].start = now;
        now += duration[s];
    }
    memory_plan& plan = alone.plan;
    std::vector<handoff> found;
    std::vector<byte_count> bytes;
    if (alone.in_place.empty()) {
        auto const role = roles_in_rounds(options, plan);
        handoff_set waits = find_handoffs(
            ordered, concurrent_lifetimes(p, ordered, plan.buffers.size(), plan.buffer_of, role),
            occupants_of(plan, options));
        if (!waits) return;
        found = std::move(waits.handoffs);
        bytes = std::move(waits.bytes);
    } else {
        found = handoffs_of_workers(ordered, in_sequence);
        bytes.assign(found.size(), 0);
    }
    result.schedule = std::move(in_sequence);
    result.handoff_bytes = std::move(bytes);
    plan.handoffs = std::move(found);
    plan.valid_for = alone.figures.reading = program_reading::concurrent;
    plan.order.clear();
    alone.figures.is_scheduled = true;
    dependence_options graph = dependences_of(options, plan.handoffs);
    result.critical_path_with = parallel_schedule(dependences(p, graph), wanted.duration).critical_path;
    result.makespan = now;
    static_cast<planned_memory&>(result) = std::move(alone);
}

/// For what asks of a round by itself: what is carried is an input and an output.
SUBLET_DECL plan_options of_one_round(plan_options options)
{
    options.carried.clear();
    return options;
}

/// Why the given schedule is none, if it is none.
SUBLET_DECL verdict check_given(snapshot const& p, plan_options const& options, handoff_options const& wanted)
{
    auto const duration = wanted.duration.tabulate(p.steps(), "duration");
    step_schedule given{wanted.schedule, 0, no_limit, {}};
    for (step_id s = 0; s != p.steps() && s != given.steps.size(); ++s)
        given.makespan = larger(given.makespan, given.steps[s].start + duration[s]);
    return check_schedule(p, given, of_one_round(options), wanted);
}

/// The schedule that is accepted, within the bytes that are asked for if one is found.
SUBLET_DECL plan_in_schedule accepted_schedule(snapshot const& p, plan_options const& options,
                                               handoff_options const& wanted, dependence_graph const& ordered,
                                               placement_problem& problem, bool is_placed,
                                               planned_with_handoffs& result)
{
    schedule_request request{wanted.duration, wanted.workers, wanted.longest, wanted.most_bytes, 0, {}};
    bool const has_most = wanted.most_bytes != no_limit;
    request.orders =
        orders_for_schedules(p, options, is_placed && wanted.longest == 0 ? result.bytes_without : no_limit,
                             has_most ? 0 : wanted.minimum_gain, result.least_bytes);
    result.least_bytes = least_in_schedules(p, options, result.plan, result.least_bytes);
    request.least = result.least_bytes;
    table<step_id, std::uint64_t> given;
    for (step_time at : wanted.schedule) given.push_back(at.start);
    if (!given.empty()) request.given = &given;
    auto const role = roles_in_rounds(options, result.plan);
    plan_in_schedule schedule;
    auto bytes_in = [&](plan_in_schedule const& in) { // of each pool, the lower of two plans
        if (in.bytes >= no_limit - 1 || !is_placed) return in.bytes; // not placed, or above 64 bits
        byte_count all = 0;
        for (pool_id pool = 0; pool != in.placed.pools.size(); ++pool)
            all += smaller(in.placed.pools[pool].height, result.figures.pools[pool].arena_bytes);
        return all;
    };
    auto fits = [&](plan_in_schedule const& in) {
        return in.placed.status <= placement::outcome::feasible && bytes_in(in) <= wanted.most_bytes;
    };
    for (int tries = 4; tries-- != 0;) { // offsets may need more than the bytes that are live
        schedule =
            place_in_schedule(p, ordered, problem, result.plan.buffer_of, role, request, options.effort);
        if (fits(schedule) || schedule.placed.status > placement::outcome::feasible ||
            schedule.chosen.bytes > request.most || !given.empty())
            break;
        request.most = schedule.chosen.bytes; // at most what was asked for
        request.most -= smaller(request.most, bytes_in(schedule) - wanted.most_bytes);
    }
    if (!fits(schedule) && given.empty()) { // one without a limit may do
        request.most = no_limit;
        request.is_capped = false;
        plan_in_schedule other =
            place_in_schedule(p, ordered, problem, result.plan.buffer_of, role, request, options.effort);
        if (fits(other)) schedule = std::move(other);
        for (buffer_id b = 0; b != problem.buffers.size(); ++b)
            problem.buffers[b].life = schedule.in_schedule[b];
    }
    if (options.in_place && !p.overwrites().empty())
        lower_bounds_to(bounds_in_schedule(p, options, result.plan, problem, schedule), schedule.placed);
    result.schedule = wanted.schedule;
    for (step_id s = 0; given.empty() && s != p.steps(); ++s)
        result.schedule.push_back({schedule.chosen.start[s], schedule.worker[s]});
    result.makespan = schedule.timed.schedule.makespan;
    result.critical_path = result.critical_path_with = schedule.timed.schedule.critical_path;
    result.least_makespan =
        least_makespan(wanted.duration.tabulate(p.steps(), "duration"), wanted.workers, result.critical_path);
    return schedule;
}

/// Refuses a result above a limit.
SUBLET_DECL void expect_within(fault what, std::uint64_t has, std::uint64_t most, planned_memory& result)
{
    if (result && has > most)
        result.figures.refute(counterexample{what, counterexample::place{.end = has, .needed = most}});
}

/// A plan under the given schedule, or one that is found.
SUBLET_DECL planned_with_handoffs plan_without_groups(snapshot const& p, plan_options const& options,
                                                      handoff_options const& wanted)
{
    std::clock_t const begun = std::clock();
    planned_with_handoffs result;
    if (!wanted.schedule.empty() && !result.figures.refute(check_given(p, options, wanted))) return result;
    memory_plan& plan = result.plan;
    plan_options unchecked = options;
    unchecked.check = false;
    plan_options afresh = unchecked; // what waits, and how low, does not depend on a plan before
    afresh.previous = {};
    static_cast<planned_memory&>(result) = plan_concurrent(p, afresh, {.handoffs = wanted.handoffs});
    bool const is_placed = result || result.error().what == fault::over_capacity;
    bool const is_clash =
        !is_placed && (result.error().what == fault::clash || result.error().what == fault::too_close);
    if (!is_placed && !is_clash) return result; // hand-offs may resolve two pins
    result.bytes_without = result.figures.arena_bytes;
    result.handoff_bytes.assign(plan.handoffs.size(), 0);

    placement const now = placement_of(plan, result.figures);
    placement kept = now;
    planned_memory kept_plan; // keeps what it can of a plan before
    if (is_placed && has_previous(options)) {
        kept_plan = plan_concurrent(p, unchecked, {.handoffs = wanted.handoffs});
        kept = placement_of(kept_plan.plan, kept_plan.figures);
    }
    placement_problem problem = problem_of(plan, options);
    dependence_options graph = dependences_of(options, plan.handoffs);
    dependence_graph const ordered = dependences(p, graph);
    plan_in_schedule const schedule =
        accepted_schedule(p, options, wanted, ordered, problem, is_placed, result);

    bool const has_most = wanted.most_bytes != no_limit;
    table<pool_id, byte_count> const limits = wait_limits_of(schedule.placed, now, problem, wanted);
    bool waits = has_most && result.bytes_without > wanted.most_bytes, is_split = false;
    for (pool_id pool = 0; pool != now.pools.size(); ++pool) {
        waits = waits || (!has_most && now.pools[pool].height > limits[pool]);
        is_split = is_split || (pool < options.pools.size() &&
                                schedule.placed.pools[pool].height > options.pools[pool].largest_block);
    }
    if (schedule.placed.status <= placement::outcome::feasible && (waits || !is_placed)) {
        placement placed = schedule.placed;
        buffer_range_lists conflicts; // for a plan before
        if (has_previous(options))
            conflicts = conflicts_in_schedule(
                find_conflict_ranges(schedule.timed.graph, schedule.lives, most_conflict_ranges).of,
                schedule.in_schedule);
        if (wanted.few_waits && !is_split) {
            if (is_placed) keep_low_pools(plan, now, limits, placed); // they need no waits
            drop_waits(schedule, problem, limits, options.effort, placed, conflicts);
        }
        table<buffer_id, byte_count> former; // offsets
        if (has_previous(options)) {
            former = previous_offsets(plan, options);
            keep_concurrently(problem, schedule.lives, conflicts, former, has_most ? 0 : options.keep_within,
                              offset_visits(options.effort) / 16, placed);
        }
        if (is_placed) keep_low_pools(has_previous(options) ? kept_plan.plan : plan, kept, limits, placed);
        for (placement::pool_result& pool : placed.pools)
            pool.lower_bound = smaller(pool.lower_bound, pool.height);
        plan.arena_bytes.clear();
        plan.blocks.clear();
        std::vector<value_id> external = std::move(result.figures.external);
        result.figures = begun_report(p, program_reading::concurrent);
        result.figures.external = std::move(external);
        result.figures.is_scheduled = true;
        enter_offsets(placed, result);
        in_one_schedule const meetings(schedule.in_schedule);
        if (!former.empty()) result.figures.moved = moved_values(plan, options, former, &meetings);
        add_handoffs(p, waits_of(schedule, problem, placed), wanted, graph, result);
    } else if (is_placed && has_previous(options)) {
        static_cast<planned_memory&>(result) = std::move(kept_plan);
    }
    if (wanted.handoffs.empty() && wanted.schedule.empty())
        take_sequence(p, unchecked, wanted, ordered, result);
    if (result && !options.optional.empty()) {
        dependence_graph const all = dependences(p, dependences_of(options, plan.handoffs));
        for (handoff h : order_without(p, options, all)) plan.handoffs.push_back(h);
        result.handoff_bytes.resize(plan.handoffs.size(), 0);
    }
    expect_within(fault::over_budget, result.figures.arena_bytes, wanted.most_bytes, result);
    expect_within(fault::over_time, result.makespan, wanted.longest == 0 ? no_limit : wanted.longest, result);
    finish_plan(result, begun, options.check, [&] { return check_concurrent_plan(p, plan, options); });
    return result;
}

/// Groups become given hand-offs: those of a schedule that keeps them. If offsets need more than the bytes
/// that are asked for, with one of fewer live bytes.
SUBLET_DECL planned_with_handoffs plan_in_groups(snapshot const& p, plan_options const& options,
                                                 handoff_options const& wanted)
{
    planned_with_handoffs result;
    schedule_curve found;
    if (wanted.schedule.empty()) {
        found = schedules(p, of_one_round(options), wanted);
        if (!result.figures.refute(found)) return result;
        if (wanted.most_bytes == no_limit) { // the fewest bytes within the time, and not the shortest
            std::size_t const at = wanted.longest == 0 ? 0 : found.points.size() - 1;
            found.points = {std::move(found.points[at])};
        }
    } else {
        if (!result.figures.refute(check_given(p, options, wanted))) return result;
        found.points.push_back({wanted.schedule, 0, 0, {}});
    }
    auto const duration = wanted.duration.tabulate(p.steps(), "duration");
    dependence_graph const g = dependences(p, dependences_of(options, wanted.handoffs));
    std::uint64_t const critical_path = parallel_schedule(g, wanted.duration).critical_path;
    for (std::size_t i = 0; i != found.points.size() && i != 4; ++i) {
        handoff_options own = wanted;
        own.groups.clear();
        own.schedule = found.points[i].steps;
        table<step_id, std::uint64_t> start;
        for (step_time at : own.schedule) start.push_back(at.start);
        handoff_set const between = handoffs_of_groups(g, duration, wanted.groups, start);
        if (!between) {
            result.figures.refute(between);
            return result;
        }
        for (handoff h : between.handoffs) own.handoffs.push_back(h);
        result = plan_without_groups(p, options, own);
        result.critical_path = critical_path; // of the program, without what groups add
        result.least_makespan = least_makespan(duration, wanted.workers, critical_path);
        if (result || result.error().what != fault::over_budget) break;
    }
    return result;
}

/// The order of the workers becomes given hand-offs: those of the schedule that is accepted without them, or,
/// if that order needs more bytes than are asked for, of the one that is accepted without a limit.
SUBLET_DECL planned_with_handoffs plan_on_workers(snapshot const& p, plan_options const& options,
                                                  handoff_options const& wanted)
{
    auto plan_for = [&](plan_options const& how, handoff_options const& own) {
        return own.groups.empty() ? plan_without_groups(p, how, own) : plan_in_groups(p, how, own);
    };
    plan_options unchecked = options;
    unchecked.check = false;
    unchecked.previous = {};
    dependence_options const graph = dependences_of(options, wanted.handoffs);
    auto plan_within = [&](byte_count most) {
        handoff_options own = wanted;
        own.few_waits = false;
        own.most_bytes = most;
        planned_with_handoffs first = plan_for(unchecked, own);
        bool const is_high = !first && (first.error().what == fault::over_budget ||
                                        first.error().what == fault::over_capacity);
        if (!first && (!is_high || first.schedule.size() != p.steps())) return first;
        own = wanted; // in the order of the workers fewer bytes may do
        own.schedule = first.schedule;
        for (handoff h : handoffs_of_workers(dependences(p, graph), own.schedule)) own.handoffs.push_back(h);
        planned_with_handoffs result = plan_for(options, own);
        result.critical_path = first.critical_path;
        result.least_makespan = first.least_makespan;
        result.least_bytes = first.least_bytes;
        return result;
    };
    planned_with_handoffs result = plan_within(wanted.most_bytes);
    if (result || result.error().what != fault::over_budget || !wanted.schedule.empty()) return result;
    planned_with_handoffs other = plan_within(no_limit);
    return other ? std::move(other) : std::move(result);
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL planned_with_handoffs plan_with_handoffs(snapshot const& p, plan_options const& given,
                                                     handoff_options const& how)
{
    detail::expect_previous(given);
    detail::expect_no_reserved(given, "plan_with_handoffs");
    detail::expect_no_pages(given, "plan_with_handoffs()");
    detail::expect_no_apart(given, "plan_with_handoffs");
    SUBLET_EXPECTS(how.minimum_gain <= 1000, "sublet: minimum_gain is %, but at most 1000 thousandths",
                   how.minimum_gain);
    detail::expect_groups(how.groups, p.steps());
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    detail::asked_options const wanted(how, p.steps(), &handoff_options::duration);
    if (how.keeps_workers) return detail::plan_on_workers(p, *asked, *wanted);
    if (!how.groups.empty()) return detail::plan_in_groups(p, *asked, *wanted);
    return detail::plan_without_groups(p, *asked, *wanted);
}

} // namespace sublet
