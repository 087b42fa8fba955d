// SPDX-License-Identifier: BSL-1.0

/// In a schedule each buffer lives in one range, so pack() places it. Where there are bytes to spare, waits
/// of that placement are left out, half of them, then quarters, down to single ones, and what is left is an
/// order of the steps with conflicts of its own: if all buffers can be placed within the limits, these were
/// not needed.

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
        wish.caps.of.push_back(request.is_capped ? pool.capacity : no_limit);
        is_capped = is_capped || wish.caps.of.back() != no_limit;
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
    result.worker = workers_of(steps, result.chosen.start);
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

SUBLET_DECL handoff_set waits_of(plan_in_schedule const& schedule, placement_problem const& problem,
                                 placement const& placed)
{
    table<buffer_id, memory_plan::placed_buffer> occupants;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
        placement_problem::buffer const& it = problem.buffers[b];
        occupants.push_back({.life = schedule.in_schedule[b],
                             .size = it.size + limits_of(problem, it.pool).guard,
                             .alignment = it.alignment,
                             .pool = it.pool,
                             .offset = placed.offset[b]});
    }
    return find_handoffs(schedule.timed.graph, schedule.lives, occupants);
}

/// The graph in which steps wait, too. Its positions keep the order of both.
SUBLET_DECL dependence_graph with_waits(dependence_graph const& g, std::vector<handoff> const& waits)
{
    dependence_graph result;
    auto const unsorted = csr_rows<position_id, position_id>::gathered(g.positions(), [&](auto add) {
        for (position_id at = 0; at != g.positions(); ++at)
            for (position_id from : g.before[at]) add(at, from);
        for (handoff h : waits) add(g.start_of(h.to), g.position_of[h.from]);
    });
    result.after = unsorted.transposed(g.positions());
    result.before = result.after.transposed(g.positions());
    result.step_at = g.step_at;
    result.position_of = g.position_of;
    return result;
}

/// Visits of all trials together: so many for each buffer, of large programs half a second in all. A quarter
/// of both are made with any effort.
inline constexpr std::uint64_t trial_visits = 16'384, all_trial_visits = 50'000'000;
/// Of the conflicts of a trial: what has more is coarsened, and mostly does not fit.
inline constexpr std::uint64_t trial_ranges = std::uint64_t{1} << 20;

SUBLET_DECL void drop_waits(plan_in_schedule const& schedule, placement_problem const& problem,
                            table<pool_id, byte_count> const& limits, effort work, placement& placed,
                            buffer_range_lists& conflicts)
{
    handoff_set const found = waits_of(schedule, problem, placed);
    if (!found) return;
    std::size_t const buffers = problem.buffers.size();
    std::uint64_t left = smaller(all_trial_visits, trial_visits * buffers);
    left = larger(left / 4, work.of(left));
    auto fits = [&](std::vector<handoff> const& waits, std::uint64_t visits) {
        dependence_graph const g = with_waits(schedule.timed.graph, waits);
        buffer_range_lists ranges = find_conflict_ranges(g, schedule.lives, trial_ranges).of;
        placement now = place_concurrently(
            problem, schedule.lives, ranges,
            {.bounds = limits, .nearly = placed.offset, .visits = visits, .most_visits = 3 * visits});
        left -= smaller(left, visits + ranges.ranges());
        if (now.status > placement::outcome::feasible) return false;
        for (pool_id i = 0; i != limits.size(); ++i) {
            if (now.pools[i].height > limits[i]) return false;
            now.pools[i].lower_bound = schedule.placed.pools[i].lower_bound; // instead of the limit
        }
        left += visits / 8 * 7; // the first order was low enough, mostly
        placed = std::move(now);
        conflicts = std::move(ranges);
        return true;
    };
    std::vector<sort_key> by_bytes;
    for (std::uint32_t i = 0; i != found.handoffs.size(); ++i) by_bytes.push_back({found.bytes[i], 0, i});
    sort_by_key(by_bytes);
    std::vector<handoff> waits, rest;
    for (sort_key const& next : by_bytes) waits.push_back(found.handoffs[next.id]);
    std::size_t const all = waits.size();
    for (std::size_t part = all; part != 0; part /= 2)
        for (std::size_t at = 0; at < waits.size();) {
            std::uint64_t const visits = (part >= all / 8 ? 256 : 64) * buffers;
            if (visits > left) return;
            auto const begin = waits.begin() + static_cast<std::ptrdiff_t>(at);
            rest.assign(waits.begin(), begin);
            rest.insert(rest.end(), begin + static_cast<std::ptrdiff_t>(smaller(part, waits.size() - at)),
                        waits.end());
            if (fits(rest, visits)) waits = rest;
            else at += part;
        }
}

SUBLET_DECL void lower_bounds_to(table<pool_id, byte_count> const& bounds, placement& placed)
{
    for (pool_id pool = 0; pool != bounds.size(); ++pool)
        placed.pools[pool].lower_bound = smaller(placed.pools[pool].lower_bound, bounds[pool]);
}

} // namespace sublet::detail
