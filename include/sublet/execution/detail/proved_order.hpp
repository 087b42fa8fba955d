// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_PROVED_ORDER_HPP
#define SUBLET_EXECUTION_DETAIL_PROVED_ORDER_HPP

/// What is proved before a program runs at once, on threads or on streams.
///
///     the plan, for its own reading      check_plan, or check_concurrent_plan
///     the waits that will be kept        check_waits: they order every two steps that touch the same bytes,
///                                        one of which writes, as they come in the order of reference
///
/// The first says that the plan can be run; the second, of these waits, that this run keeps to it. Neither
/// shares code with what found the plan or the waits.

#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_streams.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>

#include <concepts>
#include <vector>

namespace sublet::detail {

/// The order in which a program is run at once in a memory mode, proved as far as it is asked for.
///
/// Requires:   as run_order_of().
/// Complexity: that of run_order_of(), of check_waits(), and of the check of the plan.
/// Throws:     unsound_plan with what is wrong; what run_order_of() throws.
template <memory_mode Mode>
[[nodiscard]] run_order proved_order(snapshot const& p, plan_options const& options, Mode const& mode,
                                     std::vector<handoff> const& handoffs, executor_options const& settings)
{
    bool const proves = settings.prove && settings.check != executor_options::checks::off;
    memory_plan const* plan = nullptr;
    if constexpr (std::same_as<Mode, arena>) {
        plan = &mode.plan;
        if (proves && plan->valid_for == program_reading::concurrent) {
            if (auto const why = check_concurrent_plan(p, *plan, options)) throw unsound_plan(*why);
        } else if (proves) {
            if (auto const why = check_plan(p, *plan, options)) throw unsound_plan(*why);
        }
    }
    run_order order = run_order_of(p, options, mode, settings.scratch, handoffs);
    if (proves)
        if (auto const why =
                check_waits(p, options, plan, order.lowered.step_at, order.waits.after, handoffs))
            throw unsound_plan(as_witness(*why));
    return order;
}

} // namespace sublet::detail

#endif
