// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_SCHEDULE_HPP
#define SUBLET_CHECKING_CHECK_SCHEDULE_HPP

/// Checks a schedule: the order, the workers, the groups, and the makespan and live bytes that it claims.
///
///     worker 0  │ 0 │   2   │ 4 │        2 waits for 0 and starts when that ends, each worker runs one step
///     worker 1  │     1     │            at a time, and the value that 0 makes and 2 reads last is live from
///     time      0   1       3   4        0 to 3
///
/// The order of the steps and the bytes are derived again, not taken from a planner.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/schedule.hpp>
#include <sublet/graph/snapshot.hpp>

namespace sublet {

/// Whether `schedule` is one of this program with the durations, workers, hand-offs and groups in `wanted`:
/// true, or the first reason why not.
///
/// A value and its views are live from the first start of the steps that touch them to the last end, an input
/// from the beginning and an output to the end. A result that may be written in place is live from the end of
/// its step, if its operand is live until then and no smaller: a plan may do worse.
///
/// Requires:   as check_concurrent_plan(); as many times as steps; every duration is at least 1; sections
///             name steps.
/// Ensures:    the first fault in this order: an unclear view; what step_order.hpp finds; too_early and
///             busy_worker, by step; over_group, by group and time; over_time, if it does not take the time
///             that it claims; over_budget, if it needs more live bytes. Other limits in `wanted` are not
///             looked at.
/// Complexity: O(n log n + V + E + steps + touches) time and memory, n = values + steps + those of sections.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] verdict check_schedule(snapshot const& p, step_schedule const& schedule,
                                     plan_options const& options, handoff_options const& wanted);
/// The same for a listing, with its names.
template <detail::listed L>
[[nodiscard]] verdict check_schedule(L const& list, step_schedule const& schedule,
                                     handoff_options const& wanted)
{
    list.expect_no_carry("check_schedule");
    return list.named(check_schedule(list.program(), schedule, list.options(), wanted));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_schedule.ipp>
#endif

#endif
