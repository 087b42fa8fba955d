// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_ORDER_CUTS_HPP
#define SUBLET_ORDERING_ORDER_CUTS_HPP

/// Where an order falls apart into stretches that have nothing to say to each other.
///
///     0 ──► 1 ──► 3 ──► 4 ──► 6        3 comes behind 0 1 2 and before 4 5 6 in every order,
///     └───► 2 ──► ┘ └─► 5 ──► ┘        so any order is one of 0 1 2 3, and then one of 4 5 6
///
/// The peak of an order is the highest of its stretches, and each stretch is searched by itself. Nodes that
/// run on demand (ordering/nodes_on_demand.hpp) are in nobody's way: they go where they are demanded first.
///
/// Source: the split at single nodes is from Ahn et al., "Ordering chaos", MLSys 2020.

#include <sublet/ordering/nodes_on_demand.hpp>
#include <sublet/ordering/order_window.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <vector>

namespace sublet {

struct order_cuts {
    std::vector<node_id> order;     ///< by number in the window
    std::vector<std::size_t> first; ///< by stretch: its first position; and one more, the number of nodes
};

/// Ensures:    `order` is the window's, nodes on demand moved to where they are demanded first: its peak is
///             no higher. Some order with the least peak of all has in each stretch the nodes that this one
///             has.
/// Complexity: O(V + E).
[[nodiscard]] order_cuts cut_order(order_window const& w, demand_graph const& d);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/order_cuts.ipp>
#endif

#endif
