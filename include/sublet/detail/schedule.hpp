// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_DETAIL_SCHEDULE_HPP
#define SUBLET_DETAIL_SCHEDULE_HPP

/// Steps at times: when each runs, the storage that buffers need in a schedule, what conflicts, and the
/// hand-offs that keep it. Included by the planner of hand-offs.

#include <sublet/analysis/dependences.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet::detail {

// --- parallel clock --------------------------------------------------------------------------------------

/// When each step begins and ends, if so many workers share the work.
///
///     0 ──► 1 ──► 3       one worker     0 1 2 3       two workers    0 1 3
///     └───► 2 ──► ┘                                                     2
///
/// A clock is a schedule as numbers, and a promise: what it puts one after the other may be made to wait for
/// one another, all of it at once, and no execution takes longer than the clock does. So storage may be
/// shared wherever one life ends before the other begins in the clock (detail/schedule.hpp has the waits).
///
/// That needs every step to take time. Of two steps of no length at one moment each ends before the other
/// begins: each could be made to wait for the other, and nothing would ever run.
///
/// With a worker for every step the clock is the longest path. With fewer, whoever is free takes the ready
/// step with the longest path ahead of it; that is never longer than twice the shortest schedule.
///
/// Source: Hu, "Parallel sequencing and assembly line problems", Operations Research 1961 (the rule);
/// Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied Mathematics 1969 (the
/// factor: 2 - 1/workers).

/// When a step runs that may run sooner or later.
enum class schedule_side : std::uint8_t {
    earliest, ///< as soon as what it waits for has ended and a worker is free
    latest    ///< the same schedule made backwards, from the end: as late as that allows
};

struct parallel_schedule_options {
    std::size_t workers = 0; ///< 0: as many as there are steps
    schedule_side side = schedule_side::earliest;
};

/// By position of a dependence graph; the two positions of a step that reads early have the same times.
struct schedule_times {
    std::vector<tick_count> start;
    std::vector<tick_count> end;  ///< greater than `start`
    tick_count makespan = 0;      ///< when the last step ends; the first begins at 0
    tick_count critical_path = 0; ///< the makespan if workers are no limit
};

/// When each position ends, if `workers` share them. Positions of no length are no work, only something to
/// wait for; `after` leads from none of them to another.
std::vector<tick_count> list_schedule(csr_rows const& after, csr_rows const& before, std::size_t workers,
                                      std::vector<tick_count> const& length,
                                      std::vector<tick_count> const& path_ahead, bool upwards);

/// A schedule of the steps of `g`; `duration` is by step.
///
/// Ensures:    where edges lead from one step to another it ends before the other begins, or just then; of
///             no more steps than there are workers one runs at any moment; no worker rests while a step is
///             ready that could run. The makespan is the critical path where `workers` is 0. Of steps with
///             paths of equal length ahead the lowest position is first (made backwards, the highest).
/// Complexity: O(positions + edges) time and memory; with fewer workers than steps, and a logarithm.
/// Throws:     precondition_error where a duration is 0 or there is not one for each step, or if all
///             durations together exceed 64 bits.
[[nodiscard]] schedule_times parallel_schedule(dependence_graph const& g,
                                               per_value<tick_count> const& duration = tick_count{1},
                                               parallel_schedule_options const& options = {});

// --- clock lives -----------------------------------------------------------------------------------------

/// From when to when each buffer needs its storage, if steps run when a clock says.
///
///     starts     0   0   10   10   12   40        a: begins with a step at 0, ends with one at 30
///     number     0   1   2    3    4    5         a: [0, 5)      who begins at 40 may lie where a was
///
/// Ticks may be nanoseconds, and live ranges have 32 bits. But storage is taken only where a step begins: it
/// is enough to count how many positions start before.

/// The live ranges of buffers, counted in positions by the order in which they start.
///
/// Requires:   `schedule` and `lives` are of one graph.
/// Ensures:    two ranges do not overlap if and only if the steps that touch the one buffer have ended in
///             the clock when the first that touches the other begins. An early read holds its buffer to the
///             end of its step. An input lives from 0, an output to the end; no range is empty.
/// Complexity: O((positions + buffers) log positions + begins + ends) time, O(positions + buffers) memory.
[[nodiscard]] std::vector<live_range> schedule_live_ranges(concurrent_live_ranges const& lives,
                                                           schedule_times const& schedule);

// --- clock order -----------------------------------------------------------------------------------------

/// A dependence graph with its positions numbered as a clock starts them.
///
///     position   0   1   2   3   4        position   0   2   4   1   3
///     start      0   5   0   9   5        start      0   0   5   5   9       becomes   0 1 2 3 4
///
/// Whoever ends in the clock before somebody begins then ends before all of a row of positions: what a clock
/// allows is the rest of the row, without holes.

struct scheduled_graph {
    dependence_graph graph;
    schedule_times schedule; ///< `start` ascends
};

/// Requires:   `schedule` is a clock of `g`.
/// Ensures:    the same order of steps; positions ascend by start, then as they did.
/// Complexity: O(V log V + E).
[[nodiscard]] scheduled_graph in_schedule_order(dependence_graph const& g, schedule_times const& schedule);

// --- clock conflicts -------------------------------------------------------------------------------------

/// Which buffers conflict if some of them may be waited for, as far as a clock does so too.
///
///     position, as the clock starts them     0   1   2   3   4   5   6     a: ends before 2 begins
///     a, under every schedule                [=======)   [===)   [===)
///     a, if who begins at 5 may wait         [=======)   [===)
///     a, if everybody may                    [=======)
///
/// Under every schedule a buffer conflicts with what begins until it ends in the clock, and with some behind:
/// the branches beside it. Whoever begins there could be made to wait, and the clock would not take longer.
/// So ranges behind the end can be taken out for some buffers only, as few as memory asks for.

/// The positions that conflict with each buffer if those that `may_wait` give and take bytes by hand-offs.
///
/// Requires:   positions are numbered as the clock starts them (in_schedule_order); `exact` are the
///             conflicts under every schedule (analysis/dependences.hpp), `in_schedule` those in the clock
///             (schedule_live_ranges).
/// Ensures:    of two buffers that conflict in `exact` the same is said here if they overlap in the clock, or
///             if neither may wait and nobody who may begins where the later one does. No others conflict. A
///             buffer whose ranges would fall into very many pieces counts as one that may wait.
/// Complexity: O(positions + buffers + ranges of `exact` + ranges of the result).
[[nodiscard]] live_range_lists schedule_conflicts(live_range_lists const& exact,
                                                  concurrent_live_ranges const& lives,
                                                  std::vector<live_range> const& in_schedule,
                                                  std::vector<unsigned char> const& may_wait);

// --- handoffs --------------------------------------------------------------------------------------------

/// Which steps must wait for which, so that buffers may lie where a plan for one order has put them.
///
///     offset  64 ┌─────┐┌─────────┐      0 ──► 1      c takes over the bytes of a
///                │  b  ││    d    │      2 ──► 3      d takes over the bytes of b and some of a
///             32 ├─────┴┼─────┬───┤
///                │  a   │  c  │   │      a is last used by 1; the step that makes c has to wait for it,
///              0 └──────┴─────┴───┘      unless edges, or other hand-offs, lead there anyway
///
/// Only who moves in directly after somebody has to ask: whoever was there before has already been waited
/// for. So each byte has one last tenant, and a buffer looks at those of its own bytes. All the waits that
/// come of it are put into the graph at once, and those left out again that a longer path stands for: in a
/// graph without cycles the rest is the smallest set that orders the same steps, and there is only one.

/// Why no waiting makes a plan safe.
struct handoff_clash {
    buffer_id from = no_buffer;   ///< needed to the end,
    buffer_id to = no_buffer;     ///< or this one is there from the start; or neither is named, and
    std::vector<step_id> cycle{}; ///< each of these would wait for the one before, the first for the last
    friend bool operator==(handoff_clash const&, handoff_clash const&) = default;
};

struct handoff_set {
    std::vector<handoff> handoffs;      ///< ascending by `from`, then `to`
    std::vector<byte_count> bytes;      ///< by hand-off: how many change hands across it and nowhere else
    std::size_t takeovers = 0;          ///< how often a buffer takes over bytes of another
    std::size_t waits = 0;              ///< pairs of steps that they put in order and no edge does
    std::optional<handoff_clash> clash; ///< then there are no hand-offs
};

/// The hand-offs that make it safe to run concurrently what is placed so.
///
/// `placed` are the buffers of `lives` with pool, offset and size; one without offset or bytes is left out.
/// Those that share bytes follow each other as their `life`s do, in an order of whole steps: that of a
/// sequential plan, or a clock.
///
/// Requires:   buffers that overlap in bytes do not overlap in life, except where the one may be written over
///             the other in the step that both have in common.
/// Ensures:    with these hand-offs beside the edges of `g`, of two buffers that overlap in bytes one gives
///             to the other; none can be left out. If lives are those of a clock, there is no cycle, and no
///             path is longer than the clock's makespan.
/// Complexity: O((n + w) log n + positions + edges) time for n buffers and w waits between their steps, and
///             what has_indirect_path() takes for the waits: least if positions ascend in the order of lives.
/// Throws:     precondition_error if tables have different lengths, or a buffer ends beyond 64 bits.
[[nodiscard]] handoff_set find_handoffs(dependence_graph const& g, concurrent_live_ranges const& lives,
                                        std::vector<memory_plan::placed_buffer> const& placed);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/schedule.ipp>
#endif

#endif
