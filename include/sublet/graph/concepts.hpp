// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_CONCEPTS_HPP
#define SUBLET_GRAPH_CONCEPTS_HPP

/// What we ask of a graph: the three free functions of the Boost.Graph protocol, found by ADL.
///
///     auto [v, v_end] = vertices(g);
///     auto [e, e_end] = out_edges(*v, g);
///     auto w = target(*e, g);
///
/// Every Boost graph has them, and this file does not include Boost. Predecessors are derived, never
/// asked for, and vertices are numbered in the order of `vertices(g)`, so no index map is asked for either.
///
/// Each requirement is a concept of its own, because compilers print the names of concepts. Iterators are
/// held to the three-line `cursor` rather than to `std::input_iterator`: <iterator> would cost more than
/// this whole header, and Boost's edge iterators are walked only once anyway.

#include <concepts>
#include <type_traits>
#include <utility>

namespace sublet {

/// Something that points at an item, can move on, and can tell whether it is where another is. It is never
/// assigned: the iterators of a Boost `filtered_graph` with a capturing lambda cannot be.
template <class I>
concept cursor = std::copy_constructible<I> && requires(I i, I const& c) {
                                                   *c;
                                                   {
                                                       ++i
                                                       } -> std::same_as<I&>;
                                                   {
                                                       c == c
                                                       } -> std::convertible_to<bool>;
                                               };

/// A pair {from where, up to where}: what the functions of the protocol return.
template <class R>
concept cursor_pair = requires(R range) {
                          requires cursor<std::remove_cvref_t<decltype(range.first)>>;
                          {
                              range.first == range.second
                              } -> std::convertible_to<bool>;
                      };

template <class R>
using item_of = std::remove_cvref_t<decltype(*std::declval<R&>().first)>;

template <class G>
concept has_vertices = requires(G const& g) {
                           {
                               vertices(g)
                               } -> cursor_pair;
                       };

template <class G>
using vertex_of = item_of<decltype(vertices(std::declval<G const&>()))>;

template <class V>
concept has_order = std::copyable<V> && requires(V const& v) {
                                            {
                                                v < v
                                                } -> std::convertible_to<bool>;
                                        };

template <class G>
concept has_out_edges =
    has_vertices<G> && has_order<vertex_of<G>> && requires(G const& g, vertex_of<G> const& v) {
                                                      {
                                                          out_edges(v, g)
                                                          } -> cursor_pair;
                                                  };

template <class G>
using edge_of = item_of<decltype(out_edges(std::declval<vertex_of<G> const&>(), std::declval<G const&>()))>;

template <class G>
concept has_target = has_out_edges<G> && requires(G const& g, edge_of<G> const& e) {
                                             {
                                                 target(e, g)
                                                 } -> std::convertible_to<vertex_of<G>>;
                                         };

/// A list of lists, which no function can be found for by ADL. Named so that compilers say what to do.
template <class G>
inline constexpr bool needs_as_graph = !has_vertices<G> && requires(G const& g) { (*g.begin()).begin(); };

/// All that any entry of the library asks of a graph.
///
/// Semantics:     the same vertex always yields the same edges in the same order; each may be walked again
///                from a fresh call; every target is one of `vertices(g)`.
/// Poorest model: archetype::graph.   Ordinary models: any Boost graph; as_graph(n, successors).
/// Not a model:   a nested vector (no function to find by ADL): wrap it with as_graph, csr_graph.hpp.
template <class G>
concept graph = !
needs_as_graph<G>&& has_vertices<G>&& has_out_edges<G>&& has_target<G>;

} // namespace sublet

#endif
