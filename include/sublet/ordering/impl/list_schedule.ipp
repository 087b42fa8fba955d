// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_LIST_SCHEDULE_IPP
#define SUBLET_ORDERING_IMPL_LIST_SCHEDULE_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/list_schedule.hpp>
#include <sublet/ordering/node_demands.hpp>
#include <sublet/ordering/ready_nodes.hpp>

#include <cstdint>

namespace sublet {

SUBLET_DECL std::vector<node_id> list_schedule(order_graph const& g, std::vector<node_id> const& preferred,
                                               schedule_rule const& rule)
{
    SUBLET_EXPECTS(!g.violation, "sublet: there is no order to run this program in");
    SUBLET_EXPECTS(preferred.size() == g.nodes(), "sublet: an order has to name every node once");
    node_demands demands(g);
    ready_nodes ready(g.nodes(), demands.announced());
    std::vector<node_id> rank(g.nodes()), waits(g.nodes()), order, changed;
    for (node_id at = 0; at != g.nodes(); ++at) rank[preferred[at]] = at;
    order.reserve(g.nodes());

    std::uint64_t const none_more = std::uint64_t{1} << 63; // as much alive behind as before
    auto put = [&](node_id n) {
        std::uint64_t left = none_more + demands.growth(n);
        if (!rule.growing_by_size && left > none_more) left = none_more + 1;
        ready.put(n, demands.need(n), left, rank[n]);
    };
    for (node_id n = 0; n != g.nodes(); ++n) {
        waits[n] = static_cast<node_id>(g.before[n].size());
        if (waits[n] == 0) put(n);
    }
    while (!ready.empty()) {
        byte_count const reached = larger(rule.goal, demands.peak());
        node_id const n = ready.best(reached > demands.live() ? reached - demands.live() : 0);
        ready.take(n);
        order.push_back(n);
        changed.clear();
        demands.run(n, [&](node_id other) { changed.push_back(other); });
        for (node_id other : changed)
            if (ready.holds(other)) put(other);
        for (node_id next : g.after[n])
            if (--waits[next] == 0) put(next);
    }
    return order;
}

} // namespace sublet

#endif
