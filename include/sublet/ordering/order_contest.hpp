// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_ORDER_CONTEST_HPP
#define SUBLET_ORDERING_ORDER_CONTEST_HPP

/// Several orders enter, the one with the least peak stays.
///
///     listed 128    depth first 112    longest path 144    reversed 96        reversed wins, listed was 128

#include <sublet/ordering/node_order.hpp>
#include <sublet/ordering/order_graph.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

class order_contest {
public:
    /// The listed order is in it from the beginning, or the nearest to it that can run; `floor`: no order has
    /// a lower peak. A graph without any order has the same violation in the result.
    ///
    /// Requires: the graph outlives the contest.
    explicit order_contest(order_graph const& g, byte_count floor = 0);

    /// Returns whether it is better than all before; of equal ones the first stays.
    bool enter(std::vector<node_id> order, order_method how);
    /// The same order backwards.
    bool enter_reversed(std::vector<node_id> const& mirrored, order_method how)
    {
        return enter({mirrored.rbegin(), mirrored.rend()}, how);
    }

    [[nodiscard]] node_order const& best() const { return best_; }
    /// Nobody can win any more.
    [[nodiscard]] bool is_over() const { return best_.violation || best_.peak <= best_.lower_bound; }

private:
    order_graph const& g_;
    node_order best_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/order_contest.ipp>
#endif

#endif
