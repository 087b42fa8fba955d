// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_GIVING_NETWORK_HPP
#define SUBLET_ANALYSIS_GIVING_NETWORK_HPP

/// Who may give bytes to whom, as a network that is hardly larger than the program.
///
///     position 1:  ──►(2)──►(3)──► (4)──►(5)     a buffer that begins at 1 takes bytes out at node 2,
///                              └──► (6) ...      one that 1 is the last end of puts bytes in at node 3
///
/// There may be as many pairs of giver and taker as there are buffers squared. But bytes that are free behind
/// a position are free behind all that follow it, so they may as well walk there along the edges of the
/// dependence graph; a giver needs arcs only to where its bytes are free at the earliest.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/frontiers.hpp>
#include <sublet/analysis/later_conflicts.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Two nodes a position: what begins there, and whose last end it is. Behind them a node for each giver whose
/// frontier is another one, and a node for each taker that begins at several positions, if these are few.
///
/// Ensures:    arcs lead from the end of u to the begin of v if and only if u gives to v in every execution;
///             those `loose` may give and take more, those whose conflicts are undecided give less.
/// Complexity: O(positions + edges + buffers + ranges), the walks of frontiers() and a 16th of the visits.
/// Throws:     precondition_error if the weights together exceed 64 bits.
struct giving_network {
    csr_rows arcs;                         // by node, to higher ones but for givers
    std::vector<byte_count> begins, rises; // by node
    std::vector<node_id> begin_of, end_of; // by buffer; `no_node` if it takes nothing, or gives nothing
    node_id first_giver = 0, first_taker = 0;
    std::vector<buffer_id> takers; // by node, from the first of them on
    byte_count total = 0;          // weight of all
    byte_count loose = 0;          // weight of those
    std::uint64_t visits = 0;

    giving_network(dependence_graph const& g, concurrent_lives const& lives, conflict_ranges const& conflicts,
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
};

} // namespace sublet::detail

#endif
