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
#include <sublet/planning/detail/schedule_search.hpp>
#include <sublet/planning/detail/step_groups.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet::detail {

/// The orders as sequences that `problem` allows, the same once.
SUBLET_DECL std::vector<std::vector<step_id>>
reference_sequences(snapshot const& p, schedule_problem const& problem, schedule_request const& request)
{
    std::vector<std::vector<step_id>> references;
    for (std::vector<node_id> const& order : request.orders) {
        table<step_id, std::uint64_t> rank(p.steps(), 0);
        std::uint64_t at = 0;
        for (node_id n : order)
            for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) rank[s] = at++;
        if (!request.groups.empty()) rank = ranks_in_sections(problem, request.groups, rank);
        std::vector<step_id> reference = sequence_by(problem, rank);
        if (references.empty() || references.front() != reference) references.push_back(std::move(reference));
    }
    return references;
}

SUBLET_DECL capped_curve find_schedules(snapshot const& p, dependence_graph const& g,
                                        schedule_problem const& steps, placement_problem const& problem,
                                        schedule_request const& request, effort work,
                                        std::vector<capped_schedule>& by_path)
{
    capped_curve curve;
    std::size_t const workers = request.workers == 0 ? larger(p.steps(), std::size_t{1}) : request.workers;
    schedule_wish wish;
    wish.caps.all = request.most;
    bool is_capped = request.most != no_limit;
    for (pool_limits const& pool : problem.pools) {
        wish.caps.of.push_back(pool.capacity);
        is_capped = is_capped || pool.capacity != no_limit;
    }
    if (!request.groups.empty()) wish.caps.of.resize(steps.first_group, no_limit);
    for (step_group const& group : request.groups) wish.caps.of.push_back(group.at_once);
    std::size_t const most_workers = smaller(workers, larger(p.steps(), std::size_t{1}));
    for (std::size_t w = most_workers; w != 0; w = request.orders.empty() ? 0 : fewer_workers(w)) {
        if (!by_path.empty() && by_path.size() * p.steps() > work.of(wish.work / 2)) break;
        for (schedule_side side : {schedule_side::earliest, schedule_side::latest}) {
            schedule_times const times = parallel_schedule(g, request.duration, {w, side});
            table<step_id, std::uint64_t> start;
            for (position_id at : g.position_of) start.push_back(times.start[at]);
            by_path.push_back(measured(steps, start));
            if (is_within(by_path.back(), wish.caps)) curve.offer(by_path.back());
        }
    }
    std::vector<std::vector<step_id>> const references = reference_sequences(p, steps, request);
    if (references.empty()) return curve;
    wish.wanted = request.is_curve ? schedule_wish::goal::curve
                  : is_capped      ? schedule_wish::goal::bytes
                                   : schedule_wish::goal::time;
    wish.workers = workers;
    wish.longest = request.longest;
    wish.floor = request.least;
    wish.work = work.of(wish.work);
    search_schedules(steps, references, wish, curve);
    return curve;
}

/// Places in a schedule; what is lower than `best` becomes that.
SUBLET_DECL void place_chosen(snapshot const& p, dependence_graph const& g, schedule_problem const& steps,
                              capped_schedule const& chosen, placement_problem& problem,
                              table<value_id, buffer_id> const& buffer_of,
                              table<value_id, value_role> const& role, effort work, plan_in_schedule& best)
{
    plan_in_schedule next;
    next.chosen = chosen;
    next.timed = in_schedule_order(g, times_of(g, steps, chosen));
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
    if (next.bytes < best.bytes) best = std::move(next);
}

SUBLET_DECL plan_in_schedule place_in_schedule(snapshot const& p, dependence_graph const& g,
                                               placement_problem& problem,
                                               table<value_id, buffer_id> const& buffer_of,
                                               table<value_id, value_role> const& role,
                                               schedule_request const& request, effort work)
{
    table<buffer_id, byte_count> size;
    table<buffer_id, pool_id> pool;
    for (placement_problem::buffer const& b : problem.buffers) {
        size.push_back(b.size);
        pool.push_back(b.pool);
    }
    schedule_problem const steps = schedule_problem_of(
        g, concurrent_lifetimes(p, g, problem.buffers.size(), buffer_of, role), std::move(size),
        std::move(pool), request.duration.tabulate(p.steps(), "duration"));
    std::vector<capped_schedule> by_path;
    plan_in_schedule result;
    if (request.given != nullptr) {
        place_chosen(p, g, steps, measured(steps, *request.given), problem, buffer_of, role, work, result);
        for (buffer_id b = 0; b != problem.buffers.size(); ++b)
            problem.buffers[b].life = result.in_schedule[b];
        return result;
    }
    capped_curve curve = find_schedules(p, g, steps, problem, request, work, by_path);
    if (curve.points().empty()) // none is within the limits
        for (capped_schedule const& other : by_path) curve.offer(other);
    if (curve.points().empty()) return result;
    capped_schedule const* chosen = request.longest != 0 ? curve.within_time(request.longest) : nullptr;
    if (chosen == nullptr) chosen = &curve.points().front();
    place_chosen(p, g, steps, *chosen, problem, buffer_of, role, work, result);
    // Offsets may need more than the bytes that are live: then others as short may need less.
    std::uint64_t const longest = chosen->makespan;
    int tries = 8;
    std::vector<capped_schedule const*> placed{chosen};
    auto try_other = [&](capped_schedule const& other) {
        if (other.makespan > longest || other.bytes >= result.bytes || tries-- <= 0) return;
        for (capped_schedule const* earlier : placed)
            if (earlier->start == other.start) return; // one by path may be on the curve, too
        placed.push_back(&other);
        place_chosen(p, g, steps, other, problem, buffer_of, role, work, result);
    };
    for (std::size_t i = curve.points().size(); i-- != 0;)
        if (&curve.points()[i] != chosen) try_other(curve.points()[i]);
    for (capped_schedule const& other : by_path) try_other(other);
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) problem.buffers[b].life = result.in_schedule[b];
    return result;
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
                                     placement& placed, table<buffer_id, unsigned char>& waits)
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
    waits = may_wait;

    sort_by_key(waiting);
    for (std::size_t few = 0, enough = waiting.size(); few + 1 < enough;) { // invariant: `few` do not suffice
        std::size_t const half = few + (enough - few) / 2;
        for (std::size_t i = 0; i != waiting.size(); ++i) may_wait[buffer_id{waiting[i].id}] = i < half;
        if (fits_limits()) {
            placed = now;
            waits = may_wait;
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
