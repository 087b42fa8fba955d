// SPDX-License-Identifier: BSL-1.0
/// plan_flow(): lives with gaps, on the positions of an order that keeps loops together; placed as in
/// sequence, with bounds of their own where pairs or unwritten values make those of the placement untrue.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/flow_ranges.hpp>
#include <sublet/analysis/internal/late_def.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>

#include <sublet/analysis/internal/unclear.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/planning/detail/flow_bounds.hpp>
#include <sublet/planning/detail/flow_lives.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/planning/detail/previous_places.hpp>
#include <sublet/planning/detail/stages.hpp>
#include <sublet/sharing/in_place.hpp>

#include <ctime>
#include <optional>
#include <utility>

namespace sublet {

SUBLET_DECL memory_plan planned_flow::by_range() const
{
    memory_plan spread = plan;
    spread.buffers.clear();
    table<buffer_id, buffer_id> first;
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        first.push_back(buffer_id::of(spread.buffers.size()));
        for (live_range r : lives[b]) {
            spread.buffers.push_back(plan.buffers[b]);
            spread.buffers.back().life = r;
        }
    }
    for (buffer_id& b : spread.buffer_of)
        if (b != no_buffer) b = first[b];
    return spread;
}

SUBLET_DECL planned_flow plan_flow(snapshot const& as_made, plan_options const& given,
                                   flow_options const& flow)
{
    detail::expect_listed_order(as_made, given.order);
    detail::expect_no_previous(given, "plan_flow");
    detail::expect_one_program(given, "plan_flow");
    detail::expect_no_pages(given, "plan_flow()");
    snapshot as_listed;
    snapshot const& listed = detail::as_control_flow(as_made, as_listed);
    auto const asked = detail::with_said_views(listed, detail::tabulated_options(given, listed.values()));
    plan_options kept{.bytes = no_size};
    plan_options const& options = detail::keep_pieces(listed, *asked, kept) ? kept : *asked;
    snapshot viewed;
    if (listed.has_views()) viewed = detail::with_view_uses(listed, options);
    snapshot const& p = listed.has_views() ? viewed : listed;
    planned_flow result;
    std::clock_t const begun = detail::begin_plan(result, p, program_reading::control_flow);
    memory_plan& plan = result.plan;
    plan.order = options.order.empty() ? detail::loop_contiguous_order(p.graph()) : options.order;
    auto unclear = detail::find_unclear(listed, *asked);
    if (unclear && flow.allows_undefined && unclear->what == fault::unwritten) unclear.reset();
    if (!result.figures.refute(std::move(unclear))) return result;

    // Positions are those of the augmented program: the entry is before the first step.
    table<value_id, value_role> const role = options.role.tabulate(p.values(), "role");
    table<step_id, position_id> const position = detail::augmented_positions(p, plan.order);
    live_range_lists augmented = detail::cfg_live_ranges(p, role, plan.order, detail::operand_end::held);
    if (auto read = detail::read_of_undefined(p, augmented, role, position, flow)) {
        detail::explain_late_def(*read, as_made, role, detail::roots_of_views(as_made, asked->alias_of),
                                 asked->order);
        result.figures.refute(std::move(read));
        return result;
    }
    table<value_id, unsigned char> const is_unwritten = detail::read_unwritten(augmented, role);
    if (!is_unwritten.empty())
        augmented = detail::where_written(p, augmented, is_unwritten, plan.order, position, true);
    live_range_lists const lives = detail::to_program_positions(p, augmented, plan.order);
    buffer_table buffers = gather_buffers(detail::hulls(p, lives), options);
    detail::drop_unwritten(p, buffers);
    detail::enter_buffers(buffers, options, options.pools, result);
    result.figures.external = detail::external_roots(p, buffers);

    bool const has_pairs = options.in_place && !p.overwrites().empty();
    bool const are_exact = !has_pairs && is_unwritten.empty() &&
                           detail::are_conflicts_exact(p, augmented, role, position);
    live_range_lists early;
    buffer_table apart; // without in-place pairs
    if (!are_exact) {
        early = detail::cfg_live_ranges(p, role, plan.order, detail::operand_end::read_early);
        apart = buffers;
        if (has_pairs) buffers = take_in_place(p, early, position, std::move(buffers));
    }

    placement_problem problem{{}, options.pools};
    if (auto fact = detail::list_planned(buffers, plan, problem); result)
        result.figures.refute(std::move(fact));
    result.lives = detail::set_live_ranges(p, position, lives, is_unwritten, plan, problem);
    placement placed = detail::pack(problem, detail::pack_budgets(options.effort));
    if (!are_exact) { // the bounds of pack() hold for these pairs only
        if (!is_unwritten.empty())
            early = detail::where_written(p, early, is_unwritten, plan.order, position, false);
        detail::set_bounds(detail::bounds_of_flow(p, early, is_unwritten, position, apart), placed);
    }
    for (overwrite o : p.overwrites())
        if (buffer_id const b = plan.buffer_of[o.in]; b != no_buffer && b == plan.buffer_of[o.out])
            result.in_place.push_back({{o.step, o.in, o.out, plan.buffers[b].size}, no_size, no_size});

    detail::enter_placement(placed, problem, result);
    detail::finish_plan(result, begun, options.check,
                        [&] { return check_flow_plan(listed, plan, *asked, flow); });
    return result;
}

} // namespace sublet
