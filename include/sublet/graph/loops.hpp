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
#include <utility>
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
    [[nodiscard]] node_id outermost_excluding(node_id n, node_id avoided) const
    {
        node_id result = n;
        for (node_id h = innermost(n); h != no_node && !is_above(h, avoided); h = parent[h]) result = h;
        return result;
    }
};

/// Requires:   `predecessors` is `g` transposed, and `search` its depth-first forest.
/// Complexity: O(V + E d) union-find operations, O(V + E d) memory, d = depth of nesting of irreducible
///             loops, at least one.
[[nodiscard]] inline loop_forest loops(csr_graph const& g, csr_rows const& predecessors,
                                       depth_first_forest const& search)
{
    std::size_t const nodes = g.rows();
    loop_forest forest;
    forest.parent.assign(nodes, no_node);
    forest.kind.assign(nodes, loop_kind::none);

    // Loops found so far are collapsed: every node stands for itself or is represented by a header.
    std::vector<node_id> above(nodes);
    for (std::size_t n = 0; n != nodes; ++n) above[n] = static_cast<node_id>(n);
    auto representative = [&above](node_id n) {
        while (above[n] != n) n = above[n] = above[above[n]];
        return n;
    };

    // Edges into the middle of a loop, handed to its header: lists, linked by index.
    struct entry_edge {
        node_id from;
        std::size_t next;
    };
    constexpr std::size_t none = ~std::size_t{0};
    std::vector<entry_edge> handed;
    std::vector<std::size_t> first_handed;

    std::vector<node_id> body;
    std::size_t tree_end = nodes; // in preorder; what comes later does not belong to the tree of the header
    for (std::size_t at = nodes; at-- != 0;) {
        node_id const header = search.preorder[at];
        auto join = [&](node_id n) {
            if (n == header || forest.parent[n] == header) return;
            forest.parent[n] = header; // which also says that it is in the body
            body.push_back(n);
        };
        body.clear();
        for (node_id p : predecessors[header]) {
            if (!search.is_ancestor(header, p)) continue;
            forest.kind[header] = loop_kind::reducible;
            join(representative(p));
        }
        auto came_from = [&](node_id from) {
            if (search.entered[from] >= tree_end) return;
            node_id const outer = representative(from);
            if (search.is_ancestor(header, outer)) return join(outer);
            forest.kind[header] = loop_kind::irreducible;
            if (first_handed.empty()) first_handed.assign(nodes, none);
            handed.push_back({outer, first_handed[header]});
            first_handed[header] = handed.size() - 1;
        };
        for (std::size_t i = 0; i != body.size(); ++i) {
            node_id const inside = body[i];
            for (node_id p : predecessors[inside]) came_from(p);
            if (first_handed.empty()) continue;
            for (std::size_t e = first_handed[inside]; e != none; e = handed[e].next)
                came_from(handed[e].from);
        }
        for (node_id inside : body) above[inside] = header;
        forest.loops += forest.kind[header] != loop_kind::none;
        forest.irreducible_loops += forest.kind[header] == loop_kind::irreducible;
        if (search.parent[header] == no_node) tree_end = at;
    }
    static_cast<nesting&>(forest) = nest(forest.parent, reverse_postorder(search));
    return forest;
}

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

#endif
