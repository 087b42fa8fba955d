// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_SCHEDULE_HPP
#define SUBLET_PLANNING_DETAIL_SCHEDULE_HPP

/// Computes a parallel schedule of the steps of a dependence graph on w workers, the live ranges and
/// conflicts of buffers under it, and the fewest hand-offs that make a placement safe. List scheduling by
/// longest path: the makespan is at most 2 - 1/w times the least, in O((positions + edges) log positions).
/// Source: Hu, "Parallel sequencing and assembly line problems", Operations Research 1961 (rule); Graham,
/// "Bounds on multiprocessing timing anomalies", SIAM J. Applied Mathematics 1969 (factor).

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet::detail {

// --- parallel schedule -----------------------------------------------------------------------------------

/// Start and end of each step for a given number of workers.
///
///     0 ──► 1 ──► 3       one worker     0 1 2 3       two workers    0 1 3
///     └───► 2 ──► ┘                                                     2
///
/// A free worker takes the ready step with the longest path ahead. If an execution waits wherever the
/// schedule puts one step after another, it takes no longer than the schedule. So storage may be shared
/// wherever one live range ends before the other begins in the schedule (find_handoffs gives the waits).
///
/// Every duration must be positive. Of two steps of duration 0 at one time each ends before the other begins:
/// each could be made to wait for the other, a deadlock.

/// The start of a step that has slack.
enum class schedule_side : std::uint8_t {
    earliest, ///< as soon as its predecessors have ended and a worker is free
    latest    ///< scheduled backwards from the end: as late as possible
};

struct parallel_schedule_options {
    std::size_t workers = 0; ///< 0: as many as there are steps
    schedule_side side = schedule_side::earliest;
};

/// By position of a dependence graph; the two positions of a step with early reads have the same times.
struct schedule_times {
    table<position_id, std::uint64_t> start;
    table<position_id, std::uint64_t> end; ///< greater than `start`
    std::uint64_t makespan = 0;            ///< end of the last step; the first begins at 0
    std::uint64_t critical_path = 0;       ///< the makespan with unlimited workers
};

/// The end of each position with `workers` workers. Positions of length 0 take no worker and only order
/// others; `after` leads from none of them to another.
table<position_id, std::uint64_t> list_schedule(csr_rows<position_id, position_id> const& after,
                                                csr_rows<position_id, position_id> const& before,
                                                std::size_t workers,
                                                table<position_id, std::uint64_t> const& length,
                                                table<position_id, std::uint64_t> const& path_ahead,
                                                bool upwards);

/// A schedule of the steps of `g`.
///
/// Ensures:    a step begins no earlier than its predecessors end; at most `workers` steps run at any time;
///             no worker is idle while a step is ready. The makespan is the critical path if `workers` is 0.
///             Ties of longest paths go to the lowest position (backwards: to the highest).
/// Complexity: O(positions + edges) time and memory; with fewer workers than steps, times a logarithm.
/// Throws:     precondition_error if a duration is 0, the number of durations is not that of steps, or their
///             sum exceeds 64 bits.
[[nodiscard]] schedule_times
parallel_schedule(dependence_graph const& g,
                  per_value<std::uint64_t, step_id> const& duration = std::uint64_t{1},
                  parallel_schedule_options const& options = {});

// --- schedule live ranges --------------------------------------------------------------------------------

/// The live range of each buffer under a schedule.
///
///     starts     0   0   10   10   12   40        a: begins with a step at 0, ends with one at 30
///     number     0   1   2    3    4    5         a: [0, 5)      a buffer that begins at 40 may reuse a
///
/// The positions that start before are counted, since ticks may need 64 bits and live ranges have 32.

/// Requires:   `schedule` and `lives` are of one graph.
/// Ensures:    two ranges do not overlap if and only if, in the schedule, the steps that touch one buffer
///             have ended when the first that touches the other begins. An early read keeps its buffer live
///             to the end of its step. An input is live from 0, an output to the end; no range is empty.
[[nodiscard]] table<buffer_id, live_range> schedule_live_ranges(concurrent_live_ranges const& lives,
                                                                schedule_times const& schedule);

// --- schedule order --------------------------------------------------------------------------------------

/// A dependence graph with its positions numbered in the order of their starts: the positions that begin
/// after a given end are a suffix.
///
///     position   0   1   2   3   4        position   0   2   4   1   3
///     start      0   5   0   9   5        start      0   0   5   5   9       becomes   0 1 2 3 4

struct scheduled_graph {
    dependence_graph graph;
    schedule_times schedule; ///< `start` ascends
};

/// Requires:   `schedule` is of `g`.
/// Ensures:    the same order of steps; positions ascend by start, then by their old number.
/// Complexity: O(V log V + E).
[[nodiscard]] scheduled_graph in_schedule_order(dependence_graph const& g, schedule_times const& schedule);

// --- schedule conflicts ----------------------------------------------------------------------------------

/// Conflicts in a schedule that every execution keeps.
///
///     position, in schedule order            0   1   2   3   4   5   6     a: ends before 2 begins
///     a, under every schedule                [=======)   [===)   [===)
///     a, in the schedule                     [=======)
///
/// Under every schedule a buffer conflicts with what begins until it ends in this schedule, and with some
/// later positions in parallel branches. A buffer that begins there may wait without making the schedule
/// longer.
///
/// Requires:   positions are numbered in schedule order (in_schedule_order); `exact` are the conflicts under
///             every schedule (analysis/internal/conflict_ranges.hpp), `in_schedule` the live ranges in the
///             schedule (schedule_live_ranges).
/// Ensures:    two buffers that conflict in `exact` conflict here if they overlap in the schedule. No others
///             conflict.
[[nodiscard]] buffer_range_lists conflicts_in_schedule(buffer_range_lists const& exact,
                                                       table<buffer_id, live_range> const& in_schedule);

// --- handoffs --------------------------------------------------------------------------------------------

/// The hand-offs that make a placement for one order safe under concurrent execution.
///
///     offset  64 ┌─────┐┌─────────┐      0 ──► 1      c reuses the bytes of a
///                │  b  ││    d    │      2 ──► 3      d reuses the bytes of b and some of a
///             32 ├─────┴┼─────┬───┤
///                │  a   │  c  │   │      a is last used by 1; the step that defines c must wait for it,
///              0 └──────┴─────┴───┘      unless edges or other hand-offs imply that
///
/// A buffer waits only for the last occupant of each of its bytes; earlier ones have been waited for already.
/// All these waits are added to the graph, and then those implied by a longer path are removed: the
/// transitive reduction is the unique smallest set that orders the same steps.

/// Converts to false if no hand-offs make a placement safe: the first buffer is live to the end or the other
/// one from the start, or steps would wait for each other.
struct handoff_set : verdict {
    std::vector<handoff> handoffs;      ///< ascending by `from`, then `to`
    std::vector<byte_count> bytes;      ///< by hand-off: bytes passed on by this hand-off only
    std::size_t takeovers = 0;          ///< pairs of buffers in which one reuses bytes of the other
    std::size_t waits = 0;              ///< pairs of steps ordered by them and by no edge
};

/// `placed` are the buffers of `lives` with pool, offset and size; one without offset or bytes is ignored.
/// Buffers that share bytes follow each other in the order of their `life`s.
///
/// Requires:   buffers that overlap in bytes do not overlap in live range, unless one may be written over the
///             other in the step that both have in common.
/// Ensures:    with these hand-offs and the edges of `g`, of two buffers that overlap in bytes one ends
///             before the other begins; no hand-off is redundant. If live ranges are those of a schedule,
///             there is no cycle, and no path is longer than its makespan.
/// Complexity: O((n + w) log n + positions + edges) time for n buffers and w waits between their steps, and
///             has_indirect_path() for the waits: least if positions ascend in the order of live ranges.
/// Throws:     precondition_error if tables have different lengths, or the end of a buffer exceeds 64 bits.
[[nodiscard]] handoff_set find_handoffs(dependence_graph const& g, concurrent_live_ranges const& lives,
                                        table<buffer_id, memory_plan::placed_buffer> const& placed);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/schedule.ipp>
#endif

#endif
