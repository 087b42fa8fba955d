// SPDX-License-Identifier: BSL-1.0

/// A move lists what its nodes touch: a buffer begins with whichever move includes a node that touches it,
/// and ends with the moves of the nodes that are not deferred. Counts of both give what each move adds and
/// frees. Only nodes with several steps, pairs or early reads are looked at step by step.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/order_moves.hpp>
#include <sublet/structures/internal/overwrite_matching.hpp>

#include <algorithm>
#include <utility>

namespace sublet::detail {

// --- order moves -----------------------------------------------------------------------------------------

/// The nodes that are deferred, and of each node those that it needs, directly or through deferred ones.
struct deferred_nodes {
    table<node_id, unsigned char> is_deferred;
    table<node_id, std::vector<node_id>> before; ///< of those that are not deferred
    table<node_id, std::vector<node_id>> with;   ///< deferred ones, each after those that it needs
};

SUBLET_DECL deferred_nodes find_deferred(order_moves const& moves)
{
    order_graph const& g = moves.window->graph;
    bool const from_end = moves.side == search_side::end;
    auto const &before = from_end ? g.after : g.before, &after = from_end ? g.before : g.after;
    auto const count = static_cast<std::uint32_t>(g.nodes());

    table<buffer_id, unsigned char> is_sensitive(g.buffers(), 0);
    if (!from_end)
        for (step_id s = 0; s != g.early.rows(); ++s)
            for (buffer_id b : g.early[s]) is_sensitive[b] = 1;
    for (overwrite_pair const& pair : g.pairs) is_sensitive[from_end ? pair.out : pair.in] = 1;
    table<buffer_id, std::uint32_t> touching(g.buffers(), 0); // nodes
    for (node_id n = 0; n != count; ++n)
        for (touched_buffer const& t : moves.touches[n]) ++touching[t.buffer];

    // One that many wait for would make each of these moves large, and many of them alike.
    std::size_t const most_listed = 64, most_shared = 256;
    table<buffer_id, std::uint32_t> later(g.buffers(), 0); // direct successors that touch it
    auto only_begins = [&](node_id n) {
        for (node_id next : after[n])
            for (touched_buffer const& t : moves.touches[next]) ++later[t.buffer];
        bool result = true;
        for (touched_buffer const& t : moves.touches[n]) {
            std::uint32_t const others = later[t.buffer];
            result = result && (others != 0 || moves.is_kept[t.buffer]) &&
                     (!is_sensitive[t.buffer] || others + 1 == touching[t.buffer]);
        }
        for (node_id next : after[n])
            for (touched_buffer const& t : moves.touches[next]) later[t.buffer] = 0;
        return result;
    };

    deferred_nodes result;
    result.is_deferred.assign(count, 0);
    result.before.resize(count);
    result.with.resize(count);
    table<node_id, node_id> listed_by(count, no_node);
    for (node_id i = 0; i != count; ++i) { // in an order in which the nodes can run
        node_id const n = from_end ? node_id::of(count - 1 - i) : i;
        auto add = [&](node_id other, std::vector<node_id>& row) {
            if (listed_by[other] == n) return;
            listed_by[other] = n;
            row.push_back(other);
        };
        for (node_id other : before[n]) {
            if (!result.is_deferred[other]) {
                add(other, result.before[n]);
                continue;
            }
            for (node_id further : result.before[other]) add(further, result.before[n]);
            for (node_id further : result.with[other]) add(further, result.with[n]);
            add(other, result.with[n]);
        }
        result.is_deferred[n] = !moves.is_first_special && !after[n].empty() &&
                                result.before[n].size() <= most_listed &&
                                result.with[n].size() <= most_listed &&
                                after[n].size() * moves.touches[n].size() <= most_shared && only_begins(n);
    }
    for (std::vector<node_id>& row : result.with)
        std::sort(row.begin(), row.end(), [&](node_id a, node_id b) { return from_end ? a > b : a < b; });
    return result;
}

SUBLET_DECL order_moves moves_of(order_window const& w, search_side side)
{
    order_graph const& g = w.graph;
    bool const from_end = side == search_side::end;
    order_moves result;
    result.window = &w;
    result.side = side;
    result.is_given = from_end ? g.is_kept : g.is_given;
    result.is_kept = from_end ? g.is_given : g.is_kept;
    result.touches = touches_of(g);
    if (!from_end && w.is_at_start) {
        result.first_bytes = w.untouched_input_bytes;
        result.is_first_special = result.first_bytes != 0;
        for (step_id s = 0; s != g.early.rows(); ++s)
            for (buffer_id b : g.early[s]) result.is_first_special = result.is_first_special || g.is_given[b];
    }

    deferred_nodes const deferred = find_deferred(result);
    auto const count = static_cast<std::uint32_t>(g.nodes());
    table<node_id, move_id> move_of(count);
    move_id moves = 0;
    for (node_id n = 0; n != count; ++n)
        if (!deferred.is_deferred[n]) move_of[n] = moves++;
    auto is_plain = [&](node_id n) {
        step_id const s = g.steps[n].first;
        return g.steps[n].last - s == 1 && g.early[s].empty() && g.pairs_of(s).empty();
    };
    for (node_id n = 0; n != count; ++n) {
        if (deferred.is_deferred[n]) continue;
        bool all_plain = is_plain(n);
        for (node_id other : deferred.with[n]) {
            result.nodes.append(other);
            all_plain = all_plain && is_plain(other);
        }
        result.nodes.append(n);
        result.nodes.close_row();
        result.is_plain.push_back(all_plain);
        std::vector<move_id> before;
        for (node_id other : deferred.before[n]) before.push_back(move_of[other]);
        std::sort(before.begin(), before.end());
        for (move_id other : before) result.before.append(other);
        result.before.close_row();
    }
    result.after = result.before.transposed(moves);

    table<buffer_id, move_id> listed_by(g.buffers(), move_id::of(~std::uint32_t{0}));
    for (move_id m = 0; m != moves; ++m) {
        for (node_id n : result.nodes[m])
            for (touched_buffer const& t : result.touches[n]) {
                if (listed_by[t.buffer] == m) continue;
                listed_by[t.buffer] = m;
                result.begins.append(t.buffer);
            }
        result.begins.close_row();
        for (touched_buffer const& t : result.touches[result.nodes[m].back()]) result.ends.append(t.buffer);
        result.ends.close_row();
    }
    result.beginners = result.begins.transposed(g.buffers());
    result.enders = result.ends.transposed(g.buffers());
    return result;
}

SUBLET_DECL std::vector<node_id> order_of(order_moves const& moves, std::vector<move_id> const& sequence)
{
    std::vector<node_id> order;
    table<node_id, unsigned char> has_run(moves.window->graph.nodes(), 0);
    for (move_id m : sequence)
        for (node_id n : moves.nodes[m]) {
            if (!has_run[n]) order.push_back(n);
            has_run[n] = 1;
        }
    if (moves.side == search_side::start) return order;
    return {order.rbegin(), order.rend()};
}

// --- move walk -------------------------------------------------------------------------------------------

SUBLET_DECL move_walk::move_walk(order_moves const& moves)
    : moves_(moves), begins_(moves.size(), 0), ends_(moves.size(), 0),
      included_(moves.window->graph.nodes(), 0), done_(bit_rows::words_for(moves.size()), 0),
      begun_in_move_(moves.window->graph.buffers(), 0), live_(moves.window->live_through)
{
    std::size_t const buffers = moves.window->graph.buffers();
    for (buffer_id b = 0; b != buffers; ++b) {
        begun_.push_back(moves.is_given[b] ? 1 : 0);
        left_.push_back(static_cast<std::uint32_t>(moves.enders[b].size()) + (moves.is_kept[b] ? 2 : 0));
        std::uint64_t sum = 0;
        for (move_id m : moves.enders[b]) sum += m;
        left_sum_.push_back(sum);
        if (moves.is_given[b]) live_ += moves.bytes_of(b);
        else
            for (move_id m : moves.beginners[b]) begins_[m] += moves.bytes_of(b);
        if (left_[b] == 1) ends_[move_id::of(sum)] += moves.bytes_of(b);
    }
}

SUBLET_DECL void move_walk::flip(move_id m)
{
    std::uint64_t h = (std::uint64_t{m} + 1) * 0x9e3779b97f4a7c15u; // its number, mixed
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    hash_ ^= h ^ h >> 31;
    done_[m / 64] ^= word{1} << m % 64;
}

SUBLET_DECL void move_walk::finish(move_id m, byte_count live)
{
    auto const nodes = moves_.nodes[m];
    for (node_id n : nodes.first(nodes.size() - 1)) ++included_[n];
    work_ += moves_.begins[m].size() + moves_.ends[m].size();
    flip(m);
    ++ran_;
    live_ = live;
}

SUBLET_DECL void move_walk::step_back(move_id m, byte_count live_before)
{
    for (buffer_id b : moves_.begins[m])
        if (--begun_[b] == 0)
            for (move_id other : moves_.beginners[b]) {
                begins_[other] += moves_.bytes_of(b);
                ++work_;
            }
    for (buffer_id b : moves_.ends[m]) {
        if (left_[b]++ == 1) ends_[move_id::of(left_sum_[b])] -= moves_.bytes_of(b);
        left_sum_[b] += m;
    }
    auto const nodes = moves_.nodes[m];
    for (node_id n : nodes.first(nodes.size() - 1)) --included_[n];
    work_ += moves_.begins[m].size() + moves_.ends[m].size();
    flip(m);
    --ran_;
    live_ = live_before;
}

SUBLET_DECL byte_count move_walk::most_while(move_id m)
{
    byte_count most = 0, live = live_;
    auto const nodes = moves_.nodes[m];
    for (node_id n : nodes) {
        bool const is_last = n == nodes.back();
        if (!is_last && included_[n] != 0) continue; // it has run
        most = larger(most, most_of_node(n, is_last, live));
        if (is_last) break;
        for (touched_buffer const& t : moves_.touches[n]) {
            if (begun_[t.buffer] != 0 || begun_in_move_[t.buffer]) continue;
            begun_in_move_[t.buffer] = 1;
            live += moves_.bytes_of(t.buffer);
        }
    }
    for (node_id n : nodes)
        for (touched_buffer const& t : moves_.touches[n]) begun_in_move_[t.buffer] = 0;
    return most;
}

SUBLET_DECL byte_count move_walk::most_of_node(node_id n, bool is_last, byte_count live)
{
    order_graph const& g = moves_.window->graph;
    bool const from_end = moves_.side == search_side::end;
    touched_.assign(moves_.touches[n].begin(), moves_.touches[n].end());
    work_ += touched_.size();
    byte_count through = live;
    for (touched_buffer& t : touched_) {
        bool const is_begun = begun_[t.buffer] != 0 || begun_in_move_[t.buffer] != 0;
        bool const is_needed = !is_last || left_[t.buffer] != 1;
        if (is_begun && !is_needed) through -= moves_.bytes_of(t.buffer);
        t.is_begun = from_end ? is_needed : is_begun;
        t.is_needed = from_end ? is_begun : is_needed;
    }
    byte_count most = bytes_while(g, g.steps[n], touched_, through);
    if (!moves_.is_first_special || ran_ != 0) return most;
    // What the first step of a program reads early is held to its end.
    for (touched_buffer& t : touched_) t.ends_early = t.ends_early && t.last != g.steps[n].first;
    step_range const first{g.steps[n].first, g.steps[n].first + 1};
    return larger(most, bytes_while(g, first, touched_, through + moves_.first_bytes));
}

} // namespace sublet::detail
