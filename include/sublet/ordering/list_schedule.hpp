// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_LIST_SCHEDULE_HPP
#define SUBLET_ORDERING_LIST_SCHEDULE_HPP

/// Run whatever gives memory back as soon as it can run, all else in the order that a rank says.
///
///     rank 0 1 2 3 4        0 ──► 1 ──► 4        1 makes 64 bytes of 8; 3 makes 1 byte of 32
///                           2 ──► 3 ──► ┘        runs 0 2 3 1 4: nothing that grows fits below the goal
///                                                 before 3 has given its 31 bytes back
///
/// The least peak first: of the nodes that fit below the peak so far, or below a goal that is aimed at
/// anyway, that which leaves the fewest bytes behind; if none fits, the one that raises the peak least. That
/// decides well among nodes that give bytes back, and badly among those that take some: the smallest of them
/// is begun on every branch, and all branches then lie about half done. So those may go by rank instead, by
/// an order that finishes what it begins.
///
/// Source: the first rule is that of PyTorch Inductor's reordering for peak memory (2024); there the choice
/// is a pass over all ready nodes, here one way down a tree. The goal and the rank are ours.

#include <sublet/ordering/order_graph.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

struct schedule_rule {
    byte_count goal = 0; ///< a peak that costs nothing; 0: only what has been reached
    bool growing_by_size =
        true; ///< of nodes that leave more alive than before the smallest first; else by rank
};

/// Requires:   `preferred` names every node once; the graph has no violation.
/// Ensures:    an order in which the program can run. Ties go to whoever comes first in `preferred`.
/// Complexity: O(E + touches log V); for nodes of several steps, with pairs or early reads besides a run of
///             theirs whenever one of their buffers begins or comes to its last node.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] std::vector<node_id> list_schedule(order_graph const& g, std::vector<node_id> const& preferred,
                                                 schedule_rule const& rule = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/list_schedule.ipp>
#endif

#endif
