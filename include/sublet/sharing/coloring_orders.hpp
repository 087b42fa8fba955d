// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_COLORING_ORDERS_HPP
#define SUBLET_SHARING_COLORING_ORDERS_HPP

/// Orders of the vertices of a graph, made for giving them slots one after the other.
///
///     a - b - c      smallest last               the last has the fewest neighbours of all (here: e),
///       \ | /                                    the one before it the fewest without it, and so on
///         d - e      largest cardinality first   next is always who has the most neighbours before it
///
/// In the first order every vertex has few neighbours before it: at most the degeneracy of the graph, and no
/// order does better. In the second, in a chordal graph, the neighbours that a vertex has before it are all
/// neighbours of each other (live ranges on a line or on a tree have a chordal interference graph).
///
/// Source: Matula and Beck, "Smallest-last ordering and clustering and graph coloring algorithms", JACM
/// 30(3), 1983; Tarjan and Yannakakis, "Simple linear-time algorithms to test chordality of graphs, test
/// acyclicity of hypergraphs, and selectively reduce acyclic hypergraphs", SIAM J. Computing 13(3), 1984.

#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

struct smallest_last_order {
    std::vector<value_id> order;
    std::uint32_t degeneracy = 0; ///< the most neighbours that a vertex has before it
};

/// Requires:   each edge stands once in the rows of both its ends; no loops.
/// Ensures:    no order has a lower degeneracy. It is filled from the end; of equals the one whose neighbour
///             was taken last, else the lowest id.
/// Complexity: O(V + E) time, O(V) memory.
[[nodiscard]] smallest_last_order smallest_last(csr_graph const& g);

/// Requires:   each edge stands once in the rows of both its ends; no loops.
/// Ensures:    in a chordal graph, the neighbours of a vertex before it are neighbours of each other. Of two
///             equals the one comes whose neighbour came last, else the lowest id.
/// Complexity: O(V + E) time, O(V) memory.
[[nodiscard]] std::vector<value_id> largest_cardinality_first(csr_graph const& g);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/coloring_orders.ipp>
#endif

#endif
