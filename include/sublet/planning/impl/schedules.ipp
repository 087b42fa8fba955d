// SPDX-License-Identifier: BSL-1.0

/// schedules(): the buffers of the program as for every schedule, the search of capped schedules, and a check
/// of each.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/unclear.hpp>
#include <sublet/checking/check_schedule.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/concurrent_bounds.hpp>
#include <sublet/planning/detail/place_in_schedule.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/planning/detail/schedule_orders.hpp>
#include <sublet/planning/detail/stages.hpp>
#include <sublet/planning/detail/step_groups.hpp>
#include <sublet/schedules.hpp>
#include <sublet/sharing/in_place.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace sublet::detail {

/// The limit that schedules exceed, if none was found.
SUBLET_DECL counterexample exceeded_limit(snapshot const& p, schedule_problem const& problem,
                                          placement_problem const& placed, schedule_request const& request,
                                          capped_curve const& found,
                                          std::vector<capped_schedule> const& by_path)
{
    capped_curve all; // that keep the groups
    if (request.groups.empty())
        for (capped_schedule const& schedule : by_path) all.offer(schedule);
    std::optional<counterexample> crossed;
    table<step_id, std::uint64_t> const equal(p.steps(), 0);
    for (std::vector<step_id> const& reference : reference_sequences(p, problem, request)) {
        std::optional<counterexample> fact = over_group(problem, request.groups, reference);
        if (!fact) all.offer(schedule_within(problem, reference, 1, equal));
        else if (!crossed) crossed = std::move(fact);
    }
    if (all.points().empty()) return *crossed;
    capped_schedule const& lowest = all.points().back();
    if (lowest.bytes > request.most)
        return {fault::over_budget, counterexample::place{.end = lowest.bytes, .needed = request.most}};
    for (pool_id pool = 0; pool != placed.pools.size() && pool < problem.first_group; ++pool)
        if (pool < lowest.of_pool.size() && lowest.of_pool[pool] > placed.pools[pool].capacity)
            return {fault::over_capacity, counterexample::place{.pool = pool,
                                                                .end = lowest.of_pool[pool],
                                                                .needed = placed.pools[pool].capacity}};
    std::uint64_t const shortest = found.points().empty() ? lowest.makespan : found.points().front().makespan;
    return {fault::over_time, counterexample::place{.end = shortest, .needed = request.longest}};
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL step_schedule const* schedule_curve::within_time(std::uint64_t longest) const
{
    std::size_t const at =
        detail::partition_point(points.size(), [&](std::size_t i) { return points[i].makespan > longest; });
    return at == 0 ? nullptr : &points[at - 1];
}

SUBLET_DECL step_schedule const* schedule_curve::within_bytes(byte_count most) const
{
    std::size_t const at =
        detail::partition_point(points.size(), [&](std::size_t i) { return points[i].live_bytes <= most; });
    return at == points.size() ? nullptr : &points[at];
}

SUBLET_DECL schedule_curve schedules(snapshot const& p, plan_options const& given, handoff_options const& how)
{
    detail::expect_no_carried(given, "schedules");
    detail::expect_no_apart(given, "schedules");
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    detail::asked_options const asked_durations(how, p.steps(), &handoff_options::duration);
    handoff_options const& wanted = *asked_durations;
    detail::expect_groups(wanted.groups, p.steps());
    schedule_curve result;
    if (!result.refute(detail::find_unclear(p, options))) return result;
    dependence_graph const g = dependences(p, detail::dependences_of(options, wanted.handoffs));
    if (!result.refute(g)) return result;

    auto const role = options.role.tabulate(p.values(), "role");
    planned_memory listed;
    (void)detail::begin_plan(listed, p, program_reading::concurrent);
    buffer_table buffers = gather_buffers(detail::touch_ranges(p, role), options);
    detail::enter_buffers(buffers, options, options.pools, listed);
    if (options.in_place && !p.overwrites().empty()) buffers = take_in_place(p, g, std::move(buffers));
    placement_problem problem{{}, options.pools};
    if (auto fact = detail::list_planned(buffers, listed.plan, problem); listed)
        listed.figures.refute(std::move(fact));
    if (!result.refute(listed.figures)) return result;

    memory_plan const& plan = listed.plan;
    table<buffer_id, byte_count> size;
    table<buffer_id, pool_id> pool;
    for (memory_plan::placed_buffer const& b : plan.buffers) {
        SUBLET_EXPECTS(b.pool < 65536,
                       "sublet: value % names pool %, which is out of range (pools are numbered from 0)",
                       b.root, b.pool);
        size.push_back(b.size);
        pool.push_back(b.pool);
    }
    auto const duration = wanted.duration.tabulate(p.steps(), "duration");
    detail::schedule_request request{
        wanted.duration, wanted.workers, wanted.longest, wanted.most_bytes, 0, {}};
    request.is_curve = true;
    request.groups = wanted.groups;
    request.orders = detail::orders_for_schedules(p, options, no_limit, 0, result.least_bytes);
    result.least_bytes = detail::least_in_schedules(p, options, plan, result.least_bytes);
    detail::schedule_problem steps = detail::schedule_problem_of(
        g, detail::concurrent_lifetimes(p, g, problem.buffers.size(), plan.buffer_of, role), std::move(size),
        std::move(pool), duration);
    if (!wanted.groups.empty()) detail::add_groups(wanted.groups, steps);
    std::uint64_t critical_path = 0;
    for (std::uint64_t path : steps.path_ahead) critical_path = detail::larger(critical_path, path);
    result.least_makespan = detail::least_makespan(duration, wanted.workers, critical_path);

    std::vector<detail::capped_schedule> by_path;
    detail::capped_curve const curve =
        detail::find_schedules(p, g, steps, problem, request, options.effort, by_path);
    for (detail::capped_schedule const& point : curve.points()) {
        if (wanted.longest != 0 && point.makespan > wanted.longest) continue;
        step_schedule& next = result.points.emplace_back();
        table<step_id, std::uint32_t> const worker = detail::workers_of(steps, point.start);
        for (step_id s = 0; s != p.steps(); ++s) next.steps.push_back({point.start[s], worker[s]});
        next.makespan = point.makespan;
        next.live_bytes = point.bytes;
        for (pool_id of = 0; of != point.of_pool.size() && of < steps.first_group; ++of)
            next.live_in.push_back(point.of_pool[of]);
        if (options.check && !result.refute(check_schedule(p, next, options, wanted))) return result;
    }
    if (result.points.empty())
        result.refute(detail::exceeded_limit(p, steps, problem, request, curve, by_path));
    return result;
}

} // namespace sublet
