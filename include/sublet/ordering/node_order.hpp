// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_NODE_ORDER_HPP
#define SUBLET_ORDERING_NODE_ORDER_HPP

/// The result of an order search over the nodes of a program: the order, its peak of live bytes, and a lower
/// bound on the peak of every order. The peak is never above that of the listed order.
///
///     lower_bound <= peak <= given_peak         the order is proved optimal if the first two are equal

#include <sublet/analysis/dependences.hpp>
#include <sublet/core/units.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

/// An order of the nodes, with its peak and a bound. Converts to false if no order exists: the error is that
/// of dependence_graph, and the other members mean nothing.
struct node_order : verdict {
    /// How an order was found.
    enum class method : std::uint8_t {
        listed,        ///< the listed order, or the nearest possible one
        longest_path,  ///< the node with the longest path to a sink first
        breadth_first, ///< the node that has been ready longest first
        depth_first,   ///< the node that became ready last first
        on_demand,     ///< backwards from the sinks: operands right before their user
        least_peak,    ///< the ready node that needs the fewest bytes first
        reversed,      ///< as least_peak, from the sinks to the sources
        exact,         ///< by a search among all orders
        improved       ///< from one of these, by scheduling or searching parts of it again
    };

    std::vector<node_id> order; ///< every node once, each after its predecessors
    byte_count peak = 0;        ///< of `order`: the most bytes live at any time
    byte_count given_peak = 0;  ///< of the listed order
    byte_count lower_bound = 0; ///< no order has a lower peak
    node_order::method found_by = node_order::method::listed; ///< `order`

    /// Proven: no order has a lower peak. False: not proven.
    [[nodiscard]] bool is_optimal() const { return *this && peak == lower_bound; }
};

} // namespace sublet

#endif
