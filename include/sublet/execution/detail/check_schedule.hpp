// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_CHECK_SCHEDULE_HPP
#define SUBLET_EXECUTION_DETAIL_CHECK_SCHEDULE_HPP

/// Checks a schedule, before a run, for every order of execution that its streams and events allow.
///
///     schedule                        commands                             touches, from the program
///                                     0  stream 0   write all inputs
///     stream 0   launch 0             1  stream 0   work of step 0         writes a
///     stream 0   record 0             2  stream 0   record 0
///     stream 1   wait 0               3  stream 1   wait 0
///     stream 1   launch 1             4  stream 1   work of step 1         reads a, writes b
///     ...                             n  stream 0   touch all that remains
///
/// Touches are derived from the program and the plan, independently of the scheduler. The first and the last
/// command stand for the runs before and after: all of a run must be ordered between them.

#include <sublet/checking/check_streams.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/stream_schedule.hpp>
#include <sublet/graph/snapshot.hpp>

namespace sublet::detail {

/// The commands of a schedule with the bytes that they touch, including those two. `plan` is
/// null outside of arena mode; `lowered` is the one that the schedule was made for.
///
/// Requires:   as accesses_of(); the schedule launches each position once, in order.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] stream_commands commands_of(snapshot const& p, plan_options const& options,
                                          memory_plan const* plan, lowered_program const& lowered,
                                          stream_schedule const& schedule, bool keeps_io_addresses = false);

/// Whether a schedule is valid: true, or its first fault. If it is, every order in which a device may execute
/// it leaves what the lowered program leaves step by step, and the next run begins after all of it.
///
/// Requires:   as commands_of(); `settings` are the options that the schedule was made with.
/// Complexity: that of accesses_of() and check_streams().
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] verdict check_schedule(snapshot const& p, plan_options const& options, memory_plan const* plan,
                                     lowered_program const& lowered, stream_schedule const& schedule,
                                     stream_options const& settings = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/check_schedule.ipp>
#endif

#endif
