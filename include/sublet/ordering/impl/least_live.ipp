// SPDX-License-Identifier: BSL-1.0

/// Edges are lists with their reverses next to them; flow is augmented along shortest paths, level by level.
/// A buffer that one free move touches alone needs no vertex of its own.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/least_live.hpp>

namespace sublet::detail {

// --- minimum cut -----------------------------------------------------------------------------------------

SUBLET_DECL void cut_network::clear()
{
    first_.assign(2, none);
    to_.clear();
    next_.clear();
    capacity_.clear();
}

SUBLET_DECL cut_network::vertex cut_network::add_vertex()
{
    first_.push_back(none);
    return static_cast<vertex>(first_.size() - 1);
}

SUBLET_DECL void cut_network::add_edge(vertex from, vertex to, byte_count capacity)
{
    auto add = [this](vertex a, vertex b, byte_count bytes) {
        to_.push_back(b);
        capacity_.push_back(bytes);
        next_.push_back(first_[a]);
        first_[a] = static_cast<std::uint32_t>(to_.size() - 1);
    };
    add(from, to, capacity);
    add(to, from, 0);
}

SUBLET_DECL bool cut_network::find_levels()
{
    level_.assign(first_.size(), none);
    path_.assign(1, source()); // a queue
    level_[source()] = 0;
    for (std::size_t i = 0; i != path_.size() && level_[sink()] == none; ++i)
        for (std::uint32_t e = first_[path_[i]]; e != none; e = next_[e]) {
            ++work_;
            if (capacity_[e] == 0 || level_[to_[e]] != none) continue;
            level_[to_[e]] = level_[path_[i]] + 1;
            path_.push_back(to_[e]);
        }
    return level_[sink()] != none;
}

SUBLET_DECL byte_count cut_network::augment()
{
    byte_count total = 0;
    edge_ = first_;
    path_.clear();
    for (vertex at = source();;) {
        if (at == sink()) {
            byte_count flow = unlimited;
            for (std::uint32_t e : path_) flow = smaller(flow, capacity_[e]);
            total += flow;
            std::size_t full = 0;
            for (std::size_t i = path_.size(); i-- != 0;) {
                capacity_[path_[i]] -= flow;
                capacity_[path_[i] ^ 1] += flow;
                if (capacity_[path_[i]] == 0) full = i;
            }
            work_ += path_.size();
            at = to_[path_[full] ^ 1];
            path_.resize(full);
            continue;
        }
        std::uint32_t& e = edge_[at];
        for (; e != none && (capacity_[e] == 0 || level_[to_[e]] != level_[at] + 1); e = next_[e]) ++work_;
        if (e != none) {
            path_.push_back(e);
            at = to_[e];
            continue;
        }
        if (path_.empty()) return total;
        at = to_[path_.back() ^ 1];
        edge_[at] = next_[edge_[at]];
        path_.pop_back();
    }
}

SUBLET_DECL byte_count cut_network::minimum_cut()
{
    byte_count total = 0;
    while (find_levels()) total += augment();
    return total;
}

SUBLET_DECL std::vector<unsigned char> cut_network::sink_side()
{
    std::vector<unsigned char> reaches(first_.size(), 0);
    path_.assign(1, sink());
    reaches[sink()] = 1;
    for (std::size_t i = 0; i != path_.size(); ++i)
        for (std::uint32_t e = first_[path_[i]]; e != none; e = next_[e]) {
            ++work_;
            if (capacity_[e ^ 1] == 0 || reaches[to_[e]]) continue;
            reaches[to_[e]] = 1;
            path_.push_back(to_[e]);
        }
    return reaches;
}

// --- least live set --------------------------------------------------------------------------------------

SUBLET_DECL void least_live_sets::ignore(buffer_id b)
{
    if (is_seen_[b]) return;
    is_seen_[b] = 1;
    seen_.push_back(b);
}

SUBLET_DECL void least_live_sets::add_buffer(buffer_id b)
{
    if (is_seen_[b]) return;
    ignore(b); // when it is met again
    bool is_begun = moves_.is_given[b] != 0, can_end = !moves_.is_kept[b];
    begin_.clear();
    end_.clear();
    for (move_id m : moves_.beginners[b]) {
        if (place_[m] == place::ran || place_[m] == place::runs) is_begun = true;
        else if (place_[m] == place::free) begin_.push_back(vertex_[m]);
    }
    for (move_id m : moves_.enders[b]) {
        if (place_[m] == place::never || place_[m] == place::runs) can_end = false;
        else if (place_[m] == place::free) end_.push_back(vertex_[m]);
    }
    work_ += moves_.beginners[b].size() + moves_.enders[b].size();
    byte_count const bytes = moves_.bytes_of(b);
    if (is_begun && !can_end) {
        bytes_ += bytes; // in every set
        return;
    }
    if (bytes == 0) return;
    cut_network::vertex begun = cut_network::source(), ended = cut_network::sink();
    if (!is_begun) {
        begun = begin_.size() == 1 ? begin_[0] : network_.add_vertex();
        if (begin_.size() != 1)
            for (cut_network::vertex v : begin_) network_.add_edge(v, begun, cut_network::unlimited);
    }
    if (can_end) {
        ended = end_.size() == 1 ? end_[0] : network_.add_vertex();
        if (end_.size() != 1)
            for (cut_network::vertex v : end_) network_.add_edge(ended, v, cut_network::unlimited);
    }
    if (begun != ended) network_.add_edge(begun, ended, bytes);
}

SUBLET_DECL void least_live_sets::begin(std::span<move_id const> free)
{
    network_.clear();
    bytes_ = 0;
    for (move_id m : free) vertex_[m] = network_.add_vertex();
    for (move_id m : free) {
        for (move_id other : moves_.before[m])
            if (place_[other] == place::free)
                network_.add_edge(vertex_[m], vertex_[other], cut_network::unlimited);
        for (buffer_id b : moves_.begins[m]) add_buffer(b);
        work_ += moves_.before[m].size() + moves_.begins[m].size();
    }
}

SUBLET_DECL void least_live_sets::finish(std::span<move_id const> free)
{
    for (buffer_id b : seen_) is_seen_[b] = 0;
    seen_.clear();
    bytes_ += network_.minimum_cut();
    std::vector<unsigned char> const is_out = network_.sink_side();
    is_in_.clear();
    for (move_id m : free) is_in_.push_back(!is_out[vertex_[m]]);
}

SUBLET_DECL std::vector<unsigned char> const& least_live_sets::least(std::span<move_id const> free)
{
    begin(free);
    finish(free);
    return is_in_;
}

SUBLET_DECL std::vector<unsigned char> const& least_live_sets::least_bytes(std::span<move_id const> free)
{
    begin(free);
    bytes_ += moves_.window->live_through;
    for (buffer_id b = 0; b != is_seen_.size(); ++b) add_buffer(b);
    finish(free);
    return is_in_;
}

// --- cut bound -------------------------------------------------------------------------------------------

SUBLET_DECL cut_bound find_cut_bound(order_moves const& moves, table<move_id, byte_count> const& most_of,
                                     byte_count known, std::uint64_t most_work)
{
    using place = least_live_sets::place;
    cut_bound result{known, 0};
    std::vector<sort_key> by_bytes;
    for (move_id m = 0; m != moves.size(); ++m) by_bytes.push_back({descending(most_of[m]), 0, m});
    sort_by_key(by_bytes);
    least_live_sets sets(moves);
    std::vector<move_id> free, related;
    for (sort_key const& key : by_bytes) {
        auto const m = move_id::of(key.id);
        if (most_of[m] <= result.bytes || result.work > most_work) break;
        table<move_id, unsigned char> is_related(moves.size(), 0);
        auto relate = [&](csr_rows<move_id, move_id> const& edges, place where) {
            related.assign(1, m);
            for (std::size_t i = 0; i != related.size(); ++i) {
                for (move_id other : edges[related[i]]) {
                    if (is_related[other]) continue;
                    is_related[other] = 1;
                    sets.put(other, where);
                    related.push_back(other);
                }
                result.work += edges[related[i]].size();
            }
        };
        is_related[m] = 1;
        relate(moves.before, place::ran);
        relate(moves.after, place::never);
        sets.put(m, place::runs);
        free.clear();
        for (move_id other = 0; other != moves.size(); ++other)
            if (!is_related[other]) {
                sets.put(other, place::free);
                free.push_back(other);
            }
        byte_count own = 0;
        if (!moves.is_plain[m]) { // what it touches is not live throughout
            order_graph const& g = moves.window->graph;
            node_id const n = moves.nodes[m].back();
            for (touched_buffer const& t : moves.touches[n]) {
                sets.ignore(t.buffer);
                if (t.is_begun && t.is_needed) own += g.size[t.buffer];
            }
            own = bytes_while(g, g.steps[n], moves.touches[n], own);
        }
        std::uint64_t const before = sets.work();
        (void)sets.least_bytes(free);
        result.bytes = larger(result.bytes, sets.bytes() + own);
        result.work += moves.size() + is_related.size() + sets.work() - before;
    }
    return result;
}

} // namespace sublet::detail
