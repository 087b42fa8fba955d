// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_PARALLEL_CLOCK_IPP
#define SUBLET_ORDERING_IMPL_PARALLEL_CLOCK_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/ordering/parallel_clock.hpp>
#include <sublet/units.hpp>

#include <queue>

namespace sublet::detail {

/// The longest path from each position along `edges`, itself included. Positions are visited in the order
/// of `from`, which has those first that edges lead to.
SUBLET_DECL std::vector<tick_count> longest_paths(csr_rows const& edges,
                                                  std::vector<tick_count> const& length, bool upwards)
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

SUBLET_DECL std::vector<tick_count> list_schedule(csr_rows const& after, csr_rows const& before,
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

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL clock_times parallel_clock(dependence_graph const& g, per_value<tick_count> const& duration,
                                       parallel_clock_options const& options)
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
