// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_ORDER_WINDOW_HPP
#define SUBLET_ORDERING_ORDER_WINDOW_HPP

/// A stretch of an order as a graph of its own: what ran before has run, and what is needed behind is kept.
///
///     order    0  1 [ 2  3  4 ] 5  6          a   given: 1 has written it
///     a        . [=========)                  b   kept: 6 reads it
///     b        .  .  . [=============)        c   around: it takes its bytes, and nobody here touches it
///     c        [====================)
///
/// Whatever order the stretch runs in, what is alive before and behind it stays the same. So a part of an
/// order is searched with what searches a whole one, and costs what the part costs.

#include <sublet/ordering/order_graph.hpp>
#include <sublet/ordering/peak_walk.hpp>
#include <sublet/units.hpp>

#include <span>
#include <vector>

namespace sublet {

struct order_window {
    std::vector<node_id> nodes;    ///< by number in the window: who it is in the whole graph
    order_graph graph;             ///< nodes and buffers numbered anew, nodes as they stood
    byte_count around = 0;         ///< bytes alive all the time, but for the next ones
    byte_count leave_at_first = 0; ///< bytes that nobody touches, alive while the first step runs
    bool is_at_start = false;      ///< nothing has run before
};

/// Requires:   `walk` has run whatever stands before the window; `nodes` may run next in the order in which
///             they are named.
/// Complexity: O(k log k) for a window with k touches, edges and pairs; at the start of a program and
///             O(buffers).
/// Throws:     precondition_error if a node is named before one of the window that it waits for, or twice.
[[nodiscard]] order_window window_of(order_graph const& g, peak_walk const& walk,
                                     std::span<node_id const> nodes);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/order_window.ipp>
#endif

#endif
