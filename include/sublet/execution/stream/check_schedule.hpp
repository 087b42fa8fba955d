// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_CHECK_SCHEDULE_HPP
#define SUBLET_EXECUTION_STREAM_CHECK_SCHEDULE_HPP

/// Is a schedule right in every order that its streams and events allow? Before anything runs.
///
///     schedule                        commands                             touches, from the program
///                                     0  stream 0   write all that is given
///     stream 0   launch 0             1  stream 0   work of step 0         writes a
///     stream 0   record 0             2  stream 0   record 0
///     stream 1   wait 0               3  stream 1   wait 0
///     stream 1   launch 1             4  stream 1   work of step 1         reads a, writes b
///     ...                             n  stream 0   touch all that is left
///
/// The schedule says when; what is touched is derived from the program and the plan, by the checker's own
/// means. Before and behind it stands what comes between runs, on stream 0: all that a run does has to come
/// after the one and before the other.

#include <sublet/checking/check_streams.hpp>
#include <sublet/checking/stream_commands.hpp>
#include <sublet/execution/stream/commands.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>

#include <optional>

namespace sublet {

/// The commands of a schedule, with what they touch, and what comes before and after a run.
///
/// `plan` is that of arena mode, and null otherwise; `tape` is the one that the schedule was made for.
///
/// Requires:   as accesses_of(); the schedule launches each position once, in order.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] stream_commands commands_of(snapshot const& p, plan_options const& options,
                                          memory_plan const* plan, run_tape const& tape,
                                          stream_schedule const& schedule, bool keeps_ends = false);

/// The first fault of a schedule, or none: then every order in which a device may carry out its commands
/// leaves what the tape leaves step by step, and the next run finds everything done.
///
/// Requires:   as commands_of(); `how` is what the schedule was made with.
/// Complexity: that of accesses_of() and check_streams().
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::optional<stream_fault> check_schedule(snapshot const& p, plan_options const& options,
                                                         memory_plan const* plan, run_tape const& tape,
                                                         stream_schedule const& schedule,
                                                         stream_options const& how = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/stream/impl/check_schedule.ipp>
#endif

#endif
