// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ADAPT_BOOST_GRAPH_HPP
#define SUBLET_ADAPT_BOOST_GRAPH_HPP

/// Makes `csr_graph`, such as a flat control-flow graph or an interference graph, a model of the concepts of
/// the Boost Graph Library: VertexListGraph, EdgeListGraph, IncidenceGraph and AdjacencyGraph. Link
/// `sublet::boost` to use it. The library never includes this header, and accepts Boost graphs without it.
///
///     boost::breadth_first_search(g, 0u, boost::visitor(visitor));   // g: a csr_graph
///
/// For Boost a csr_graph is *directed*: an interference graph has each edge twice, once per direction.
/// Colourings and searches work; for an algorithm on undirected graphs, which does not compile, use its
/// directed counterpart, such as strong_components for connected_components. An edge is the pair of its ends:
/// parallel edges share one entry of a property map.

#include <sublet/adapt/detail/edge_list_cursor.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/property_map/property_map.hpp>
#include <cstddef>
#include <iterator>
#include <utility>

namespace sublet {

inline csr_graph::vertex_cursor operator++(csr_graph::vertex_cursor& at, int) { return {at.at++}; }
inline csr_graph::edge_cursor operator++(csr_graph::edge_cursor& at, int) { return {at.from, at.at++}; }
inline std::pair<detail::edge_list_cursor, detail::edge_list_cursor> edges(csr_graph const& g)
{
    if (g.rows() == 0) return {{g, 0, nullptr}, {g, 0, nullptr}};
    auto const last = node_id::of(g.rows() - 1);
    return {{g, 0, g[0].data()}, {g, last, g[last].data() + g[last].size()}};
}
inline std::size_t num_edges(csr_graph const& g) { return g.items(); }
inline std::pair<node_id const*, node_id const*> adjacent_vertices(node_id v, csr_graph const& g)
{
    return {g[v].data(), g[v].data() + g[v].size()};
}
inline boost::typed_identity_property_map<node_id> get(boost::vertex_index_t, csr_graph const&) { return {}; }
inline node_id get(boost::vertex_index_t, csr_graph const&, node_id v) { return v; }

} // namespace sublet

template <>
struct std::iterator_traits<sublet::csr_graph::vertex_cursor>
    : sublet::detail::cursor_traits<sublet::node_id> {};
template <>
struct std::iterator_traits<sublet::csr_graph::edge_cursor>
    : sublet::detail::cursor_traits<sublet::csr_graph::edge> {};
template <>
struct std::iterator_traits<sublet::detail::edge_list_cursor>
    : sublet::detail::cursor_traits<sublet::csr_graph::edge> {};

namespace boost {

template <>
struct graph_traits<sublet::csr_graph> {
    using vertex_descriptor = sublet::node_id;
    using edge_descriptor = sublet::csr_graph::edge;
    using directed_category = directed_tag;
    using edge_parallel_category = allow_parallel_edge_tag;
    struct traversal_category : incidence_graph_tag,
                                adjacency_graph_tag,
                                vertex_list_graph_tag,
                                edge_list_graph_tag {};

    using vertex_iterator = sublet::csr_graph::vertex_cursor;
    using out_edge_iterator = sublet::csr_graph::edge_cursor;
    using edge_iterator = sublet::detail::edge_list_cursor;
    using adjacency_iterator = sublet::node_id const*;
    using in_edge_iterator = void; // use transposed() for predecessors
    using vertices_size_type = std::size_t;
    using edges_size_type = std::size_t;
    using degree_size_type = std::size_t;

    static constexpr vertex_descriptor null_vertex() { return sublet::no_node; }
};
template <> // some algorithms deduce the const
struct graph_traits<sublet::csr_graph const> : graph_traits<sublet::csr_graph> {};

template <>
struct property_map<sublet::csr_graph, vertex_index_t> {
    using type = typed_identity_property_map<sublet::node_id>;
    using const_type = type;
};
template <>
struct property_map<sublet::csr_graph const, vertex_index_t>
    : property_map<sublet::csr_graph, vertex_index_t> {};

} // namespace boost

#endif
