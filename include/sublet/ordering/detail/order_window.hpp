// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_ORDER_WINDOW_HPP
#define SUBLET_ORDERING_DETAIL_ORDER_WINDOW_HPP

/// Makes a window of an order a problem of its own, in O(k log k) for its k touches, edges and pairs.

#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>

#include <cstddef>
#include <span>

// --- order window ----------------------------------------------------------------------------------------

/// A window of an order as a graph of its own: the nodes before it have run, and buffers used after it stay.
///
///     order    0  1 [ 2  3  4 ] 5  6          a   given: 1 has written it
///     a        . [=========)                  b   kept: 6 reads it
///     b        .  .  . [=============)        c   live through: no node of the window touches it
///     c        [====================)
///
/// The live bytes before and after the window do not depend on the order of its nodes.

namespace sublet::detail {

struct order_window {
    table<node_id, node_id> nodes;        ///< of each node of the window: its id in the whole graph
    order_graph graph;                    ///< nodes and buffers renumbered, nodes in their given order
    byte_count live_through = 0;          ///< bytes live throughout, without the next ones
    byte_count untouched_input_bytes = 0; ///< given bytes never touched, live while the first step runs
    bool is_at_start = false;             ///< no node has run before
};

/// Requires:   `walk` has run all nodes before the window; `nodes` may run next in the given order.
/// Complexity: O(k log k) for a window with k touches, edges and pairs, plus O(buffers) at the start of a
///             program.
/// Throws:     precondition_error if a node is named twice, or before a predecessor in the window.
[[nodiscard]] order_window window_of(order_graph const& g, peak_walk const& walk,
                                     std::span<node_id const> nodes);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/order_window.ipp>
#endif

#endif
