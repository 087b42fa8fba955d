// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/giving_network.hpp>
#include <sublet/impl/config.hpp>

// --- giving network --------------------------------------------------------------------------------------

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

// --- resting flow ----------------------------------------------------------------------------------------

SUBLET_DECL resting_flow::resting_flow(csr_rows const& heads)
    : rest(heads.rows(), 0), heads_(heads), tail_(heads.items()), flow_(heads.items(), 0),
      arc_to_(heads.rows(), 0), seen_(heads.rows(), 0)
{
    for (node_id t = 0; t != heads.rows(); ++t)
        for (node_id const& head : heads[t]) tail_[arc(head)] = t;
    into_ = csr_rows::gathered(heads.rows(), [&](auto add) {
        for (node_id t = 0; t != heads.rows(); ++t)
            for (node_id const& head : heads[t]) add(head, arc(head));
    });
}

SUBLET_DECL void resting_flow::collect(node_id x, byte_count need)
{
    auto const arcs = into_[x];
    for (std::size_t i = arcs.size(); i-- != 0;)
        if (arcs[i] == arc(heads_[tail_[arcs[i]]].back())) move(arcs[i], rest[tail_[arcs[i]]]);
    for (std::size_t i = arcs.size(); i-- != 0 && rest[x] < need;)
        move(arcs[i], smaller(rest[tail_[arcs[i]]], need - rest[x]));
}

SUBLET_DECL void resting_flow::fetch(node_id x, byte_count need, std::uint64_t most)
{
    while (rest[x] < need && !is_dead(x) && visits < most)
        if (!search(x, need, (most - visits) / 16 + 1)) return;
}

SUBLET_DECL std::uint32_t resting_flow::arc(node_id const& head) const
{
    return static_cast<std::uint32_t>(&head - heads_[0].data());
}

SUBLET_DECL bool resting_flow::search(node_id x, byte_count need, std::uint64_t most)
{
    ++searches_;
    queue_.assign(1, x);
    seen_[x] = searches_;
    for (std::size_t i = 0; i != queue_.size(); ++i) {
        if (i == most) return false;
        node_id const at = queue_[i];
        ++visits;
        for (std::uint32_t a : into_[at])
            if (see(tail_[a], a) && bring(tail_[a], x, need)) return true;
        for (node_id const& head : heads_[at])
            if (flow_[arc(head)] != 0 && see(head, arc(head)) && bring(head, x, need)) return true;
    }
    for (node_id at : queue_) seen_[at] = dead;
    return true;
}

SUBLET_DECL bool resting_flow::see(node_id at, std::uint32_t a)
{
    if (seen_[at] >= searches_) return false; // dead, too
    seen_[at] = searches_;
    arc_to_[at] = a;
    queue_.push_back(at);
    return rest[at] != 0;
}

SUBLET_DECL bool resting_flow::bring(node_id from, node_id x, byte_count need)
{
    byte_count bytes = larger(smaller(rest[from], need - rest[x]), rest[from] / 2);
    for (node_id at = from; at != x;) {
        std::uint32_t const a = arc_to_[at];
        bool const is_back = tail_[a] != at;
        if (is_back) bytes = smaller(bytes, flow_[a]);
        at = is_back ? tail_[a] : head_of(a);
    }
    bool has_closed = false;
    for (node_id at = from; at != x;) {
        std::uint32_t const a = arc_to_[at];
        bool const is_back = tail_[a] != at;
        if (is_back) has_closed |= (flow_[a] -= bytes) == 0;
        else flow_[a] += bytes;
        at = is_back ? tail_[a] : head_of(a);
    }
    rest[from] -= bytes;
    rest[x] += bytes;
    return has_closed || rest[x] >= need;
}

} // namespace sublet::detail
