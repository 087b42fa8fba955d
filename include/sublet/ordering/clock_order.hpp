// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_CLOCK_ORDER_HPP
#define SUBLET_ORDERING_CLOCK_ORDER_HPP

/// A dependence graph with its positions numbered as a clock starts them.
///
///     position   0   1   2   3   4        position   0   2   4   1   3
///     start      0   5   0   9   5        start      0   0   5   5   9       becomes   0 1 2 3 4
///
/// Whoever ends in the clock before somebody begins then ends before all of a row of positions: what a clock
/// allows is the rest of the row, without holes.

#include <sublet/analysis/dependences.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/keyed.hpp>
#include <sublet/ordering/parallel_clock.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet {

struct clocked_graph {
    dependence_graph graph;
    clock_times clock; ///< `start` ascends
};

/// Requires:   `clock` is a clock of `g`.
/// Ensures:    the same order of steps; positions ascend by start, then as they did.
/// Complexity: O(V log V + E).
[[nodiscard]] inline clocked_graph in_clock_order(dependence_graph const& g, clock_times const& clock)
{
    std::size_t const n = g.positions();
    SUBLET_EXPECTS(clock.start.size() == n, "sublet: the clock is of another graph");
    std::vector<keyed> order;
    order.reserve(n);
    for (step_id at = 0; at != n; ++at) order.push_back({clock.start[at], 0, at});
    sort_keyed(order);
    std::vector<step_id> place(n);
    for (step_id i = 0; i != n; ++i) place[order[i].who] = i;

    clocked_graph result;
    result.graph.before = csr_rows::gathered(n, [&](auto add) {
        for (step_id i = 0; i != n; ++i)
            for (step_id next : g.after[order[i].who]) add(place[next], i);
    });
    result.graph.after = result.graph.before.transposed(n);
    result.clock.makespan = clock.makespan;
    result.clock.critical_path = clock.critical_path;
    for (keyed const& o : order) {
        result.graph.step_at.push_back(g.step_at[o.who]);
        result.clock.start.push_back(clock.start[o.who]);
        result.clock.end.push_back(clock.end[o.who]);
    }
    for (step_id at : g.position_of) result.graph.position_of.push_back(place[at]);
    return result;
}

} // namespace sublet

#endif
