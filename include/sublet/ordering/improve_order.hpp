// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPROVE_ORDER_HPP
#define SUBLET_ORDERING_IMPROVE_ORDER_HPP

/// Lower an order where it is highest, again and again.
///
///     bytes            _                             _           the stretch round the peak is searched for
///               _   __/ \__     _             _   __/ \_  _      its best order; then another place is the
///             _/ \_/[      ]\__/ \_         _/ \_/[    ]\/ \_    highest, or a wider stretch is tried
///
/// What a stretch of an order needs depends on its own order only, and every way to run it leaves the same
/// bytes alive. So no search elsewhere is lost. Where the stretches that a search can master do not help, the
/// whole order is scheduled again, with itself as rank: that moves nodes across any distance.
///
/// Source: exchanging a part for its best is large neighbourhood search as of Shaw, "Using constraint
/// programming and local search methods to solve vehicle routing problems", CP 1998.

#include <sublet/ordering/least_peak.hpp>
#include <sublet/ordering/node_order.hpp>
#include <sublet/ordering/order_graph.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

struct improve_limits {
    std::uint64_t states = 20'000;       ///< sets of nodes visited at most, by all searches together
    std::uint64_t window_states = 1'000; ///< by one of them
    std::size_t widest = 72;             ///< nodes of a stretch
    std::uint32_t turns = 4;             ///< of searches and schedules
    least_peak_limits schedules = {};    ///< how often the whole order is scheduled again; has the floor, too
};

/// Requires:   `order` names every node once, each behind those that it waits for; or the graph has a
///             violation, which is then that of the result.
/// Ensures:    never a higher peak than `order` has, nor than the listed order. The same on every platform.
/// Complexity: the searches visit as many sets of nodes as `limits` allow; each stretch costs besides what
///             its nodes and those it lies away from the last one do.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] node_order improve_order(order_graph const& g, std::vector<node_id> order,
                                       improve_limits const& limits = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/improve_order.ipp>
#endif

#endif
