// SPDX-License-Identifier: BSL-1.0

/// An order can be cut after a node if no edge passes by: one sweep from the left keeps the latest first
/// successor, one from the right the earliest last predecessor.

#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/exact_window.hpp>

// --- order cuts ------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL order_cuts cut_order(order_window const& w, deferral_graph const& d)
{
    auto const count = static_cast<std::uint32_t>(w.graph.nodes());
    // The order can be cut after n if each node before n has a successor up to n, and each node after n has a
    // predecessor from n on.
    table<node_id, node_id> first_succ(count, count); // the first successor of each node
    table<node_id, node_id> last_pred(count, 0);      // the node after the last predecessor of each node
    for (node_id n = 0; n != count; ++n) {
        if (!d.after[n].empty()) first_succ[n] = d.after[n].front();
        if (!d.before[n].empty()) last_pred[n] = d.before[n].back() + 1;
    }
    table<node_id, node_id> min_last_pred(std::size_t{count} + 1, count); // over all nodes from here on
    for (node_id n = count; n-- != 0;)
        min_last_pred[n] =
            d.is_deferred[n] ? min_last_pred[n + 1] : smaller(min_last_pred[n + 1], last_pred[n]);

    order_cuts result;
    result.first.push_back(0);
    table<node_id, unsigned char> is_emitted(count, 0);
    node_id max_first_succ = 0; // over all nodes before
    for (node_id n = 0; n != count; ++n) {
        if (d.is_deferred[n]) continue;
        for (node_id deferred : d.deferred[n])
            if (!is_emitted[deferred]) is_emitted[deferred] = 1, result.order.push_back(deferred);
        result.order.push_back(n);
        bool const is_cut = max_first_succ <= n && min_last_pred[n + 1] > n;
        max_first_succ = larger(max_first_succ, first_succ[n]);
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
    if (order.size() != g.nodes()) broken_order(order, g.nodes());
    SUBLET_EXPECTS(first <= last && last <= order.size(),
                   "sublet: a window is from % to %, but its order has % nodes", first, last, order.size());
    peak_walk walk(g);
    for (std::size_t i = 0; i != first; ++i) walk.run(order[i]);
    return exact_window(g, walk, {order.data() + first, order.data() + last}, limits);
}

} // namespace sublet::detail
