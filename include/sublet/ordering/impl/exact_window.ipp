// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_EXACT_WINDOW_IPP
#define SUBLET_ORDERING_IMPL_EXACT_WINDOW_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/exact_window.hpp>

namespace sublet {

SUBLET_DECL window_order exact_window(order_graph const& g, peak_walk const& walk,
                                      std::span<node_id const> nodes, order_search_limits const& limits)
{
    return exact_window(window_of(g, walk, nodes), limits,
                        [](byte_count, byte_count, std::uint64_t) { return false; });
}

SUBLET_DECL window_order exact_window(order_graph const& g, std::vector<node_id> const& order,
                                      std::size_t first, std::size_t last, order_search_limits const& limits)
{
    SUBLET_EXPECTS(order.size() == g.nodes(), "sublet: an order has to name every node once");
    SUBLET_EXPECTS(first <= last && last <= order.size(), "sublet: a window reaches beyond its order");
    peak_walk walk(g);
    for (std::size_t i = 0; i != first; ++i) walk.run(order[i]);
    return exact_window(g, walk, {order.data() + first, order.data() + last}, limits);
}

} // namespace sublet

#endif
