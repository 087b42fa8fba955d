// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_PLAIN_WALKS_IPP
#define SUBLET_ORDERING_IMPL_PLAIN_WALKS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/ordering/plain_walks.hpp>
#include <sublet/ordering/topological.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sublet {

SUBLET_DECL std::vector<node_id> breadth_first(order_graph const& g)
{
    std::vector<std::uint64_t> level(g.nodes());
    for (node_id n : topological(g))
        for (node_id next : g.after[n]) level[next] = larger(level[next], level[n] + 1);
    return order_by_rank(g, level);
}

SUBLET_DECL std::vector<node_id> depth_first(order_graph const& g)
{
    std::vector<node_id> waits, order, ready;
    for (node_id n = 0; n != g.nodes(); ++n) waits.push_back(static_cast<node_id>(g.before[n].size()));
    // Along the listed order, so that what is pushed together lies with the first listed on top.
    std::vector<node_id> const listed = topological(g);
    std::vector<node_id> place(g.nodes());
    for (node_id at = 0; at != listed.size(); ++at) place[listed[at]] = at;
    for (std::size_t at = listed.size(); at-- != 0;)
        if (waits[listed[at]] == 0) ready.push_back(listed[at]);
    std::vector<node_id> woken; // places
    while (!ready.empty()) {
        node_id const n = ready.back();
        ready.pop_back();
        order.push_back(n);
        woken.clear();
        for (node_id next : g.after[n])
            if (--waits[next] == 0) woken.push_back(place[next]);
        std::sort(woken.begin(), woken.end());
        for (std::size_t i = woken.size(); i-- != 0;) ready.push_back(listed[woken[i]]);
    }
    return order;
}

SUBLET_DECL std::vector<node_id> on_demand(order_graph const& g)
{
    std::vector<node_id> const listed = topological(g);
    std::vector<node_id> place(g.nodes());
    for (node_id at = 0; at != listed.size(); ++at) place[listed[at]] = at;
    struct frame {
        node_id node;
        std::uint32_t first; // in `asked`: of those it waits for, whom to ask next
    };
    std::vector<unsigned char> is_asked(g.nodes());
    std::vector<node_id> order, asked; // places, each row falling
    std::vector<frame> path;
    auto ask = [&](node_id n) {
        is_asked[n] = 1;
        path.push_back({n, static_cast<std::uint32_t>(asked.size())});
        std::vector<node_id> mine;
        for (node_id b : g.before[n])
            if (!is_asked[b]) mine.push_back(place[b]);
        std::sort(mine.begin(), mine.end());
        for (std::size_t i = mine.size(); i-- != 0;) asked.push_back(mine[i]);
    };
    for (node_id end : listed) {
        if (g.after[end].size() != 0) continue;
        ask(end);
        while (!path.empty()) {
            if (asked.size() == path.back().first) {
                order.push_back(path.back().node);
                path.pop_back();
                continue;
            }
            node_id const next = listed[asked.back()];
            asked.pop_back();
            if (!is_asked[next]) ask(next);
        }
    }
    return order;
}

} // namespace sublet

#endif
