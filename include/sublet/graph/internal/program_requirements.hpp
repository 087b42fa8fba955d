// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_INTERNAL_PROGRAM_REQUIREMENTS_HPP
#define SUBLET_GRAPH_INTERNAL_PROGRAM_REQUIREMENTS_HPP

/// What the concept program is made of: one concept for each member, so that the missing one is named.

#include <sublet/core/ids.hpp>
#include <sublet/graph/internal/id_lists.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace sublet {

class effect_sink;
enum class edge_meaning : std::uint8_t;

namespace detail {

template <class P>
concept has_nodes = requires(P const& p) {
    { p.nodes() } -> std::convertible_to<std::size_t>;
};
template <class P>
concept has_values = requires(P const& p) {
    { p.values() } -> std::convertible_to<std::size_t>;
};
template <class P>
concept has_successors = requires(P const& p, node_id n) {
    { p.successors(n) } -> id_range<node_id>;
};
template <class P>
concept has_effects = requires(P const& p, node_id n, effect_sink& s) { p.effects(n, s); };
template <class P>
concept has_edge_meaning = requires(P const& p) {
    { p.edges() } -> std::same_as<edge_meaning>;
};

} // namespace detail
} // namespace sublet

#endif
