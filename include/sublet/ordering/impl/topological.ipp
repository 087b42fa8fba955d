// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_TOPOLOGICAL_IPP
#define SUBLET_ORDERING_IMPL_TOPOLOGICAL_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/ordering/topological.hpp>

#include <queue>

namespace sublet {

SUBLET_DECL std::vector<node_id> listed_places(order_graph const& g)
{
    std::vector<node_id> place(g.nodes());
    for (node_id at = 0; at != g.nodes(); ++at) place[g.listed[at]] = at;
    return place;
}

SUBLET_DECL std::vector<node_id> order_by_rank(order_graph const& g, std::vector<std::uint64_t> const& rank)
{
    SUBLET_EXPECTS(!g.violation, "sublet: there is no order to run this program in");
    SUBLET_EXPECTS(rank.size() == g.nodes(), "sublet: a table has not one entry for each node");
    std::vector<node_id> const place = listed_places(g);
    std::vector<node_id> waits(g.nodes()), order;
    std::priority_queue<keyed> ready; // the greatest comes first, so both keys fall
    auto wake = [&](node_id n) { ready.push({falling(rank[n]), falling(place[n]), n}); };
    order.reserve(g.nodes());
    for (node_id n = 0; n != g.nodes(); ++n) {
        waits[n] = static_cast<node_id>(g.before[n].size());
        if (waits[n] == 0) wake(n);
    }
    while (!ready.empty()) {
        node_id const n = ready.top().who;
        ready.pop();
        order.push_back(n);
        for (node_id next : g.after[n])
            if (--waits[next] == 0) wake(next);
    }
    return order;
}

SUBLET_DECL std::vector<node_id> topological(order_graph const& g)
{
    std::vector<node_id> const place = listed_places(g);
    bool can_run = true;
    for (node_id n = 0; n != g.nodes(); ++n)
        for (node_id next : g.after[n]) can_run = can_run && place[n] < place[next];
    return can_run ? g.listed : order_by_rank(g, std::vector<std::uint64_t>(g.nodes(), 0));
}

} // namespace sublet

#endif
