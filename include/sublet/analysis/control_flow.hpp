// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_CONTROL_FLOW_HPP
#define SUBLET_ANALYSIS_CONTROL_FLOW_HPP

/// Computes the depth-first forest of a graph in O(V + E), its dominator tree in two passes of O(V + E)
/// intersections if loops are reducible, and its loop nesting forest in O(V + E d) union-find operations (d:
/// nesting depth of irreducible loops). All are exact, and include unreachable nodes. Each names its source.

#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

// --- traversal -------------------------------------------------------------------------------------------

///     0 -> 1 -> 3        preorder    0 1 3 2
///     0 -> 2 -> 3        postorder   3 1 2 0
///
/// Reverse postorder is a topological order of an acyclic graph and a good iteration order for forward data
/// flow. Every cycle contains a back edge: an edge to an ancestor in the search tree.
///
/// Source: Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Computing 1(2), 1972.

namespace sublet {

/// Contains every node: nodes that the entry does not reach follow in trees of their own.
struct depth_first_forest {
    std::vector<node_id> preorder;                 ///< the nodes in the order in which the search enters them
    std::vector<node_id> postorder;                ///< the nodes in the order in which the search leaves them
    table<node_id, node_id> parent;                ///< of each node; `no_node` for a root
    table<node_id, std::uint32_t> preorder_index;  ///< of each node: its index in preorder
    table<node_id, std::uint32_t> postorder_index; ///< of each node: its index in postorder
    std::size_t reachable = 0; ///< number of nodes that the entry reaches: a prefix of both orders

    /// The entry reaches n.
    [[nodiscard]] bool is_reachable(node_id n) const { return preorder_index[n] < reachable; }
    /// a is b, or an ancestor of b in the search tree.
    [[nodiscard]] bool is_ancestor(node_id a, node_id b) const
    {
        return preorder_index[a] <= preorder_index[b] && postorder_index[b] <= postorder_index[a];
    }
    /// An edge from u to v would lead to an ancestor of u, or to u itself.
    [[nodiscard]] bool is_back_edge(node_id u, node_id v) const { return is_ancestor(v, u); }
};

/// The depth-first forest of a graph, searched from node 0.
///
/// Ensures:    successors are followed in the order of their edges; the first tree is that of node 0, and
///             the root of each later one is the lowest node not yet found.
/// Complexity: O(V + E) time, O(V) memory.
[[nodiscard]] depth_first_forest depth_first(csr_graph const& g);

/// The same for any graph, copied first.
template <graph G>
    requires(!std::same_as<G, csr_graph>)
[[nodiscard]] depth_first_forest depth_first(G const& g)
{
    return depth_first(as_graph(g));
}

namespace detail {

/// Reverse postorder in each tree: only back edges lead backwards; the tree of the entry is first.  O(V)
[[nodiscard]] std::vector<node_id> reverse_postorder(depth_first_forest const& forest);

// --- preorder forest -------------------------------------------------------------------------------------

/// A forest in preorder, in which each subtree is contiguous: an ancestor test takes two comparisons.
///
///         0            preorder   0  1  3  4  2
///        / \                      [==============)   subtree of 0
///       1   2                        [=======)       subtree of 1
///      / \                                       [)  subtree of 2
///     3   4

struct preorder_forest {
    std::vector<node_id> preorder;                ///< parents before their children
    table<node_id, std::uint32_t> preorder_index; ///< of each node: its index in preorder
    /// Of each node n: its subtree is preorder[preorder_index[n] .. end[n]).
    table<node_id, std::uint32_t> end;

    /// b is a, or a descendant of a.
    [[nodiscard]] bool is_ancestor(node_id a, node_id b) const
    {
        return preorder_index[a] <= preorder_index[b] && preorder_index[b] < end[a];
    }
};

/// Numbers the trees that `parent` (by node; `no_node` for a root) describes.
///
/// Requires:   `order` contains every node once, parents before children.
/// Ensures:    siblings, and roots, are in the relative order of `order`.
/// Complexity: O(nodes) time and memory.
[[nodiscard]] preorder_forest number_preorder(table<node_id, node_id> const& parent,
                                              std::vector<node_id> const& order);

} // namespace detail

// --- dominators ------------------------------------------------------------------------------------------

/// Dominators: node a dominates node b if every path from the entry to b contains a.
///
///        0               0             The dominators of a node form a chain, so the relation is a tree:
///       / \            / | \           the parent of a node is its immediate dominator.
///      1   2    ->    1  2  3
///       \ /
///        3                             Neither branch dominates the node where they join.
///
/// Source: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", Rice University TR-06-33870,
/// 2001: intersect the dominators of the predecessors, in reverse postorder, until nothing changes.

/// `preorder` lists siblings in reverse postorder of the search. Nodes that the entry, node 0, does not reach
/// are in trees of their own, one for each tree of the search. Their edges into earlier trees are ignored.
struct dominator_tree : detail::preorder_forest {
    table<node_id, node_id> parent; ///< of each node: its immediate dominator; `no_node` for a root

    /// Every path from the root of b to b contains a. A node dominates itself.  O(1)
    [[nodiscard]] bool dominates(node_id a, node_id b) const { return is_ancestor(a, b); }
    /// a dominates b and is not b.
    [[nodiscard]] bool strictly_dominates(node_id a, node_id b) const { return a != b && is_ancestor(a, b); }
};

/// The dominator tree of a graph with the entry 0.
///
/// Requires:   `predecessors` is `g` transposed, and `search` its depth-first forest.
/// Complexity: O(V + E) intersections per pass, each at most the height of the tree; two passes unless a loop
///             has several entries. O(V) memory.
[[nodiscard]] dominator_tree dominators(csr_graph const& g, csr_rows<node_id, node_id> const& predecessors,
                                        depth_first_forest const& search);

/// The same, with predecessors and search made here.
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

///     0 -> 1 -> 2 -> 3 -> 4          loop of 1:  1 [ 2 [ 3 ] ]       header 1, in it the loop of header 2
///               ^----'    |          an order in which each loop is contiguous:  0 1 2 3 4 5
///          ^--------------'-> 5
///
/// A loop is a set of nodes each of which reaches every other within the set. Its header is the node that the
/// search entered first; without the edges to the header, the cycles that remain are the inner loops. A loop
/// with an entry other than its header is irreducible.
///
/// Source: Havlak, "Nesting of reducible and irreducible loops", ACM TOPLAS 19(4), 1997: Tarjan's collapsing
/// of loops from the inside out (J. Computer and System Sciences 9, 1974), where an edge into the middle of a
/// loop is passed to the enclosing loop.

/// `preorder` is an order in which every loop is contiguous and begins with its header, and in which only
/// back edges lead backwards if the graph is reducible. Loops of unreachable nodes are found too, in later
/// trees of the search; edges from these into earlier trees do not count as loop entries, and lead backwards.
struct loop_forest : detail::preorder_forest {
    /// What a node is the header of.
    enum class loop_kind : std::uint8_t {
        none,       ///< the node is the header of no loop
        reducible,  ///< the header is the only entry
        irreducible ///< some edge enters the loop at another node
    };

    /// Of each node: header of the closest other loop around it, or `no_node`.
    table<node_id, node_id> parent;
    table<node_id, loop_forest::loop_kind> kind; ///< of the loop with this header
    std::size_t loops = 0;                       ///< how many loops there are
    std::size_t irreducible_loops = 0;           ///< how many of them are irreducible

    /// Every loop is entered at its header only.
    [[nodiscard]] bool is_reducible() const { return irreducible_loops == 0; }
    /// n is the header of a loop.
    [[nodiscard]] bool is_header(node_id n) const { return kind[n] != loop_forest::loop_kind::none; }
    /// n is in the loop of `header`; the header itself is.
    [[nodiscard]] bool contains(node_id header, node_id n) const { return is_ancestor(header, n); }
    /// The header of the innermost loop around n, n itself if it is a header; `no_node`: in none.
    [[nodiscard]] node_id innermost(node_id n) const { return is_header(n) ? n : parent[n]; }
    /// The header of the outermost loop around n without `avoided`, n if there is none.  O(nesting depth)
    [[nodiscard]] node_id outermost_excluding(node_id n, node_id avoided) const;
};

/// The loops of a graph with the entry 0, and how they are nested.
///
/// Requires:   `predecessors` is `g` transposed, and `search` its depth-first forest.
/// Complexity: O(V + E d) union-find operations and O(V + E d) memory, d = nesting depth of irreducible
///             loops, at least 1.
[[nodiscard]] loop_forest loops(csr_graph const& g, csr_rows<node_id, node_id> const& predecessors,
                                depth_first_forest const& search);

/// The same, with predecessors and search made here.
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
#include <sublet/analysis/impl/control_flow.ipp>
#endif

#endif
