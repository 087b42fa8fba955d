// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_WINDOW_ORACLE_HPP
#define SUBLET_TEST_WINDOW_ORACLE_HPP

/// The least peak of a small window from every set of finished nodes, by enumeration.

#include <sublet/ordering/detail/order_window.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

/// By set (a bit per node): the least peak of the rest; `no_size` if the set is no down-set.
inline std::vector<sublet::byte_count> min_peak_from(sublet::detail::order_window const& w)
{
    using namespace sublet;
    using namespace sublet::detail;
    std::size_t const nodes = w.graph.nodes();
    std::vector<std::vector<node_effect>> effects(std::size_t{1} << nodes);
    std::vector<byte_count> live(effects.size(), no_size), least(effects.size(), no_size);
    auto may_run = [&](std::size_t set, node_id n) {
        if ((set >> n & 1) != 0) return false;
        return std::all_of(w.graph.before[n].begin(), w.graph.before[n].end(),
                           [&](node_id b) { return (set >> b & 1) != 0; });
    };
    down_set_walk walk(w);
    auto nothing = [](node_id) {};
    live[0] = walk.live();
    for (std::size_t set = 0; set != effects.size(); ++set) {
        if (live[set] == no_size) continue;
        effects[set].resize(nodes);
        for (node_id n = 0; n != nodes; ++n) {
            if (!may_run(set, n)) continue;
            std::uint64_t const word = set;
            if (nodes != 0) walk.move_to(&word, live[set], nothing, nothing);
            effects[set][n] = walk.run(n);
            live[set | std::size_t{1} << n] = effects[set][n].live_after;
        }
    }
    least.back() = 0;
    for (std::size_t set = effects.size() - 1; set-- != 0;) {
        if (live[set] == no_size) continue;
        for (node_id n = 0; n != nodes; ++n)
            if (may_run(set, n))
                least[set] =
                    std::min(least[set], std::max(effects[set][n].most, least[set | std::size_t{1} << n]));
    }
    return least;
}

#endif
