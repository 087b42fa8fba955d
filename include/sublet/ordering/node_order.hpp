// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_NODE_ORDER_HPP
#define SUBLET_ORDERING_NODE_ORDER_HPP

/// An order for the nodes of a program, what it needs, and how far that is from what any order needs.
///
///     lower_bound <= peak <= given_peak         optimal, and proved to be, where the first two are equal

#include <sublet/analysis/dependences.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

struct node_order {
    /// How an order was found.
    enum class method : std::uint8_t {
        listed,        ///< as the program lists its nodes, wherever that is possible
        longest_path,  ///< whoever has the longest path to an end first
        breadth_first, ///< what has been ready longest
        depth_first,   ///< what has become ready last
        on_demand,     ///< backwards from the ends: what a node needs right before it
        least_peak,    ///< of what is ready that which needs least
        reversed,      ///< likewise, from the ends to the beginning
        exact,         ///< by search among all orders
        improved       ///< from one of these, stretch by stretch
    };

    std::vector<node_id> order; ///< every node once, each behind those it waits for
    byte_count peak = 0;        ///< of `order`: most bytes alive at any time
    byte_count given_peak = 0;  ///< of the order that the program is listed in
    byte_count lower_bound = 0; ///< what no order goes below
    node_order::method found_by = node_order::method::listed; ///< `order`
    std::optional<dependence_violation> violation = {}; ///< there is no order; then all else is of no use

    [[nodiscard]] bool is_optimal() const { return !violation && peak == lower_bound; }
};

} // namespace sublet

#endif
