// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_DOMINATORS_HPP
#define SUBLET_GRAPH_DOMINATORS_HPP

/// Node a dominates node b if every path from the entry to b leads through a.
///
///        0               0             The dominators of a node form a chain, so that all of them are a
///       / \            / | \           tree: the parent of a node is its closest dominator.
///      1   2    ->    1  2  3
///       \ /
///        3                             Where both branches meet, neither dominates.
///
/// A definition that dominates its uses is what strict SSA asks for; an edge to a node that dominates where
/// it comes from closes a loop with one entry.
///
/// Source: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", Rice University TR-06-33870,
/// 2001: walk the nodes in reverse postorder, let each look for where its predecessors' chains meet, until
/// nothing moves. Here every tree of the depth-first forest is treated for itself.

#include <sublet/graph/concepts.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/nesting.hpp>
#include <sublet/graph/traversal.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <vector>

namespace sublet {

/// Over the numbers of the nodes. `preorder` lists siblings in reverse postorder of the search.
///
/// What the entry, node 0, does not reach hangs in trees of its own, one for each tree of the depth-first
/// forest; edges from there into earlier trees dominate nothing.
struct dominator_tree : nesting {
    std::vector<node_id> parent; ///< by node: its closest dominator but itself; `no_node` for a root

    /// Every path from b's root to b leads through a. A node dominates itself.  O(1)
    [[nodiscard]] bool dominates(node_id a, node_id b) const { return is_above(a, b); }
    [[nodiscard]] bool strictly_dominates(node_id a, node_id b) const { return a != b && is_above(a, b); }
};

/// Requires:   `predecessors` is `g` transposed, and `search` its depth-first forest.
/// Complexity: O(V + E) chains met a pass, and two passes unless a loop is entered in its middle; a chain is
///             as long as the tree is high. O(V) memory.
[[nodiscard]] dominator_tree dominators(csr_graph const& g, csr_rows const& predecessors,
                                        depth_first_forest const& search);

template <graph G>
[[nodiscard]] dominator_tree dominators(G const& g)
{
    if constexpr (std::same_as<G, csr_graph>) {
        return dominators(g, g.transposed(g.rows()), depth_first(g));
    } else {
        return dominators(as_graph(g));
    }
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/graph/impl/dominators.ipp>
#endif

#endif
