// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_SERIES_PARALLEL_HPP
#define SUBLET_ORDERING_DETAIL_SERIES_PARALLEL_HPP

/// Orders the series-parallel parts of a graph once and for all: trees and series-parallel graphs as a whole,
/// of others each branch between two nodes. What is left for a search is a graph with fewer nodes.

#include <sublet/core/ids.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/ordering/detail/order_graph.hpp>

#include <cstdint>
#include <vector>

// --- series-parallel parts -------------------------------------------------------------------------------

/// A branch is an edge of a graph that is reduced, with the nodes that run on it, in order. At first it has
/// none. A source node before all nodes and a sink node after them make trees of branches.
///
///     in series      a ──► n ──► b                becomes  a ── n ──► b
///     in parallel    a ── 1 2 ──► b, a ── 3 ──► b  becomes  a ── 3 1 2 ──► b, or whichever order is best
///
/// While a branch runs, the node that it leaves has run and the one that it enters has not. It is closed if
/// no other node touches a buffer that begins or ends on it: then the bytes that its nodes add do not depend
/// on other nodes. Closed branches are cut into segments at their valleys, the fewest live bytes first:
///
///     bytes     ┌─┐                   a segment rises, then ends at a valley: before the lowest valley each
///           ─┐ ┌┘ │     ┌──┐          is lower than all before it, and after the lowest, than all that
///            └─┘  │ ┌─┐ │  └─         follow; so peaks rise towards the lowest and fall from there
///                 └─┘ └─┘
///          left     │ right
///
/// Lemma. Some order of least peak runs each segment without a pause. If branches are parallel, it runs all
/// segments up to the lowest valleys first, those with the smallest rises first, then the others, those that
/// fall most from their peaks first. So the parallel branches are replaced by this one, in any graph around
/// them: the sum of bytes at the lowest valleys is least among all states, so whatever order runs around
/// them, stopping there costs nothing (live bytes are submodular; least_live.hpp), and each side of it is a
/// problem of chains, which an exchange of neighbouring segments solves.
///
/// Source: Liu, "An application of generalized tree pebbling to sparse matrix factorization", SIAM J. Alg.
/// Disc. Meth. 8, 1987, for trees; Kayaaslan, Lambert, Marchal and Uçar, "Scheduling series-parallel task
/// graphs to minimize peak memory", Theoretical Computer Science 707, 2018. The reductions are those of
/// Valdes, Tarjan and Lawler, "The recognition of series parallel digraphs", SIAM J. Computing 11, 1982.

namespace sublet::detail {

/// A graph of runs: nodes of another that run one after the other.
struct contracted_graph {
    order_graph graph;                 ///< a node for each run, with the steps of its nodes
    csr_rows<node_id, node_id> run_of; ///< of each of its nodes: those of the original graph, in order
    bool is_path = false;              ///< it has one order

    /// An order of the original graph.
    [[nodiscard]] std::vector<node_id> expanded(std::vector<node_id> const& order) const;
};

/// Ensures:    each order of the result, expanded, is one of `g` with the same peak, and some order of the
///             result has the least peak of `g`. If the graph is series-parallel with closed branches, the
///             result is a path.
/// Complexity: O(V + E + touches) for the reductions. k parallel branches of s segments together take
///             O(s log k); nested in a row, O(V^2) in the worst case: merges end when they have looked at
///             `most` (V + E + touches) segments. Nothing is merged if all buffers together have 2^63 bytes
///             or more.
/// Requires:   the graph has no error.
[[nodiscard]] contracted_graph contracted(order_graph const& g, std::uint64_t most = 64);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/series_parallel.ipp>
#endif

#endif
