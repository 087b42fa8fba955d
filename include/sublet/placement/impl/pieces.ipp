// SPDX-License-Identifier: BSL-1.0
/// The solid parts of a buffer in time: painted so that there is one at a position, and numbered by the ranks
/// of their ends.
#include <sublet/core/internal/vectors.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/pieces.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace sublet::detail {

template <class Item>
SUBLET_COLD void sort_and_merge(std::vector<Item>& items, step_poll const& poll)
{
    constexpr std::size_t part = 1u << 14;
    std::size_t const n = items.size();
    auto from = [&](std::size_t i) { return items.begin() + static_cast<std::ptrdiff_t>(smaller(i, n)); };
    for (std::size_t i = 0; i < n && !poll.stops(4 * smaller(n - i, part)); i += part)
        std::sort(from(i), from(i + part));
    // Not std::inplace_merge: libstdc++ 12 takes its buffer from a function that clang 19 reports as
    // deprecated.
    std::vector<Item> merged(n <= part ? 0 : n);
    for (std::size_t width = part; width < n; width *= 2) {
        auto to = merged.begin();
        for (std::size_t i = 0; i < n; i += 2 * width) {
            if (poll.stops(2 * smaller(n - i, width))) return;
            to = std::merge(from(i), from(i + width), from(i + width), from(i + 2 * width), to);
        }
        items.swap(merged);
    }
}

SUBLET_DECL void sort_in_parts(std::vector<sort_key>& items, step_poll const& poll)
{
    sort_and_merge(items, poll);
}

SUBLET_DECL void keep_distinct(std::vector<position_id>& positions, step_poll const& poll = {})
{
    sort_and_merge(positions, poll);
    std::size_t distinct = 0;
    for (position_id at : positions)
        if (distinct == 0 || positions[distinct - 1] != at) positions[distinct++] = at;
    shorten(positions, distinct);
}

SUBLET_COLD_DECL std::vector<sort_key>
gaps_in_order(placement_problem const& problem, std::vector<buffer_id> const& members, step_poll const& poll)
{
    std::vector<sort_key> order;
    if (problem.gaps.empty()) return order;
    table<buffer_id, unsigned char> is_member;
    if (members.size() != problem.buffers.size()) {
        is_member.assign(problem.buffers.size(), 0);
        for (buffer_id b : members) is_member[b] = 1;
    } else {
        order.reserve(problem.gaps.size());
    }
    for (std::size_t i = 0; i != problem.gaps.size() && !poll.stops(1); ++i) {
        placement_problem::gap const& g = problem.gaps[i];
        SUBLET_EXPECTS(g.buffer < problem.buffers.size(),
                       "sublet: a gap names buffer %, but there are only % buffers", g.buffer,
                       problem.buffers.size());
        if (is_member.empty() || is_member[g.buffer] != 0)
            order.push_back({g.buffer, g.when.first, static_cast<std::uint32_t>(i)});
    }
    if (order.size() <= 1u << 16) {
        sort_by_key(order);
        return order;
    }
    // Many: by buffer in one pass, so that little is done between two questions.
    bool is_ascending = true;
    std::vector<std::uint32_t> next(problem.buffers.size() + 1, 0);
    for (std::size_t i = 0; i != order.size() && !poll.stops(1); ++i) {
        is_ascending = is_ascending && (i == 0 || order[i - 1] < order[i]);
        ++next[to_size(order[i].key) + 1];
    }
    if (is_ascending) return order;
    for (std::size_t b = 1; b != next.size(); ++b) next[b] += next[b - 1];
    std::vector<sort_key> sorted(order.size());
    for (std::size_t i = 0; i != order.size() && !poll.stops(1); ++i)
        sorted[next[to_size(order[i].key)]++] = order[i];
    for (std::size_t first = 0, last = 0; first != sorted.size() && !poll.stops(last - first); first = last) {
        while (last != sorted.size() && sorted[last].key == sorted[first].key) ++last;
        std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(first),
                  sorted.begin() + static_cast<std::ptrdiff_t>(last));
    }
    return sorted;
}

SUBLET_DECL std::size_t append_pieces(placement_problem const& problem, std::vector<sort_key> const& gaps,
                                      buffer_id id, byte_count distance, std::vector<shape_piece>& pieces,
                                      std::size_t near)
{
    placement_problem::buffer const& b = problem.buffers[id];
    std::size_t const first = pieces.size();
    auto add = [&](live_range when, byte_count begin, byte_count end) {
        if (is_empty(when) || begin == end) return;
        shape_piece const next{when, distance + begin, distance + end};
        bool const continues = pieces.size() != first && pieces.back().when.last == when.first &&
                               pieces.back().begin == next.begin && pieces.back().end == next.end;
        if (continues) pieces.back().when.last = when.last;
        else pieces.push_back(next);
    };
    live_range rest = b.life;
    std::size_t at = near;
    if ((at != gaps.size() && gaps[at].key < id) || (at != 0 && gaps[at - 1].key >= id))
        at = partition_point(gaps.size(), [&](std::size_t i) { return gaps[i].key >= id; });
    for (; at != gaps.size() && gaps[at].key == id; ++at) {
        placement_problem::gap const& g = problem.gaps[gaps[at].id];
        SUBLET_EXPECTS(g.begin <= g.end && g.end <= b.size,
                       "sublet: a window of buffer % is from byte % to %, but the buffer has % bytes",
                       g.buffer, g.begin, g.end, b.size);
        live_range const when{larger(g.when.first, b.life.first), smaller(g.when.last, b.life.last)};
        if (is_empty(when)) continue;
        SUBLET_EXPECTS(rest.first <= when.first, "sublet: two gaps of buffer % overlap", g.buffer);
        add({rest.first, when.first}, 0, b.size);
        add(when, g.begin, g.end);
        rest.first = when.last;
    }
    add(rest, 0, b.size);
    return at;
}

SUBLET_DECL void merge_pieces(std::vector<shape_piece>& pieces)
{
    std::vector<position_id> cuts(2 * pieces.size());
    for (std::size_t i = 0; i != pieces.size(); ++i) {
        cuts[2 * i] = pieces[i].when.first;
        cuts[2 * i + 1] = pieces[i].when.last;
    }
    keep_distinct(cuts);
    auto rank = [&](position_id at) {
        return partition_point(cuts.size(), [&](std::size_t i) { return cuts[i] >= at; });
    };
    std::vector<byte_count> begin(cuts.size(), 0), end(cuts.size(), 0); // end == 0: unpainted
    std::vector<std::uint32_t> next(cuts.size()); // the first unpainted one at or after it
    auto unpainted = [&](std::size_t at) {
        while (next[at] != at) at = next[at] = next[next[at]];
        return at;
    };
    std::vector<sort_key> order(pieces.size());
    auto paint = [&](std::vector<byte_count>& colors, auto key, auto color) {
        for (std::uint32_t i = 0; i != pieces.size(); ++i) order[i] = {key(pieces[i]), 0, i};
        for (std::uint32_t i = 0; i != next.size(); ++i) next[i] = i;
        sort_by_key(order);
        for (sort_key const& o : order) {
            std::size_t const last = rank(pieces[o.id].when.last);
            for (std::size_t at = unpainted(rank(pieces[o.id].when.first)); at < last; at = unpainted(at)) {
                colors[at] = color(pieces[o.id]);
                ++next[at];
            }
        }
    };
    auto begin_of = [](shape_piece const& p) { return p.begin; };
    auto end_of = [](shape_piece const& p) { return p.end; };
    paint(begin, begin_of, begin_of);
    paint(end, [](shape_piece const& p) { return descending(p.end); }, end_of);
    pieces.clear();
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        if (end[i] == 0) continue;
        bool const continues = !pieces.empty() && pieces.back().when.last == cuts[i] &&
                               pieces.back().begin == begin[i] && pieces.back().end == end[i];
        if (continues) pieces.back().when.last = cuts[i + 1];
        else pieces.push_back({{cuts[i], cuts[i + 1]}, begin[i], end[i]});
    }
}

SUBLET_DECL table<position_id, position_id> rank_positions(std::vector<shape_piece>& pieces,
                                                           step_poll const& poll)
{
    position_id last = 0;
    for (shape_piece const& p : pieces) last = larger(last, p.when.last);
    auto for_each_piece = [&](std::uint64_t steps, auto visit) {
        for (std::size_t i = 0; i != pieces.size() && !poll.stops(steps); ++i) visit(pieces[i]);
    };
    if (last / 16 <= pieces.size()) {
        table<position_id, position_id> rank(std::size_t{last} + 1, 0);
        for_each_piece(2, [&](shape_piece& p) { rank[p.when.first] = rank[p.when.last] = 1; });
        std::size_t used = 0;
        for (position_id is_used : rank) used += is_used;
        table<position_id, position_id> positions(used);
        position_id next = 0;
        for (position_id at = 0; at != rank.size() && !poll.stops(1); ++at)
            if (rank[at] != 0) {
                rank[at] = next;
                positions[next++] = at;
            }
        for_each_piece(2, [&](shape_piece& p) { p.when = {rank[p.when.first], rank[p.when.last]}; });
        return positions;
    }
    table<position_id, position_id> positions(2 * pieces.size());
    std::size_t ends = 0;
    for_each_piece(1, [&](shape_piece& p) {
        positions[ends++] = p.when.first;
        positions[ends++] = p.when.last;
    });
    keep_distinct(positions, poll);
    auto rank_of = [&](position_id at) {
        return position_id::of(
            partition_point(positions.size(), [&](std::size_t i) { return positions[i] >= at; }));
    };
    for_each_piece(32, [&](shape_piece& p) { p.when = {rank_of(p.when.first), rank_of(p.when.last)}; });
    return positions;
}

} // namespace sublet::detail
