// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_SCHEDULE_HPP
#define SUBLET_CORE_SCHEDULE_HPP

/// Schedules: when each step runs and where, what that needs, and what may be asked of one.
///
///     worker 0  │ 0 │   2   │ 4 │        step 2 has the time {1, 0}: it starts at 1, on worker 0, and ends
///     worker 1  │     1     │            its duration, 2, later; the makespan is 4
///     time      0   1       3   4

#include <sublet/core/ids.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// When a step runs in a schedule, and where.
struct step_time {
    std::uint64_t start = 0;  ///< it ends its duration later
    std::uint32_t worker = 0; ///< from 0; it runs one step at a time
    friend bool operator==(step_time, step_time) = default;
};

/// A schedule, and what it needs.
struct step_schedule {
    table<step_id, step_time> steps; ///< of all steps
    std::uint64_t makespan = 0;      ///< the last end
    byte_count live_bytes = 0;       ///< the most at any time, of all pools together; offsets may need more
    table<pool_id, byte_count> live_in; ///< of each pool
    friend bool operator==(step_schedule const&, step_schedule const&) = default;
};

/// Sections of a program of which at most `at_once` run at the same time: the chains that share a licence, a
/// file or the bandwidth of a disk.
///
///     a ──► b ──► c        section {a, b, c}: it runs from the start of a to the end of c
///     d ──► e              section {d, e}; with at_once = 1 either waits for the end of the other
struct step_group {
    std::vector<std::vector<step_id>> sections = {}; ///< each one step, or several
    std::size_t at_once = 1;                         ///< at least 1
};

/// How long steps take, and what a schedule has to keep.
struct handoff_options {
    /// In any unit; at least 1, and less than 2^64 - 1 together.
    per_value<std::uint64_t, step_id> duration = std::uint64_t{1};
    /// The accepted makespan is that of a schedule for so many workers; 0: one worker per step, so no
    /// execution becomes longer.
    std::size_t workers = 0;
    std::uint64_t longest = 0; ///< the accepted makespan; 0: the shortest that is found
    /// Of all arenas together: the shortest schedule that is found within them is accepted, and few steps
    /// wait that need not within these bytes.
    byte_count most_bytes = no_limit;
    bool few_waits = true; ///< false: all sharing that the schedule allows, with any number of waits
    /// Thousandths of an arena: smaller gains are not worth waits. Without effect with `most_bytes`, and for
    /// pools with a capacity: these bytes may be used for fewer waits.
    std::uint32_t minimum_gain = 5;
    std::vector<handoff> handoffs = {};      ///< order besides data and edges that the execution keeps
    std::vector<step_group> groups = {};     ///< the plan gets hand-offs between their sections
    /// Each worker runs its steps in the order of the schedule, as a stream of a device does: the plan gets
    /// hand-offs from each to the next, and one that reuses bytes of its own worker needs no other. With
    /// `workers` 0 there are as many as steps run at once.
    bool keeps_workers = false;
    table<step_id, step_time> schedule = {}; ///< the accepted one; empty: it is searched
};

} // namespace sublet

#endif
