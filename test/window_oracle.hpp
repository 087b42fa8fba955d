// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_WINDOW_ORACLE_HPP
#define SUBLET_TEST_WINDOW_ORACLE_HPP

/// The least peak of a small window from every set of finished nodes, by enumeration.

#include <sublet/ordering/detail/order_window.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// All nodes, in the listed order or the nearest possible one.
inline sublet::detail::order_window whole_window(sublet::detail::order_graph const& g)
{
    std::vector<sublet::node_id> const order = sublet::detail::topological(g);
    return window_of(g, sublet::detail::peak_walk(g), std::span<sublet::node_id const>(order));
}

inline sublet::detail::peak_walk walk_of(sublet::detail::order_window const& w)
{
    return {w.graph, w.live_through, w.untouched_input_bytes, w.is_at_start};
}

/// Of a set of finished nodes (a bit per node).
struct enumerated_set {
    sublet::byte_count least = sublet::no_size; ///< peak of the rest; `no_size` if the set is no down-set
    sublet::byte_count live = sublet::no_size;  ///< bytes
};

/// By set.
inline std::vector<enumerated_set> enumerate_sets(sublet::detail::order_window const& w)
{
    using namespace sublet;
    std::size_t const nodes = w.graph.nodes();
    std::vector<std::vector<node_id>> order(std::size_t{1} << nodes); // that reaches the set
    std::vector<std::vector<byte_count>> most(order.size());          // by node
    std::vector<enumerated_set> sets(order.size());
    auto may_run = [&](std::size_t set, node_id n) {
        if ((set >> n & 1) != 0) return false;
        return std::all_of(w.graph.before[n].begin(), w.graph.before[n].end(),
                           [&](node_id b) { return (set >> b & 1) != 0; });
    };
    sets[0].live = walk_of(w).live();
    for (std::size_t set = 0; set != sets.size(); ++set) {
        if (sets[set].live == no_size) continue;
        detail::peak_walk walk = walk_of(w);
        for (node_id n : order[set]) walk.run(n);
        most[set].resize(nodes);
        for (node_id n = 0; n != nodes; ++n) {
            if (!may_run(set, n)) continue;
            most[set][n] = walk.run(n);
            std::size_t const next = set | std::size_t{1} << n;
            sets[next].live = walk.live();
            order[next] = order[set];
            order[next].push_back(n);
            walk.step_back();
        }
    }
    sets.back().least = 0;
    for (std::size_t set = sets.size() - 1; set-- != 0;) {
        if (sets[set].live == no_size) continue;
        for (node_id n = 0; n != nodes; ++n)
            if (may_run(set, n))
                sets[set].least =
                    std::min(sets[set].least, std::max(most[set][n], sets[set | std::size_t{1} << n].least));
    }
    return sets;
}

/// The least peak of the window.
inline sublet::byte_count min_peak_of(sublet::detail::order_window const& w)
{
    return enumerate_sets(w)[0].least;
}

#endif
