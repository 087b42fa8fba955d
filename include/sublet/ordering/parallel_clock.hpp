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
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/keyed.hpp>
#include <sublet/per_value.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <queue>
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

/// The longest path from each position along `edges`, itself included. Positions are visited in the order
/// of `from`, which has those first that edges lead to.
inline std::vector<tick_count> longest_paths(csr_rows const& edges, std::vector<tick_count> const& length,
                                             bool upwards)
{
    std::size_t const n = edges.rows();
    std::vector<tick_count> path(n);
    for (std::size_t i = 0; i != n; ++i) {
        std::size_t const at = upwards ? i : n - 1 - i;
        tick_count longest = 0;
        for (step_id next : edges[at]) longest = larger(longest, path[next]);
        path[at] = longest + length[at];
    }
    return path;
}

/// When each position ends, if `workers` share them. Positions of no length are no work, only something to
/// wait for; `after` leads from none of them to another.
inline std::vector<tick_count> list_schedule(csr_rows const& after, csr_rows const& before,
                                             std::size_t workers, std::vector<tick_count> const& length,
                                             std::vector<tick_count> const& path_ahead, bool upwards)
{
    std::size_t const n = after.rows();
    std::vector<tick_count> end(n);
    std::vector<step_id> waits, free; // `free`: of no length, and nothing to wait for
    waits.reserve(n);
    std::priority_queue<keyed> ready, running; // the greatest on top
    auto found = [&](step_id at) {
        if (length[at] == 0) free.push_back(at);
        else ready.push({path_ahead[at], upwards ? falling(at) : at, at});
    };
    auto finish = [&](step_id at) {
        for (step_id next : after[at])
            if (--waits[next] == 0) found(next);
    };
    for (step_id at = 0; at != n; ++at) waits.push_back(static_cast<step_id>(before[at].size()));
    for (step_id at = 0; at != n; ++at)
        if (before[at].empty()) found(at);
    for (tick_count now = 0;; now = falling(running.top().key)) {
        while (!running.empty() && falling(running.top().key) == now) {
            step_id const at = running.top().who;
            running.pop();
            finish(at);
        }
        while (!free.empty()) {
            step_id const at = free.back();
            free.pop_back();
            finish(at);
        }
        while (!ready.empty() && running.size() != workers) {
            step_id const at = ready.top().who;
            ready.pop();
            end[at] = now + length[at];
            running.push({falling(end[at]), 0, at});
        }
        if (running.empty()) return end;
    }
}

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
[[nodiscard]] inline clock_times parallel_clock(dependence_graph const& g,
                                                per_value<tick_count> const& duration = tick_count{1},
                                                parallel_clock_options const& options = {})
{
    SUBLET_EXPECTS(!g.violation, "sublet: a program without a concurrent reading has no schedule");
    auto const durations = duration.tabulate(g.position_of.size());
    tick_count all = 0;
    for (tick_count d : durations) {
        SUBLET_EXPECTS(d != 0, "sublet: a step takes no time (a clock needs at least 1 for each)");
        all = checked_add(all, d);
    }
    std::size_t const n = g.positions();
    std::vector<tick_count> length(n, 0); // where a step reads early it has not begun to count
    for (std::size_t s = 0; s != durations.size(); ++s) length[g.position_of[s]] = durations[s];

    clock_times clock;
    bool const earliest = options.side == clock_side::earliest;
    csr_rows const &onwards = earliest ? g.after : g.before, &back = earliest ? g.before : g.after;
    bool const is_limited = options.workers != 0 && options.workers < durations.size();
    std::vector<tick_count> end = detail::longest_paths(back, length, earliest);
    for (tick_count t : end) clock.critical_path = larger(clock.critical_path, t);
    clock.makespan = clock.critical_path;
    if (is_limited) {
        end = detail::list_schedule(onwards, back, options.workers, length,
                                    detail::longest_paths(onwards, length, !earliest), earliest);
        for (tick_count t : end) clock.makespan = larger(clock.makespan, t);
    }
    clock.start.reserve(n);
    clock.end.reserve(n);
    for (std::size_t at = 0; at != n; ++at) {
        tick_count const ends = end[g.position_of[g.step_at[at]]], takes = durations[g.step_at[at]];
        clock.start.push_back(earliest ? ends - takes : clock.makespan - ends);
        clock.end.push_back(clock.start.back() + takes);
    }
    return clock;
}

} // namespace sublet

#endif
