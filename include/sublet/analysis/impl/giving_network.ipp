// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_GIVING_NETWORK_IPP
#define SUBLET_ANALYSIS_IMPL_GIVING_NETWORK_IPP

#include <sublet/analysis/frontiers.hpp>
#include <sublet/analysis/giving_network.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sorting.hpp>

#include <cstddef>

namespace sublet::detail {

SUBLET_DECL giving_network::giving_network(dependence_graph const& g, concurrent_lives const& lives,
                                           conflict_ranges const& conflicts,
                                           std::vector<byte_count> const& weights, std::uint64_t most_visits)
    : begin_of(weights.size(), no_node), end_of(begin_of)
{
    auto const buffers = static_cast<buffer_id>(weights.size());
    for (buffer_id b = 0; b != buffers; ++b) {
        total = checked_add(total, weights[b]);
        if (weights[b] != 0 && lives.begins[b].size() > 1) takers.push_back(b);
    }
    if (conflicts.undecided != 0 || takers.size() > most_visits / 16 / larger(buffers, buffer_id{1})) {
        for (buffer_id b : takers) loose += weights[b]; // as if they began at the first alone
        takers.clear();
    }
    auto const positions = static_cast<step_id>(g.positions());
    first_giver = 2 * positions;
    std::vector<unsigned char> is_begin(positions);
    for (buffer_id b = 0; b != buffers; ++b) {
        if (weights[b] == 0 || lives.begins[b].empty()) continue;
        begin_of[b] = 2 * lives.first(b);
        is_begin[lives.first(b)] = 1;
    }
    auto is_free = [&](buffer_id b, step_id x) {
        if (is_begin[x] == 0) return false;
        auto const never = conflicts.of[b];
        std::size_t const at = first_that(never.size(), [&](std::size_t i) { return x < never[i].last; });
        return at == never.size() || x < never[at].first;
    };
    frontier_rows const frontier = frontiers(
        g.before, g.after, lives, [&](buffer_id b) { return weights[b] != 0; }, is_free, most_visits);
    visits = frontier.visits;

    std::vector<buffer_id> givers;
    for (buffer_id b = 0; b != buffers; ++b) {
        if (weights[b] == 0 || lives.is_kept(b)) continue;
        if (frontier.is_cut[b] != 0) loose += weights[b]; // as if the last end were the only one
        if (frontier.last_end[b] != no_step) {
            end_of[b] = 2 * frontier.last_end[b] + 1;
        } else if (!frontier.lowest[b].empty() || !takers.empty()) {
            end_of[b] = first_giver + static_cast<node_id>(givers.size());
            givers.push_back(b);
        }
    }
    first_taker = first_giver + static_cast<node_id>(givers.size());
    std::size_t const nodes = first_taker + takers.size();
    for (std::size_t k = 0; k != takers.size(); ++k)
        begin_of[takers[k]] = first_taker + static_cast<node_id>(k);
    csr_rows const to_takers = csr_rows::gathered(nodes, [&](auto add) {
        for (buffer_id v : takers)
            for (buffer_id u = 0; u != buffers; ++u)
                if (end_of[u] != no_node && gives_to(conflicts, lives, u, v)) add(end_of[u], begin_of[v]);
    });
    arcs.reserve(nodes, g.edges() + positions + frontier.lowest.items() + to_takers.items());
    for (node_id t = 0; t != nodes; ++t) {
        if (t < first_giver && t % 2 == 0) arcs.append(t + 1);
        else if (t < first_taker)
            for (step_id y : t < first_giver ? g.after[t / 2] : frontier.lowest[givers[t - first_giver]])
                arcs.append(2 * y);
        for (node_id taker : to_takers[t]) arcs.append(taker);
        arcs.close_row();
    }
    begins.assign(nodes, 0);
    rises.assign(nodes, 0);
    for (buffer_id b = 0; b != buffers; ++b) {
        if (begin_of[b] != no_node) begins[begin_of[b]] += weights[b];
        if (end_of[b] != no_node) rises[end_of[b]] += weights[b];
    }
}

} // namespace sublet::detail

#endif
