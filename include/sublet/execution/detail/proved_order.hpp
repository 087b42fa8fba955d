// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_PROVED_ORDER_HPP
#define SUBLET_EXECUTION_DETAIL_PROVED_ORDER_HPP

/// The order of a run with a proof of the plan; of a concurrent run, on threads or on streams, also of its
/// waits.
///
///     the plan, for its own reading      check_plan, or check_concurrent_plan
///     the waits that will be kept        check_waits: any two steps that touch the same bytes, one of them
///                                        writing, are ordered as in the sequential order
///
/// The first proves that the plan can be run, the second that these waits suffice for it. Neither shares code
/// with the planner or the wait finder.

#include <sublet/checking/check_streams.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/execution/detail/memory_mode.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/internal/run_order.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/graph/snapshot.hpp>

#include <vector>

namespace sublet::detail {

/// The program for a run step by step, in the order of the plan if there is one. Unless `settings` turn the
/// proof off, the plan is sound, and no edge leads back. `plan` may be null.
/// Throws: unsound_plan with a counterexample; errors of lower_planned().
[[nodiscard]] lowered_program proved_sequence(snapshot const& p, plan_options const& options,
                                              memory_plan const* plan, executor_options const& settings);

/// The order and waits of a concurrent run in a memory mode, proved unless `settings` turn the proof off.
///
/// Requires:   as run_order_of().
/// Complexity: that of run_order_of(), of check_waits(), and of the check of the plan.
/// Throws:     unsound_plan with a counterexample; errors of run_order_of().
template <memory_mode Mode>
[[nodiscard]] run_order proved_order(snapshot const& p, plan_options const& options, Mode const& mode,
                                     std::vector<handoff> const& handoffs, executor_options const& settings)
{
    bool const proves = settings.prove && settings.check != executor_options::checks::off;
    memory_plan const* const plan = plan_in(mode);
    if (proves && plan != nullptr) expect_sound(p, *plan, options);
    run_order order = run_order_of(p, options, mode, handoffs);
    if (proves)
        if (verdict const valid =
                check_waits(p, options, plan, order.lowered.step_at, order.waits.after, handoffs);
            !valid)
            throw unsound_plan(valid.error());
    return order;
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/proved_order.ipp>
#endif

#endif
