// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_CONTROL_FLOW_HPP
#define SUBLET_GRAPH_CONTROL_FLOW_HPP

/// Depth-first search of a graph, and what follows from it: dominators and loops.

#include <sublet/graph/concepts.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

// --- traversal -------------------------------------------------------------------------------------------

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

namespace sublet {

/// Over the numbers of the nodes. Every node is in it: those that the entry does not reach follow in trees
/// of their own.
struct depth_first_forest {
    std::vector<node_id> preorder;
    std::vector<node_id> postorder;
    std::vector<node_id> parent;          ///< by node; `no_node` for a root
    std::vector<node_id> preorder_index;  ///< by node: its index in preorder
    std::vector<node_id> postorder_index; ///< by node: its index in postorder
    std::size_t reachable = 0;            ///< how many nodes the entry reaches: a prefix of both orders

    [[nodiscard]] bool is_reachable(node_id n) const { return preorder_index[n] < reachable; }
    /// a is b or b was found, through others maybe, from a.
    [[nodiscard]] bool is_ancestor(node_id a, node_id b) const
    {
        return preorder_index[a] <= preorder_index[b] && postorder_index[b] <= postorder_index[a];
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

namespace detail {

/// The nodes of each tree so that its edges but the back edges lead onwards; the trees one after the other,
/// that of the entry first.  O(V)
[[nodiscard]] std::vector<node_id> reverse_postorder(depth_first_forest const& forest);

// --- nesting ---------------------------------------------------------------------------------------------

/// A tree laid out so that every subtree is a stretch: "is a above b" is two comparisons.
///
///         0            preorder   0  1  3  4  2
///        / \                      [==============)   subtree of 0
///       1   2                        [=======)       subtree of 1
///      / \                                       [)  subtree of 2
///     3   4
///
/// Dominator trees and loop forests are both asked that question all the time.

/// Over the numbers of the nodes, which may hang in several trees.
struct preorder_forest {
    std::vector<node_id> preorder;       ///< parents before their children
    std::vector<node_id> preorder_index; ///< by node: its index in preorder
    std::vector<node_id> end;            ///< by node: its subtree is preorder[entered[n] .. end[n])

    /// b is a, or lies below it.
    [[nodiscard]] bool is_ancestor(node_id a, node_id b) const
    {
        return preorder_index[a] <= preorder_index[b] && preorder_index[b] < end[a];
    }
};

/// Lay out the trees that `parent` (by node; `no_node` for a root) describes.
///
/// Requires:   `order` names every node once, parents before children.
/// Ensures:    siblings, and roots, follow each other as in `order`.
/// Complexity: O(nodes) time and memory.
[[nodiscard]] preorder_forest number_preorder(std::vector<node_id> const& parent,
                                              std::vector<node_id> const& order);

} // namespace detail

// --- dominators ------------------------------------------------------------------------------------------

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

/// Over the numbers of the nodes. `preorder` lists siblings in reverse postorder of the search.
///
/// What the entry, node 0, does not reach hangs in trees of its own, one for each tree of the depth-first
/// forest; edges from there into earlier trees dominate nothing.
struct dominator_tree : detail::preorder_forest {
    std::vector<node_id> parent; ///< by node: its closest dominator but itself; `no_node` for a root

    /// Every path from b's root to b leads through a. A node dominates itself.  O(1)
    [[nodiscard]] bool dominates(node_id a, node_id b) const { return is_ancestor(a, b); }
    [[nodiscard]] bool strictly_dominates(node_id a, node_id b) const { return a != b && is_ancestor(a, b); }
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

// --- loops -----------------------------------------------------------------------------------------------

/// The loops of a graph, and which lies in which.
///
///     0 -> 1 -> 2 -> 3 -> 4          loop of 1:  1 [ 2 [ 3 ] ]       header 1, in it the loop of header 2
///               ^----'    |          a linear order in which each loop is a stretch:  0 1 2 3 4 5
///          ^--------------'-> 5
///
/// A loop is what can run again and again: a set of nodes each of which reaches every other inside of it. Its
/// header is the node that the search entered first; take away the edges to the header, and what still goes
/// round are the loops inside. A loop that can be entered elsewhere than at its header is irreducible.
///
/// Source: Havlak, "Nesting of reducible and irreducible loops", ACM TOPLAS 19(4), 1997: Tarjan's collapsing
/// of loops from the inside out (J. Computer and System Sciences 9, 1974), where an edge into the middle of a
/// loop is handed to the loop around it.

/// Over the numbers of the nodes. `preorder` is a linear order in which every loop is a stretch that begins
/// with its header, and in which edges but the back edges lead onwards if the graph is reducible.
///
/// Unreachable nodes have their loops too, in trees of the search that follow that of the entry. Edges from
/// later trees into earlier ones enter no loop, and lead backwards.
struct loop_forest : detail::preorder_forest {
    enum class loop_kind : std::uint8_t {
        none,       ///< the node is the header of no loop
        reducible,  ///< every way into the loop is an edge to its header
        irreducible ///< some edge leads into its middle
    };

    std::vector<node_id> parent; ///< by node: the header of the closest loop that it lies in, but is not the
                                 ///< header of; `no_node`: in none
    std::vector<loop_forest::loop_kind> kind; ///< by node: of the loop that it is the header of
    std::size_t loops = 0;
    std::size_t irreducible_loops = 0;

    [[nodiscard]] bool is_reducible() const { return irreducible_loops == 0; }
    [[nodiscard]] bool is_header(node_id n) const { return kind[n] != loop_forest::loop_kind::none; }
    /// n lies in the loop of this header.  O(1)
    [[nodiscard]] bool contains(node_id header, node_id n) const { return is_ancestor(header, n); }
    /// The header of the closest loop around n, n itself if it is a header; `no_node`: in none.
    [[nodiscard]] node_id innermost(node_id n) const { return is_header(n) ? n : parent[n]; }
    /// The header of the outermost loop around n that does not contain `avoided`; n itself if there is none.
    /// O(nesting depth)
    [[nodiscard]] node_id outermost_excluding(node_id n, node_id avoided) const;
};

/// Requires:   `predecessors` is `g` transposed, and `search` its depth-first forest.
/// Complexity: O(V + E d) union-find operations, O(V + E d) memory, d = depth of nesting of irreducible
///             loops, at least one.
[[nodiscard]] loop_forest loops(csr_graph const& g, csr_rows const& predecessors,
                                depth_first_forest const& search);

template <graph G>
[[nodiscard]] loop_forest loops(G const& g)
{
    if constexpr (std::same_as<G, csr_graph>) {
        return loops(g, g.transposed(g.rows()), depth_first(g));
    } else {
        return loops(as_graph(g));
    }
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/graph/impl/control_flow.ipp>
#endif

#endif
