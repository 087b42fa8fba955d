// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_INTERNAL_GRAPH_REQUIREMENTS_HPP
#define SUBLET_GRAPH_INTERNAL_GRAPH_REQUIREMENTS_HPP

/// What the concept graph is made of, each requirement a concept of its own: compilers print the name of the
/// one that is not met. Iterators need only model `cursor`.

#include <sublet/impl/config.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace sublet::detail {

/// Can be dereferenced, incremented and compared, but need not be assignable: the iterators of a Boost
/// `filtered_graph` with a capturing lambda are not.
template <class I>
concept cursor = std::copy_constructible<I> && requires(I i, I const& c) {
    *c;
    { ++i } -> std::same_as<I&>;
    { c == c } -> std::convertible_to<bool>;
};

template <class R>
concept cursor_pair = requires(R range) {
    requires cursor<std::remove_cvref_t<decltype(range.first)>>;
    { range.first == range.second } -> std::convertible_to<bool>;
};

template <class R>
using item_of = std::remove_cvref_t<decltype(*std::declval<R&>().first)>;

template <class G>
concept has_vertices = requires(G const& g) {
    { vertices(g) } -> cursor_pair;
};

template <class G>
using vertex_of = item_of<decltype(vertices(std::declval<G const&>()))>;

template <class V>
concept has_order = std::copyable<V> && requires(V const& v) {
    { v < v } -> std::convertible_to<bool>;
};

template <class G>
concept has_out_edges =
    has_vertices<G> && has_order<vertex_of<G>> && requires(G const& g, vertex_of<G> const& v) {
        { out_edges(v, g) } -> cursor_pair;
    };

template <class G>
using edge_of = item_of<decltype(out_edges(std::declval<vertex_of<G> const&>(), std::declval<G const&>()))>;

template <class G>
concept has_target = has_out_edges<G> && requires(G const& g, edge_of<G> const& e) {
    { target(e, g) } -> std::convertible_to<vertex_of<G>>;
};

/// A list of lists: it has no functions that ADL could find. Named so that compilers print what to do.
template <class G>
inline constexpr bool needs_as_graph = !has_vertices<G> && requires(G const& g) { (*g.begin()).begin(); };

} // namespace sublet::detail

#endif
