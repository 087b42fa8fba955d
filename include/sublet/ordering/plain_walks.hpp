// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_PLAIN_WALKS_HPP
#define SUBLET_ORDERING_PLAIN_WALKS_HPP

/// Orders that follow the graph alone.
///
///     0 ──► 2 ──► 4      breadth first   0 1 2 3 4      all branches side by side
///     1 ──► 3            depth first     0 2 4 1 3      one branch after the other
///                        on demand       1 3 0 2 4      from the ends: 3 first, it is listed before 4
///
/// They cost next to nothing, and each is now and then the best of all: what suits a network depends on
/// whether its branches make values smaller or larger.

#include <sublet/ordering/order_graph.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// What has been ready longest runs first; of what became ready at once, what is listed first.
///
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<node_id> breadth_first(order_graph const& g);

/// What became ready last runs first; of what became ready at once, what is listed first.
///
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<node_id> depth_first(order_graph const& g);

/// For each end, in the listed order, what it waits for runs first, each of those likewise; what is listed
/// first is asked for first.
///
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<node_id> on_demand(order_graph const& g);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/plain_walks.ipp>
#endif

#endif
