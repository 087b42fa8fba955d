// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_MIRRORED_GRAPH_HPP
#define SUBLET_ORDERING_MIRRORED_GRAPH_HPP

/// The same program backwards in time.
///
///     forwards    0: def a     1: use a, def b     2: use b         live behind each    a    b    -
///     mirrored    2: def b     1: use b, def a     0: use a         live behind each    b    a    -
///
/// Bytes are alive between the first touch and the last, and seen from the end these change places, as what
/// is given and what is kept do. So an order found for the mirror image, read backwards, needs as much: a
/// rule that decides well from the end is the same rule in the mirror.

#include <sublet/ordering/order_graph.hpp>

namespace sublet {

/// Ensures:    an order of the result, reversed, is one of `g`, and has the same peak in both if no step of
///             `g` reads early, no operand may be overwritten by one of several results, and no input goes
///             untouched. Else it is close: what is read early counts as held to the end of its step, such
///             an operand as overwritten by the largest of its results only, such an input not at all.
/// Complexity: O(V + E + touches + pairs).
[[nodiscard]] order_graph mirrored(order_graph const& g);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/mirrored_graph.ipp>
#endif

#endif
