// SPDX-License-Identifier: BSL-1.0
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/exact_window.hpp>

// --- order cuts ------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL order_cuts cut_order(order_window const& w, demand_graph const& d)
{
    auto const count = static_cast<node_id>(w.graph.nodes());
    // A node comes behind all before it if each of them has somebody to go before, no later than the node;
    // likewise turned round.
    std::vector<node_id> reach(count, count); // by node: the first that waits for it
    std::vector<node_id> back(count, 0);      // and the last that it waits for, and 1
    for (node_id n = 0; n != count; ++n) {
        if (!d.after[n].empty()) reach[n] = d.after[n].front();
        if (!d.before[n].empty()) back[n] = d.before[n].back() + 1;
    }
    std::vector<node_id> least_back(std::size_t{count} + 1, count); // of those from here on
    for (node_id n = count; n-- != 0;)
        least_back[n] = d.on_demand[n] ? least_back[n + 1] : smaller(least_back[n + 1], back[n]);

    order_cuts result;
    result.first.push_back(0);
    std::vector<unsigned char> is_there(count, 0);
    node_id most_reach = 0; // of those before
    for (node_id n = 0; n != count; ++n) {
        if (d.on_demand[n]) continue;
        for (node_id demanded : d.demanded[n])
            if (!is_there[demanded]) is_there[demanded] = 1, result.order.push_back(demanded);
        result.order.push_back(n);
        bool const is_cut = most_reach <= n && least_back[n + 1] > n;
        most_reach = larger(most_reach, reach[n]);
        if (is_cut && result.order.size() != count) result.first.push_back(result.order.size());
    }
    if (count != 0) result.first.push_back(count);
    return result;
}

// --- exact window ----------------------------------------------------------------------------------------

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

} // namespace sublet::detail
