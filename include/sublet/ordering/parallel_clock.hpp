// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_PARALLEL_CLOCK_HPP
#define SUBLET_ORDERING_PARALLEL_CLOCK_HPP

/// When each step begins and ends, if so many workers share the work.
///
///     0 ──► 1 ──► 3       one worker     0 1 2 3       two workers    0 1 3
///     └───► 2 ──► ┘                                                     2
///
/// A clock is a schedule as numbers, and a promise: what it puts one after the other may be made to wait for
/// one another, all of it at once, and no execution takes longer than the clock does. So storage may be
/// shared wherever one life ends before the other begins in the clock (rewriting/handoffs.hpp has the waits).
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

#include <sublet/analysis/dependences.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/per_value.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

using tick_count = std::uint64_t; ///< time, in whatever unit the durations are given

/// When a step runs that may run sooner or later.
enum class clock_side : std::uint8_t {
    earliest, ///< as soon as what it waits for has ended and a worker is free
    latest    ///< the same schedule made backwards, from the end: as late as that allows
};

struct parallel_clock_options {
    std::size_t workers = 0; ///< 0: as many as there are steps
    clock_side side = clock_side::earliest;
};

/// By position of a dependence graph; the two positions of a step that reads early have the same times.
struct clock_times {
    std::vector<tick_count> start;
    std::vector<tick_count> end;  ///< greater than `start`
    tick_count makespan = 0;      ///< when the last step ends; the first begins at 0
    tick_count critical_path = 0; ///< the makespan if workers are no limit
};

namespace detail {

/// When each position ends, if `workers` share them. Positions of no length are no work, only something to
/// wait for; `after` leads from none of them to another.
std::vector<tick_count> list_schedule(csr_rows const& after, csr_rows const& before, std::size_t workers,
                                      std::vector<tick_count> const& length,
                                      std::vector<tick_count> const& path_ahead, bool upwards);

} // namespace detail

/// A schedule of the steps of `g`; `duration` is by step.
///
/// Ensures:    where edges lead from one step to another it ends before the other begins, or just then; of
///             no more steps than there are workers one runs at any moment; no worker rests while a step is
///             ready that could run. The makespan is the critical path where `workers` is 0. Of steps with
///             paths of equal length ahead the lowest position is first (made backwards, the highest).
/// Complexity: O(positions + edges) time and memory; with fewer workers than steps, and a logarithm.
/// Throws:     precondition_error where a duration is 0 or there is not one for each step, or if all
///             durations together exceed 64 bits.
[[nodiscard]] clock_times parallel_clock(dependence_graph const& g,
                                         per_value<tick_count> const& duration = tick_count{1},
                                         parallel_clock_options const& options = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/parallel_clock.ipp>
#endif

#endif
