// SPDX-License-Identifier: BSL-1.0

/// Each stage enters what it finds into the result at once, so that a plan that is refused later shows what
/// was planned.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/planning/detail/stages.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_COLD_DECL plan_report begun_report(snapshot const& p, program_reading reading)
{
    plan_report report;
    report.reading = reading;
    report.steps = p.steps();
    report.values = p.values();
    return report;
}

SUBLET_COLD_DECL std::clock_t begin_plan(planned_memory& result, snapshot const& p, program_reading reading)
{
    result.plan.valid_for = reading;
    result.plan.buffer_of.assign(p.values(), no_buffer);
    result.figures = begun_report(p, reading);
    return std::clock();
}

SUBLET_COLD_DECL void enter_buffers(buffer_table& buffers, plan_options const& options,
                                    table<pool_id, pool_limits> const& room, planned_memory& result)
{
    result.figures.refute(oversized_view(buffers));
    result.figures.external = external_roots(buffers);
    set_chosen_pools(buffers, options, room);
    for (buffer& b : buffers.buffers) // kinds are of no matter without pages
        if (b.pool >= options.pools.size() || options.pools[b.pool].page == 1) b.kind = 0;
}

SUBLET_COLD_DECL void expect_no_reserved(plan_options const& options, char const* planner)
{
    for (pool_id pool = 0; pool != options.pools.size(); ++pool)
        SUBLET_EXPECTS(options.pools[pool].reserved.empty(),
                       "sublet: pool % has reserved bytes, and %() does not keep them free", pool, planner);
}

SUBLET_COLD_DECL void expect_no_pages(plan_options const& options, char const* planner)
{
    for (pool_id pool = 0; pool != options.pools.size(); ++pool)
        SUBLET_EXPECTS(options.pools[pool].page == 1, "sublet: pool % has pages, and % keeps none", pool,
                       planner);
}

SUBLET_COLD_DECL void fill_report(plan_report& report, placement const& placed, memory_plan const& plan)
{
    auto add = [](byte_count& sum, byte_count more) { sum = sum_fits(sum, more) ? sum + more : no_size - 1; };
    std::vector<sort_key> by_size;
    report.buffers = plan.buffers.size();
    report.pools = table<pool_id, pool_report>(placed.pools.size());
    for (memory_plan::placed_buffer const& b : plan.buffers) {
        add(report.pools[b.pool].naive_bytes, b.size);
        by_size.push_back({descending(b.size), 0, b.root});
    }
    sort_by_key(by_size);
    report.largest = std::vector<value_id>(smaller(by_size.size(), std::size_t{5}));
    for (std::size_t i = 0; i != report.largest.size(); ++i) report.largest[i] = by_size[i].id;
    for (pool_id i = 0; i != placed.pools.size(); ++i) {
        pool_report& pool = report.pools[i];
        pool.lower_bound_bytes = placed.pools[i].lower_bound;
        pool.arena_bytes = placed.pools[i].height;
        pool.peak_position = placed.pools[i].peak_position;
        add(report.naive_bytes, pool.naive_bytes);
        add(report.lower_bound_bytes, pool.lower_bound_bytes);
        add(report.arena_bytes, pool.arena_bytes);
    }
    if (!report.pools.empty()) report.peak_position = report.pools.front().peak_position;
    report.unsized = plan.unsized;
}

SUBLET_COLD_DECL void enter_offsets(placement const& placed, planned_memory& result)
{
    set_offsets(placed, result.plan);
    fill_report(result.figures, placed, result.plan);
}

SUBLET_COLD_DECL void enter_placement(placement const& placed, placement_problem const& problem,
                                      planned_memory& result)
{
    enter_offsets(placed, result);
    if (result) result.figures.refute(why_not_placed(placed, problem, result.plan));
}

} // namespace sublet::detail
