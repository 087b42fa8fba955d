// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_LOOPS_HPP
#define SUBLET_GRAPH_LOOPS_HPP

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

#include <sublet/graph/concepts.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/nesting.hpp>
#include <sublet/graph/traversal.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

enum class loop_kind : std::uint8_t {
    none,       ///< the node is the header of no loop
    reducible,  ///< every way into the loop is an edge to its header
    irreducible ///< some edge leads into its middle
};

/// Over the numbers of the nodes. `preorder` is a linear order in which every loop is a stretch that begins
/// with its header, and in which edges but the back edges lead onwards if the graph is reducible.
///
/// Unreachable nodes have their loops too, in trees of the search that follow that of the entry. Edges from
/// later trees into earlier ones enter no loop, and lead backwards.
struct loop_forest : nesting {
    std::vector<node_id> parent; ///< by node: the header of the closest loop that it lies in, but is not the
                                 ///< header of; `no_node`: in none
    std::vector<loop_kind> kind; ///< by node: of the loop that it is the header of
    std::size_t loops = 0;
    std::size_t irreducible_loops = 0;

    [[nodiscard]] bool is_reducible() const { return irreducible_loops == 0; }
    [[nodiscard]] bool is_header(node_id n) const { return kind[n] != loop_kind::none; }
    /// n lies in the loop of this header.  O(1)
    [[nodiscard]] bool contains(node_id header, node_id n) const { return is_above(header, n); }
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
#include <sublet/graph/impl/loops.ipp>
#endif

#endif
