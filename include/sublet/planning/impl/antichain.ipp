// SPDX-License-Identifier: BSL-1.0
/// The members come from the cut of the reuse network; a walk over the positions then proves each against the
/// others, and removes those that it cannot prove.

#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/internal/vectors.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/antichain.hpp>
#include <sublet/planning/detail/reuse_network.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

SUBLET_DECL void keep_proved(dependence_graph const& g, concurrent_live_ranges const& lives,
                             conflict_ranges const& conflicts, std::vector<buffer_id> const& multi_begin,
                             table<position_id, unsigned char> const& cut, std::vector<buffer_id>& members)
{
    auto keep_if = [&members](auto is_kept) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i != members.size(); ++i)
            if (is_kept(members[i])) members[kept++] = members[i];
        shorten(members, kept);
    };
    if (!multi_begin.empty())
        keep_if([&](buffer_id b) {
            if (!is_listed(multi_begin, b)) return true;
            for (buffer_id other : members)
                if (other != b && reusable_by(conflicts, lives, other, b)) return false;
            return true;
        });
    bool is_closed = true;
    table<position_id, unsigned char> leads_into(g.positions() + 1, 0); // the cut
    for (position_id x = 0; x != g.positions(); ++x)
        for (position_id y : g.after[x]) {
            is_closed = is_closed && cut[x] >= cut[y];
            leads_into[x] |= cut[y];
        }
    table<position_id, std::uint32_t> begun(g.positions() + 1, 0); // members that begin before the position
    for (buffer_id b : members)
        if (!lives.begins[b].empty() && !is_listed(multi_begin, b)) ++begun[lives.first(b) + std::size_t{1}];
    for (std::size_t x = 0; x != g.positions(); ++x) begun[x + 1] += begun[x];
    keep_if([&](buffer_id b) {
        if (lives.ends[b].empty()) return begun.back() == 0; // free from the start
        if (is_closed)
            for (position_id end : lives.ends[b])
                if (leads_into[end] == 0) return true;
        if (conflicts.undecided != 0) return false;
        auto const conflicting = conflicts.of[b];
        for (std::size_t i = 0; i != conflicting.size(); ++i) {
            position_id const to =
                i + 1 == conflicting.size() ? position_id{lives.positions} : conflicting[i + 1].first;
            if (begun[conflicting[i].last] != begun[to]) return false;
        }
        return true;
    });
}

/// The buffers live at the peak of sequential execution.
SUBLET_DECL std::vector<buffer_id> heaviest_level(concurrent_live_ranges const& lives,
                                                  table<buffer_id, byte_count> const& weights)
{
    std::size_t const positions = larger(lives.positions, 1u); // what is given lives without any step
    table<position_id, byte_count> begin_bytes(positions + 1, 0), end_bytes = begin_bytes;
    for (buffer_id b = 0; b != weights.size(); ++b)
        if (!lives.ends[b].empty())
            begin_bytes[lives.first(b)] += weights[b], end_bytes[lives.last(b)] += weights[b];
    byte_count alive = 0, most = 0;
    position_id where = 0;
    for (position_id x = 0; x != begin_bytes.size(); ++x) {
        alive = alive + begin_bytes[x] - end_bytes[x];
        if (alive > most) most = alive, where = x;
    }
    std::vector<buffer_id> level;
    for (buffer_id b = 0; b != weights.size(); ++b)
        if (weights[b] != 0 && !lives.ends[b].empty() && lives.first(b) <= where && where < lives.last(b))
            level.push_back(b);
    return level;
}

SUBLET_DECL std::uint64_t antichain_visits(dependence_graph const& g, std::size_t buffers)
{
    return detail::larger(std::uint64_t{1} << 25, 64 * (std::uint64_t{g.positions()} + buffers));
}

SUBLET_DECL antichain heaviest_antichain(dependence_graph const& g, concurrent_live_ranges const& lives,
                                         conflict_ranges const& conflicts,
                                         table<buffer_id, byte_count> const& weights, std::uint64_t visits)
{
    SUBLET_EXPECTS(weights.size() == lives.buffers(),
                   "sublet: the table of weights has % entries for % buffers", weights.size(),
                   lives.buffers());
    SUBLET_EXPECTS(g.positions() < no_flow_node / 4 && weights.size() < no_flow_node / 4,
                   "sublet: more nodes of a flow than 32-bit ids");
    std::uint64_t const most_visits = visits != 0 ? visits : antichain_visits(g, weights.size());

    detail::reuse_network const net(g, lives, conflicts, weights, most_visits);
    detail::reduced_network const small(net);
    detail::antichain_flow flow(small.arcs);
    byte_count routed = small.routed;
    for (flow_node x = 0; x != small.demand.size(); ++x) {
        flow.pull_adjacent(x, small.demand[x]);
        flow.augment(x, small.demand[x], most_visits);
        byte_count const taken = detail::smaller(flow.excess[x], small.demand[x]);
        flow.excess[x] += small.supply[x] - taken;
        routed += taken;
    }

    antichain result;
    result.visits = net.visits + flow.visits;
    std::vector<unsigned char> in_cut(small.demand.size());
    for (flow_node x = 0; x != in_cut.size(); ++x) in_cut[x] = flow.is_in_cut(x);
    in_cut = small.whole_cut(in_cut);
    table<position_id, unsigned char> cut(g.positions());
    for (flow_node x = 0; x != net.first_multi_end; x += 2) cut[x / 2] = in_cut[x];
    for (buffer_id b = 0; b != weights.size(); ++b)
        if (weights[b] != 0 && (net.begin_of[b] == no_flow_node || in_cut[net.begin_of[b]] != 0) &&
            (net.end_of[b] == no_flow_node || in_cut[net.end_of[b]] == 0))
            result.members.push_back(b);
    detail::keep_proved(g, lives, conflicts, net.multi_begin, cut, result.members);
    auto weigh = [&](std::vector<buffer_id> const& members) {
        byte_count sum = 0;
        for (buffer_id b : members) sum += weights[b];
        return sum;
    };
    std::vector<buffer_id> level = detail::heaviest_level(lives, weights);
    if (weigh(level) > weigh(result.members)) result.members = std::move(level);
    result.bytes = weigh(result.members);
    result.upper_bound = net.total - routed + detail::smaller(net.relaxed, routed);
    result.is_exact = result.bytes == result.upper_bound;
    return result;
}

} // namespace sublet::detail
