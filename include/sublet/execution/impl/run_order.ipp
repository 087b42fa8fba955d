// SPDX-License-Identifier: BSL-1.0

/// run_order_of(): chooses the order, lowers the program in it, and lets wait_finder follow touches, edges
/// and hand-offs. An order for a plan for any schedule is a topological order of dependences(), as close as
/// possible to the listed one; a write that moved in it is an unsound plan.

#include <sublet/analysis/dependences.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/execution/detail/program_order.hpp>
#include <sublet/execution/detail/wait_finder.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/internal/arena_occupants.hpp>
#include <sublet/execution/internal/run_order.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace sublet::detail {

SUBLET_DECL table<position_id, step_id> concurrent_step_order(snapshot const& p, plan_options const& options,
                                                              std::vector<handoff> handoffs)
{
    auto graph = [&] {
        dependence_options how = dependences_of(options, handoffs);
        how.order = dependence_options::position_order::as_listed;
        return dependences(p, how);
    };
    auto steps_of = [](dependence_graph const& g) { // skip the early reads of a step
        table<position_id, step_id> steps;
        for (position_id at = 0; at != g.step_at.size(); ++at)
            if (step_id const its = g.step_at[at]; g.position_of[its] == at) steps.push_back(its);
        return steps;
    };
    dependence_graph g = graph();
    if (!g) throw unsound_plan(g.error());
    program_order const listed(p, options);
    auto const moved = listed.moved_write(steps_of(g));
    if (!moved) return steps_of(g);
    for (handoff h : listed.handoffs()) handoffs.push_back(h);
    g = graph();
    if (!g) throw unsound_plan(*moved);
    return steps_of(g);
}

SUBLET_DECL void expect_sound(snapshot const& p, memory_plan const& plan, plan_options const& options)
{
    verdict const valid = plan.valid_for == program_reading::concurrent
                              ? check_concurrent_plan(p, plan, options)
                              : check_plan(p, plan, options);
    if (!valid) throw unsound_plan(valid.error());
}

SUBLET_DECL std::vector<handoff> all_handoffs(snapshot const& p, memory_plan const* plan,
                                              std::vector<handoff> handoffs)
{
    auto names_steps = [&](handoff h) { return h.from < p.steps() && h.to < p.steps(); };
    for (handoff h : handoffs)
        SUBLET_EXPECTS(names_steps(h),
                       "sublet: a hand-off leads from step % to step %, but there are only % steps", h.from,
                       h.to, p.steps());
    if (plan == nullptr || plan->valid_for != program_reading::concurrent) return handoffs;
    if (!std::all_of(plan->handoffs.begin(), plan->handoffs.end(), names_steps))
        throw unsound_plan({fault::foreign_plan});
    handoffs.insert(handoffs.end(), plan->handoffs.begin(), plan->handoffs.end());
    return handoffs;
}

SUBLET_DECL lowered_program lower_planned(snapshot const& p, plan_options const& options,
                                          memory_plan const* plan, std::vector<handoff> handoffs)
{
    handoffs = all_handoffs(p, plan, std::move(handoffs));
    if (plan == nullptr || plan->valid_for != program_reading::concurrent) return lower_program(p, options);
    return lower_program(p, options, concurrent_step_order(p, options, std::move(handoffs)));
}

SUBLET_DECL run_order run_order_of(snapshot const& p, plan_options const& options, memory_plan const* plan,
                                   std::vector<handoff> const& handoffs)
{
    plan_options const own = plan == nullptr ? options : options_of_plan(p, options, *plan);
    run_order result{lower_planned(p, own, plan, handoffs), {}};
    wait_finder finder(p, own, result.lowered);
    if (plan != nullptr && plan->valid_for != program_reading::concurrent) {
        arena_occupants arenas(result.lowered, *plan);
        finder.follow_touches(&arenas);
    } else {
        finder.follow_touches(nullptr);
    }
    finder.follow_edges();
    finder.follow(all_handoffs(p, plan, handoffs));
    result.waits = finder.reduced();
    return result;
}

} // namespace sublet::detail
