// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_ORDER_BOUND_HPP
#define SUBLET_ORDERING_ORDER_BOUND_HPP

/// What is alive while a node runs, in whatever order.
///
///     0: def a ──► 1: use a, def b ──► 3: use a, use b      a is alive while 1 runs: 0 is before it in every
///         └──────► 2: use a, def c                          order, and 3 behind. While 2 runs it is too.
///
/// A buffer that some node before n touches and some node behind n, before and behind in every order, is
/// alive while n runs; so are those that n touches. The node with most of that needs it in every order, and
/// nothing is searched to know so.

#include <sublet/ordering/order_graph.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

namespace detail {

/// Each node once, behind those that it waits for.  O(V + E)
std::vector<node_id> any_order(order_graph const& g);

/// The most that is alive while some node runs, whatever ran before, if something did.
byte_count least_while_any_runs(order_graph const& g);

} // namespace detail

/// Bytes that are alive at some time in every order of the nodes.
///
/// Requires:   the graph has no violation.
/// Ensures:    never more than the least peak of an order. For graphs with very many nodes and buffers only
///             what each node touches itself is counted.
/// Complexity: O((V + E) buffers / 64 + touches) time, and a sum of what is alive anyway at each node; O(V +
///             touches) memory.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] byte_count order_lower_bound(order_graph const& g);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/order_bound.ipp>
#endif

#endif
