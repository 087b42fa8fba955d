// SPDX-License-Identifier: BSL-1.0
/// plan_memory(): the stages that its header draws, in that order.

#include <sublet/analysis/internal/left_out.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/unclear.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/internal/said_views.hpp>

#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/keep_places.hpp>
#include <sublet/placement/internal/pack_options.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/planning/detail/carried_places.hpp>
#include <sublet/planning/detail/pack_in_place.hpp>
#include <sublet/planning/detail/previous_places.hpp>
#include <sublet/planning/detail/stages.hpp>
#include <sublet/sharing/in_place.hpp>

#include <ctime>
#include <utility>
#include <vector>

namespace sublet {

SUBLET_COLD_DECL planned_memory plan_memory(snapshot const& p, plan_options const& given)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    detail::expect_previous(options);
    if (detail::has_previous(options)) {
        detail::expect_no_pages(options, "plan_memory() with a previous plan");
        detail::expect_no_apart(options, "plan_memory with a previous plan");
    }
    planned_memory result;
    std::clock_t const begun = detail::begin_plan(result, p, program_reading::sequential);
    result.plan.order = options.order;
    if (!result.figures.refute(detail::find_unclear(p, options))) return result;

    live_ranges const lives = // no write moves without an order: bytes are of no matter
        options.order.empty()
            ? lifetimes(p, {.role = detail::carried_roles(options), .alias_of = options.alias_of})
            : lifetimes(p, detail::lifetimes_of(options));
    if (!result.figures.refute(lives) ||
        !result.figures.refute(detail::first_backward_edge(p, options.order)))
        return result;
    buffer_table buffers = gather_buffers(lives, options);
    detail::enter_buffers(buffers, options, options.pools, result);

    table<position_id, step_id> const steps = detail::steps_in_order(p, options.order);
    detail::hold_early_inputs(p, options, steps, buffers);
    detail::carried_places const carried = detail::place_carried(p, options, steps, buffers);
    std::vector<memory_plan::in_place_pair> pairs;
    if (options.in_place) pairs = detail::match_in_place(p, steps, buffers);
    detail::packed_in_place packed =
        detail::pack_in_place(buffers, pairs, steps, options.pools, options.effort, carried.together);
    packed.plan.order = options.order;
    table<buffer_id, byte_count> former; // offsets
    if (detail::has_previous(options)) {
        former = detail::previous_offsets(packed.plan, options);
        detail::keep_places(packed.problem, former, options.keep_within,
                            detail::planner_budgets(options.effort, packed.problem.buffers.size()),
                            packed.placed);
    }
    result.plan = std::move(packed.plan);
    result.in_place = std::move(packed.gains);
    for (memory_plan::in_place_pair const& pair : carried.in_place)
        result.in_place.push_back({pair, no_size, no_size}); // in every plan
    if (result) result.figures.refute(std::move(packed.valid));

    detail::enter_placement(packed.placed, packed.problem, result);
    if (result && !former.empty()) result.figures.moved = detail::moved_values(result.plan, options, former);
    detail::finish_plan(result, begun, options.check, [&] { return check_plan(p, result.plan, options); });
    return result;
}

} // namespace sublet
