// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_TRAVERSAL_HPP
#define SUBLET_GRAPH_TRAVERSAL_HPP

/// Depth-first search, written down: who was found from where, in which order nodes were entered and left.
///
///     0 -> 1 -> 3        entered (preorder)    0 1 3 2
///     0 -> 2 -> 3        left    (postorder)   3 1 2 0
///
/// Left in reverse is a topological order of an acyclic graph and the right order for most data flow. The
/// edges that lead back to a node which is entered and not yet left are those that close cycles.
///
/// Source: Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Computing 1(2), 1972; without
/// recursion, for chains of a million nodes would overflow the stack.

#include <sublet/graph/concepts.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet {

/// Over the numbers of the nodes. Every node is in it: those that the entry does not reach follow in trees
/// of their own.
struct depth_first_forest {
    std::vector<node_id> preorder;
    std::vector<node_id> postorder;
    std::vector<node_id> parent;  ///< by node; `no_node` for a root
    std::vector<node_id> entered; ///< by node: its index in preorder
    std::vector<node_id> left;    ///< by node: its index in postorder
    std::size_t reachable = 0;    ///< how many nodes the entry reaches: a prefix of both orders

    [[nodiscard]] bool is_reachable(node_id n) const { return entered[n] < reachable; }
    /// a is b or b was found, through others maybe, from a.
    [[nodiscard]] bool is_ancestor(node_id a, node_id b) const
    {
        return entered[a] <= entered[b] && left[b] <= left[a];
    }
    /// The edge u -> v leads back to where the search came from: it closes a cycle, and without those edges
    /// no cycle is left.
    [[nodiscard]] bool is_back_edge(node_id u, node_id v) const { return is_ancestor(v, u); }
};

/// Ensures:    successors are followed in the order of their edges; the first tree is that of node 0, and
///             the root of each later one is the lowest node not yet found.
/// Complexity: O(V + E) time, O(V) memory.
[[nodiscard]] depth_first_forest depth_first(csr_graph const& g);

/// The same of any graph, over the numbers of its vertices in the order of `vertices(g)`.
template <graph G>
    requires(!std::same_as<G, csr_graph>)
[[nodiscard]] depth_first_forest depth_first(G const& g)
{
    return depth_first(as_graph(g));
}

/// The nodes of each tree so that its edges but the back edges lead onwards; the trees one after the other,
/// that of the entry first.  O(V)
[[nodiscard]] std::vector<node_id> reverse_postorder(depth_first_forest const& forest);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/graph/impl/traversal.ipp>
#endif

#endif
