// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_EXPLAIN_HPP
#define SUBLET_GRAPH_EXPLAIN_HPP

/// Why is my type not a graph, not a program? In English, one sentence a missing piece.
///
///     sublet::explain_graph<my_graph>();
///     error: static assertion failed: sublet: a graph needs target(e, g): ...
///
/// Include it only where you are stuck, or keep `static_assert(sublet::graph<my_graph>)` next to your type:
/// then the error appears there and not in the first call.

#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>

namespace sublet {

/// Compiles if and only if G is a graph; otherwise the first sentence says what to write.
template <class G>
constexpr bool explain_graph()
{
    if constexpr (!has_vertices<G>) {
        static_assert(!needs_as_graph<G>, "sublet: a nested list is no graph by itself; wrap it: "
                                          "as_graph(g.size(), [&](auto v) -> auto& { return g[v]; })");
        static_assert(has_vertices<G> || needs_as_graph<G>,
                      "sublet: a graph needs vertices(g), found by argument-dependent lookup, that returns a "
                      "pair of iterators");
    } else if constexpr (!has_order<vertex_of<G>>) {
        static_assert(has_order<vertex_of<G>>,
                      "sublet: the vertices of a graph need to be copyable and ordered by <");
    } else if constexpr (!has_out_edges<G>) {
        static_assert(has_out_edges<G>,
                      "sublet: a graph needs out_edges(v, g), found by argument-dependent lookup, that "
                      "returns a pair of iterators");
    } else {
        static_assert(has_target<G>,
                      "sublet: a graph needs target(e, g), found by argument-dependent lookup, that returns "
                      "the vertex which the edge e leads to");
    }
    return graph<G>;
}

/// Compiles if and only if P is a program; otherwise there is a sentence for each member that is missing.
template <class P>
constexpr bool explain_program()
{
    static_assert(has_nodes<P>, "sublet: a program needs nodes() const: how many nodes there are");
    static_assert(has_values<P>, "sublet: a program needs values() const: how many values there are");
    static_assert(has_successors<P>,
                  "sublet: a program needs successors(node_id) const, which returns a list of node ids");
    static_assert(has_effects<P>, "sublet: a program needs effects(node_id, effect_sink&) const, which says "
                                  "what a node reads and writes");
    return program<P>;
}

} // namespace sublet

#endif
