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
#include <sublet/ordering/parallel_clock.hpp>

namespace sublet {

struct clocked_graph {
    dependence_graph graph;
    clock_times clock; ///< `start` ascends
};

/// Requires:   `clock` is a clock of `g`.
/// Ensures:    the same order of steps; positions ascend by start, then as they did.
/// Complexity: O(V log V + E).
[[nodiscard]] clocked_graph in_clock_order(dependence_graph const& g, clock_times const& clock);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/clock_order.ipp>
#endif

#endif
