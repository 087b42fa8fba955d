// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_TOPOLOGICAL_HPP
#define SUBLET_ORDERING_TOPOLOGICAL_HPP

/// The listed order, or where a program cannot run so, the nearest to it that it can run in.
///
///     listed 3 0 1 2          0 ──► 1 ──► 3        runs 0 1 3 2: whoever is listed first of those
///                             └───► 2              that need not wait
///
/// Of all nodes that may run next always that with the lowest rank: every order that a program can run in
/// comes of some rank, the listed one of the place in the list.
///
/// Source: Kahn, "Topological sorting of large networks", Communications of the ACM 5, 1962.

#include <sublet/contract.hpp>
#include <sublet/keyed.hpp>
#include <sublet/ordering/order_graph.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

namespace sublet {

/// By node: its place in the listed order.
[[nodiscard]] inline std::vector<node_id> listed_places(order_graph const& g)
{
    std::vector<node_id> place(g.nodes());
    for (node_id at = 0; at != g.nodes(); ++at) place[g.listed[at]] = at;
    return place;
}

/// Of the nodes that wait for none the lowest rank runs first; of equal ranks, what is listed first.
///
/// Requires:   `rank` has an entry for each node; the graph has no violation.
/// Complexity: O(E + V log V).
[[nodiscard]] inline std::vector<node_id> order_by_rank(order_graph const& g,
                                                        std::vector<std::uint64_t> const& rank)
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

/// Ensures:    the listed order itself, if the program can run in it.
/// Complexity: O(V + E) then, else O(E + V log V).
[[nodiscard]] inline std::vector<node_id> topological(order_graph const& g)
{
    std::vector<node_id> const place = listed_places(g);
    bool can_run = true;
    for (node_id n = 0; n != g.nodes(); ++n)
        for (node_id next : g.after[n]) can_run = can_run && place[n] < place[next];
    return can_run ? g.listed : order_by_rank(g, std::vector<std::uint64_t>(g.nodes(), 0));
}

} // namespace sublet

#endif
