// SPDX-License-Identifier: BSL-1.0
/// Series, forks and joins of positions are contracted to one node each while supply and demand are added up;
/// what is left is filled node by node, with augmenting paths where freed bytes do not suffice.

#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>

#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/reuse_network.hpp>

#include <utility>

// --- reuse network ---------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL reuse_network::reuse_network(dependence_graph const& g, concurrent_live_ranges const& lives,
                                         conflict_ranges const& conflicts,
                                         table<buffer_id, byte_count> const& weights,
                                         std::uint64_t most_visits)
    : begin_of(weights.size(), no_flow_node), end_of(begin_of)
{
    auto const buffers = static_cast<std::uint32_t>(weights.size());
    for (buffer_id b = 0; b != buffers; ++b) {
        total = checked_add(total, weights[b]);
        if (weights[b] != 0 && lives.begins[b].size() > 1) multi_begin.push_back(b);
    }
    if (conflicts.undecided != 0 || multi_begin.size() > most_visits / 16 / larger(buffers, 1u)) {
        for (buffer_id b : multi_begin) relaxed += weights[b]; // as if they began only at the first position
        multi_begin.clear();
    }
    auto const positions = static_cast<std::uint32_t>(g.positions());
    first_multi_end = 2 * positions;
    // Of each position: it if a buffer begins there, or one before.
    table<position_id, position_id> begun(positions, no_position);
    for (buffer_id b = 0; b != buffers; ++b) {
        if (weights[b] == 0 || lives.begins[b].empty()) continue;
        begin_of[b] = 2 * lives.first(b);
        begun[lives.first(b)] = lives.first(b);
    }
    for (position_id x = 0; x != positions; ++x) {
        if (begun[x] == x) continue;
        for (position_id y : g.before[x])
            if (begun[y] != no_position && (begun[x] == no_position || begun[y] > begun[x]))
                begun[x] = begun[y];
    }
    // Ranges decide begins only. Any other position is free if a begin before it is: without this a search
    // would not stop at a chain of steps that all change one buffer in place.
    auto is_free = [&](buffer_id b, position_id x) {
        x = begun[x];
        if (x == no_position || x <= lives.ends[b].back()) return false;
        auto const conflicting = conflicts.of[b];
        std::size_t const at =
            partition_point(conflicting.size(), [&](std::size_t i) { return x < conflicting[i].last; });
        return at == conflicting.size() || x < conflicting[at].first;
    };
    free_point_rows const free_points = earliest_free_points(
        g.before, g.after, lives, [&](buffer_id b) { return weights[b] != 0; }, is_free, most_visits);
    visits = free_points.visits;

    std::vector<buffer_id> multi_end;
    for (buffer_id b = 0; b != buffers; ++b) {
        if (weights[b] == 0 || lives.is_kept(b)) continue;
        if (free_points.is_cut_short[b] != 0) relaxed += weights[b]; // as if the last end were the only end
        if (free_points.last_end[b] != no_position) {
            end_of[b] = 2 * free_points.last_end[b] + 1;
        } else if (!free_points.lowest[b].empty() || !multi_begin.empty()) {
            end_of[b] = first_multi_end + static_cast<flow_node>(multi_end.size());
            multi_end.push_back(b);
        }
    }
    first_multi_begin = first_multi_end + static_cast<flow_node>(multi_end.size());
    std::size_t const nodes = first_multi_begin + multi_begin.size();
    for (std::size_t k = 0; k != multi_begin.size(); ++k)
        begin_of[multi_begin[k]] = first_multi_begin + static_cast<flow_node>(k);
    auto const to_multi_begin = flow_arcs::gathered(nodes, [&](auto add) {
        for (buffer_id v : multi_begin)
            for (buffer_id u = 0; u != buffers; ++u)
                if (end_of[u] != no_flow_node && reusable_by(conflicts, lives, u, v))
                    add(end_of[u], begin_of[v]);
    });
    arcs.reserve(nodes, g.edges() + positions + free_points.lowest.items() + to_multi_begin.items());
    for (flow_node t = 0; t != nodes; ++t) {
        if (t < first_multi_end && t % 2 == 0) arcs.append(t + 1);
        else if (t < first_multi_begin)
            for (position_id y :
                 t < first_multi_end ? g.after[t / 2] : free_points.lowest[multi_end[t - first_multi_end]])
                arcs.append(2 * y);
        for (flow_node sink : to_multi_begin[t]) arcs.append(sink);
        arcs.close_row();
    }
    demand.assign(nodes, 0);
    supply.assign(nodes, 0);
    for (buffer_id b = 0; b != buffers; ++b) {
        if (begin_of[b] != no_flow_node) demand[begin_of[b]] += weights[b];
        if (end_of[b] != no_flow_node) supply[end_of[b]] += weights[b];
    }
}

// --- reduced network -------------------------------------------------------------------------------------

SUBLET_DECL reduced_network::reduced_network(reuse_network const& net)
    : demand(net.demand), supply(net.supply), is_gone_(net.arcs.rows(), 0),
      number_(net.arcs.rows(), no_flow_node), left_(net.arcs.rows()), topological_(net.arcs.rows())
{
    auto const nodes = static_cast<flow_node>(left_);
    flow_node const multi_ends = net.first_multi_begin - net.first_multi_end;
    for (flow_node x = 0; x != nodes; ++x) { // nodes of multi_end buffers have no predecessors
        topological_[x] = x < net.first_multi_end     ? x + multi_ends
                          : x < net.first_multi_begin ? x - net.first_multi_end
                                                      : x;
        demand[topological_[x]] = net.demand[x];
        supply[topological_[x]] = net.supply[x];
    }
    for (flow_node x = 0; x != nodes; ++x) joined_with_.push_back(x);
    before_ = flow_arcs::gathered(nodes, [&](auto add) {
        for (flow_node x = 0; x != nodes; ++x)
            for (flow_node y : net.arcs[x]) add(topological_[y], topological_[x]);
    });
    arcs = before_.transposed(nodes);
    for (bool is_worth_it = true; is_worth_it && left_ != 0; rebuild()) is_worth_it = sweep();

    flow_arcs compact;
    std::vector<byte_count> left_demand, left_supply;
    for (flow_node x = 0; x != nodes; ++x) {
        if (!is_left(x)) continue;
        serve_itself(x);
        number_[x] = static_cast<flow_node>(left_demand.size());
        left_demand.push_back(demand[x]);
        left_supply.push_back(supply[x]);
    }
    compact.reserve(left_, left_ == 0 ? 0 : arcs.items());
    for (flow_node x = 0; x != nodes; ++x) {
        if (!is_left(x)) continue;
        for (flow_node y : arcs[x]) compact.append(number_[y]);
        compact.close_row();
    }
    arcs = std::move(compact);
    demand = std::move(left_demand);
    supply = std::move(left_supply);
    before_ = flow_arcs();
}

SUBLET_DECL bool reduced_network::sweep()
{
    std::size_t const before = left_;
    row_after_.resize(joined_with_.size());
    row_before_.resize(joined_with_.size());
    for (flow_node x = 0; x != joined_with_.size(); ++x) row_after_[x] = row_before_[x] = x;
    for (flow_node x = 0; x != joined_with_.size(); ++x)
        for (flow_node at = x; at != no_flow_node && is_left(at);) at = reduce(at);
    return 8 * (before - left_) >= before;
}

SUBLET_DECL flow_node reduced_network::reduce(flow_node x)
{
    serve_itself(x);
    if (demand[x] == 0) {
        flow_node const y = only_neighbor(x, arcs, row_after_[x]);
        if (y == x) remove(x, removal::not_in_cut);
        if (y != x && y != no_flow_node) {
            remove(x, removal::joined, y);
            row_before_[y] = only_neighbor(y, before_, row_before_[y]) == y ? row_before_[x] : no_flow_node;
        }
        if (y != no_flow_node) return no_flow_node;
    }
    if (supply[x] != 0 || (demand[x] == 0 && row_after_[x] == no_flow_node)) return no_flow_node;
    flow_node const w = only_neighbor(x, before_, row_before_[x]);
    if (w == no_flow_node) return no_flow_node;
    removal const if_demanding = w == x ? removal::in_cut : removal::joined;
    remove(x, demand[x] != 0 ? if_demanding : removal::in_cut_if_any, w);
    if (w == x) return no_flow_node;
    row_after_[w] = only_neighbor(w, arcs, row_after_[w]) == w ? row_after_[x] : no_flow_node;
    return w;
}

SUBLET_DECL void reduced_network::serve_itself(flow_node x)
{
    byte_count const bytes = smaller(supply[x], demand[x]);
    supply[x] -= bytes;
    demand[x] -= bytes;
    routed += bytes;
}

SUBLET_DECL void reduced_network::remove(flow_node x, removal how, flow_node with)
{
    removed_node& it = removed_.emplace_back(removed_node{x, how, with});
    if (how == removal::in_cut_if_any) {
        it.first_next = next_.size();
        for (flow_node y : arcs[row_after_[x]])
            if (flow_node const z = find(y); z != x && is_gone_[z] == 0) next_.push_back(z);
        it.last_next = next_.size();
    }
    --left_;
    if (with == no_flow_node || with == x) {
        is_gone_[x] = 1;
        return;
    }
    joined_with_[x] = with;
    demand[with] += demand[x];
    supply[with] += supply[x];
}

SUBLET_DECL flow_node reduced_network::only_neighbor(flow_node x, flow_arcs const& rows, flow_node row)
{
    if (row == no_flow_node) return no_flow_node;
    flow_node only = x;
    for (flow_node y : rows[row]) {
        flow_node const z = find(y);
        if (z == x || z == only || is_gone_[z] != 0) continue;
        if (only != x) return no_flow_node;
        only = z;
    }
    return only;
}

SUBLET_DECL void reduced_network::rebuild()
{
    if (left_ == 0) return;
    auto const nodes = static_cast<flow_node>(joined_with_.size());
    before_ = flow_arcs::gathered(nodes, [&](auto add) {
        for (flow_node x = 0; x != nodes; ++x) {
            flow_node const from = find(x);
            if (is_gone_[from] != 0) continue;
            for (flow_node y : arcs[x])
                if (flow_node const to = find(y); to != from && is_gone_[to] == 0) add(to, from);
        }
    });
    flow_arcs const repeated = before_.transposed(nodes);
    arcs = flow_arcs();
    arcs.reserve(nodes, repeated.items());
    for (flow_node x = 0; x != nodes; ++x) {
        flow_node last = no_flow_node;
        for (flow_node y : repeated[x])
            if (y != last) arcs.append(last = y);
        arcs.close_row();
    }
    before_ = arcs.transposed(nodes);
}

SUBLET_DECL std::vector<unsigned char>
reduced_network::whole_cut(std::vector<unsigned char> const& reduced_cut) const
{
    std::vector<unsigned char> cut(number_.size()), whole(number_.size());
    for (flow_node x = 0; x != number_.size(); ++x)
        if (number_[x] != no_flow_node) cut[x] = reduced_cut[number_[x]];
    for (std::size_t i = removed_.size(); i-- != 0;) {
        removed_node const& it = removed_[i];
        if (it.how == removal::in_cut) cut[it.node] = 1;
        if (it.how == removal::joined) cut[it.node] = cut[it.with];
        for (std::size_t k = it.first_next; k != it.last_next; ++k) cut[it.node] |= cut[next_[k]];
    }
    for (flow_node x = 0; x != whole.size(); ++x) whole[x] = cut[topological_[x]];
    return whole;
}

// --- antichain flow --------------------------------------------------------------------------------------

SUBLET_DECL antichain_flow::antichain_flow(flow_arcs const& heads)
    : excess(heads.rows(), 0), heads_(heads), tail_(heads.items()), flow_(heads.items(), 0),
      path_arc_(heads.rows(), 0), seen_(heads.rows(), 0)
{
    for (flow_node t = 0; t != heads.rows(); ++t)
        for (flow_node const& head : heads[t]) tail_[arc(head)] = t;
    in_arcs_ = csr_rows<flow_node, std::uint32_t>::gathered(heads.rows(), [&](auto add) {
        for (flow_node t = 0; t != heads.rows(); ++t)
            for (flow_node const& head : heads[t]) add(head, arc(head));
    });
}

SUBLET_DECL void antichain_flow::pull_adjacent(flow_node x, byte_count need)
{
    auto const arcs = in_arcs_[x];
    for (std::size_t i = arcs.size(); i-- != 0;)
        if (arcs[i] == arc(heads_[tail_[arcs[i]]].back())) move(arcs[i], excess[tail_[arcs[i]]]);
    for (std::size_t i = arcs.size(); i-- != 0 && excess[x] < need;)
        move(arcs[i], smaller(excess[tail_[arcs[i]]], need - excess[x]));
}

SUBLET_DECL void antichain_flow::augment(flow_node x, byte_count need, std::uint64_t most)
{
    while (excess[x] < need && !is_in_cut(x) && visits < most)
        if (!search(x, need, (most - visits) / 16 + 1)) return;
}

SUBLET_DECL std::uint32_t antichain_flow::arc(flow_node const& head) const
{
    return static_cast<std::uint32_t>(&head - heads_[0].data());
}

SUBLET_DECL bool antichain_flow::search(flow_node x, byte_count need, std::uint64_t most)
{
    ++searches_;
    queue_.assign(1, x);
    seen_[x] = searches_;
    for (std::size_t i = 0; i != queue_.size(); ++i) {
        if (i == most) return false;
        flow_node const at = queue_[i];
        ++visits;
        for (std::uint32_t a : in_arcs_[at])
            if (visit(tail_[a], a) && push_along_path(tail_[a], x, need)) return true;
        for (flow_node const& head : heads_[at])
            if (flow_[arc(head)] != 0 && visit(head, arc(head)) && push_along_path(head, x, need))
                return true;
    }
    for (flow_node at : queue_) seen_[at] = in_cut;
    return true;
}

SUBLET_DECL bool antichain_flow::visit(flow_node at, std::uint32_t a)
{
    if (seen_[at] >= searches_) return false; // also if in the cut
    seen_[at] = searches_;
    path_arc_[at] = a;
    queue_.push_back(at);
    return excess[at] != 0;
}

SUBLET_DECL bool antichain_flow::push_along_path(flow_node from, flow_node x, byte_count need)
{
    byte_count bytes = larger(smaller(excess[from], need - excess[x]), excess[from] / 2);
    for (flow_node at = from; at != x;) {
        std::uint32_t const a = path_arc_[at];
        bool const is_back = tail_[a] != at;
        if (is_back) bytes = smaller(bytes, flow_[a]);
        at = is_back ? tail_[a] : head_of(a);
    }
    bool is_saturated = false;
    for (flow_node at = from; at != x;) {
        std::uint32_t const a = path_arc_[at];
        bool const is_back = tail_[a] != at;
        if (is_back) is_saturated |= (flow_[a] -= bytes) == 0;
        else flow_[a] += bytes;
        at = is_back ? tail_[a] : head_of(a);
    }
    excess[from] -= bytes;
    excess[x] += bytes;
    return is_saturated || excess[x] >= need;
}

} // namespace sublet::detail
