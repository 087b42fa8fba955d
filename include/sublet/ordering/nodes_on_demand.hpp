// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_NODES_ON_DEMAND_HPP
#define SUBLET_ORDERING_NODES_ON_DEMAND_HPP

/// Nodes that may as well run right before the first that waits for them.
///
///     0: constant ──► 3         nothing is gained by running 0 early, in whatever order 1 and 2 run:
///     1 ──► 2 ──────► 3         1 2 (0 3) needs no more than any order does
///
/// A node that only adds, because whatever it touches is needed behind it in every order, is best run as late
/// as that goes: until then all others have less beside them, and when it runs at last, as much is alive as
/// was before at that time. So constants, views and other small things need not be searched for a place.

#include <sublet/graph/csr_graph.hpp>
#include <sublet/ordering/order_window.hpp>

#include <vector>

namespace sublet {

/// The nodes of a window, those on demand taken out.
struct demand_graph {
    std::vector<unsigned char> on_demand; ///< by node
    csr_rows demanded; ///< by node: those on demand that it waits for, directly or through others of them,
                       ///< ascending; nothing for those on demand themselves
    csr_rows after, before; ///< among all others: who waits for whom, directly or through those on demand
};

/// Ensures:    for every order of the window there is one with no higher peak, in which each node on demand
///             runs right before the first node that demands it, with those that this one demands, ascending,
///             and the others run in the order in which they did.
/// Complexity: O(V + E + touches), for what is not on demand; lists of those on demand are short, or they are
///             not taken out.
[[nodiscard]] demand_graph nodes_on_demand(order_window const& w);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/nodes_on_demand.ipp>
#endif

#endif
