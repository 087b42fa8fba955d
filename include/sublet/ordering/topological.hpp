// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_TOPOLOGICAL_HPP
#define SUBLET_ORDERING_TOPOLOGICAL_HPP

/// The listed order, or where a program cannot run so, the nearest to it that it can run in.
///
///     listed 3 0 1 2          0 ──► 1 ──► 3        runs 0 1 3 2: whoever is listed first of those
///                             └───► 2              that need not wait
///
/// Of all nodes that may run next always that with the lowest rank: every order that a program can run in
/// comes of some rank, the listed one of the place in the list.
///
/// Source: Kahn, "Topological sorting of large networks", Communications of the ACM 5, 1962.

#include <sublet/ordering/order_graph.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// By node: its place in the listed order.
[[nodiscard]] std::vector<node_id> listed_places(order_graph const& g);

/// Of the nodes that wait for none the lowest rank runs first; of equal ranks, what is listed first.
///
/// Requires:   `rank` has an entry for each node; the graph has no violation.
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<node_id> order_by_rank(order_graph const& g,
                                                 std::vector<std::uint64_t> const& rank);

/// Ensures:    the listed order itself, if the program can run in it.
/// Complexity: O(V + E) then, else O(E + V log V).
[[nodiscard]] std::vector<node_id> topological(order_graph const& g);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/topological.ipp>
#endif

#endif
