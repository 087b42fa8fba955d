// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/unclear.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/sharing/in_place.hpp>

#include <ctime>
#include <utility>
#include <vector>

namespace sublet {

SUBLET_COLD_DECL planned_memory plan_memory(snapshot const& p, plan_options const& given)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    std::clock_t const begin = std::clock();
    planned_memory result;
    memory_plan& plan = result.plan;
    plan.order = options.order;
    plan.buffer_of.assign(p.values(), no_buffer);
    result.figures.steps = p.steps();
    result.figures.values = p.values();

    if (!result.figures.refute(detail::find_unclear(p, options))) return result;
    live_ranges const lives = lifetimes(p, detail::lifetimes_of(options));
    if (!result.figures.refute(lives) ||
        !result.figures.refute(detail::first_backward_edge(p, options.order)))
        return result;
    buffer_table table = gather_buffers(lives, options);
    result.figures.external = detail::external_roots(table);
    detail::set_chosen_pools(table, options, options.pools);
    sublet::table<position_id, step_id> const steps = detail::steps_in_order(p, options.order);
    std::vector<memory_plan::in_place_pair> pairs;
    if (options.in_place) pairs = detail::match_in_place(p, steps, table);

    detail::in_place_selection found =
        detail::select_in_place(table, pairs, steps, options.pools, options.effort);
    found.plan.order = options.order;
    plan = std::move(found.plan);
    result.in_place = std::move(found.gains);
    if (result.figures.refute(detail::oversized_view(table))) // of classes before they are joined
        result.figures.refute(std::move(found.valid));
    detail::set_offsets(found.placed, plan);
    detail::fill_report(result.figures, found.placed, plan);

    if (result) result.figures.refute(detail::why_not_placed(found.placed, found.problem, plan));
    if (options.check && result) {
        result.figures.refute(check_plan(p, plan, options));
        result.figures.is_checked = true;
    }
    result.figures.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return result;
}

} // namespace sublet
