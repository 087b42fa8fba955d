// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_PIECES_IPP
#define SUBLET_PLACEMENT_IMPL_PIECES_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/pieces.hpp>
#include <sublet/sorting.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sublet::detail {

/// Ascending, and each once.
SUBLET_DECL void keep_distinct(std::vector<step_id>& positions)
{
    std::sort(positions.begin(), positions.end());
    std::size_t distinct = 0;
    for (step_id at : positions)
        if (distinct == 0 || positions[distinct - 1] != at) positions[distinct++] = at;
    positions.resize(distinct);
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::vector<keyed> gaps_in_order(placement_problem const& problem)
{
    std::vector<keyed> order;
    order.reserve(problem.gaps.size());
    for (std::size_t i = 0; i != problem.gaps.size(); ++i) {
        buffer_gap const& g = problem.gaps[i];
        SUBLET_EXPECTS(g.buffer < problem.buffers.size(), "sublet: a gap is one of no buffer");
        order.push_back({g.buffer, g.when.first, static_cast<std::uint32_t>(i)});
    }
    sort_keyed(order);
    return order;
}

SUBLET_DECL void append_pieces(placement_problem const& problem, std::vector<keyed> const& gaps,
                               buffer_id who, byte_count distance, std::vector<shape_piece>& pieces)
{
    placement_buffer const& b = problem.buffers[who];
    std::size_t const first = pieces.size();
    auto add = [&](live_range when, byte_count begin, byte_count end) {
        if (is_empty(when) || begin == end) return;
        shape_piece const next{when, distance + begin, distance + end};
        bool const goes_on = pieces.size() != first && pieces.back().when.last == when.first &&
                             pieces.back().begin == next.begin && pieces.back().end == next.end;
        if (goes_on) pieces.back().when.last = when.last;
        else pieces.push_back(next);
    };
    live_range rest = b.life;
    std::size_t at = first_that(gaps.size(), [&](std::size_t i) { return gaps[i].key >= who; });
    for (; at != gaps.size() && gaps[at].key == who; ++at) {
        buffer_gap const& g = problem.gaps[gaps[at].who];
        SUBLET_EXPECTS(g.begin <= g.end && g.end <= b.size, "sublet: a window is not within its buffer");
        live_range const when{larger(g.when.first, b.life.first), smaller(g.when.last, b.life.last)};
        if (is_empty(when)) continue;
        SUBLET_EXPECTS(rest.first <= when.first, "sublet: two gaps of a buffer meet");
        add({rest.first, when.first}, 0, b.size);
        add(when, g.begin, g.end);
        rest.first = when.last;
    }
    add(rest, 0, b.size);
}

SUBLET_DECL void merge_pieces(std::vector<shape_piece>& pieces)
{
    std::vector<step_id> cuts;
    cuts.reserve(2 * pieces.size());
    for (shape_piece const& p : pieces) {
        cuts.push_back(p.when.first);
        cuts.push_back(p.when.last);
    }
    detail::keep_distinct(cuts);
    auto rank = [&](step_id at) {
        return first_that(cuts.size(), [&](std::size_t i) { return cuts[i] >= at; });
    };
    std::vector<byte_count> begin(cuts.size(), 0), end(cuts.size(), 0); // end == 0: nobody
    std::vector<std::uint32_t> next(cuts.size());                       // at or after it: not painted
    auto unpainted = [&](std::size_t at) {
        while (next[at] != at) at = next[at] = next[next[at]];
        return at;
    };
    std::vector<keyed> order(pieces.size());
    auto paint = [&](std::vector<byte_count>& colors, auto key, auto color) {
        for (std::uint32_t i = 0; i != pieces.size(); ++i) order[i] = {key(pieces[i]), 0, i};
        for (std::uint32_t i = 0; i != next.size(); ++i) next[i] = i;
        sort_keyed(order);
        for (keyed const& o : order) {
            std::size_t const last = rank(pieces[o.who].when.last);
            for (std::size_t at = unpainted(rank(pieces[o.who].when.first)); at < last; at = unpainted(at)) {
                colors[at] = color(pieces[o.who]);
                ++next[at];
            }
        }
    };
    auto begin_of = [](shape_piece const& p) { return p.begin; };
    auto end_of = [](shape_piece const& p) { return p.end; };
    paint(begin, begin_of, begin_of);
    paint(
        end, [](shape_piece const& p) { return falling(p.end); }, end_of);
    pieces.clear();
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        if (end[i] == 0) continue;
        bool const goes_on = !pieces.empty() && pieces.back().when.last == cuts[i] &&
                             pieces.back().begin == begin[i] && pieces.back().end == end[i];
        if (goes_on) pieces.back().when.last = cuts[i + 1];
        else pieces.push_back({{cuts[i], cuts[i + 1]}, begin[i], end[i]});
    }
}

SUBLET_DECL std::vector<step_id> rank_positions(std::vector<shape_piece>& pieces)
{
    step_id last = 0;
    for (shape_piece const& p : pieces) last = larger(last, p.when.last);
    std::vector<step_id> positions, rank;
    if (last / 16 <= pieces.size()) {
        rank.assign(std::size_t{last} + 1, 0);
        for (shape_piece const& p : pieces) rank[p.when.first] = rank[p.when.last] = 1;
        for (std::size_t at = 0; at != rank.size(); ++at)
            if (rank[at] != 0) {
                rank[at] = static_cast<step_id>(positions.size());
                positions.push_back(static_cast<step_id>(at));
            }
        for (shape_piece& p : pieces) p.when = {rank[p.when.first], rank[p.when.last]};
        return positions;
    }
    positions.reserve(2 * pieces.size());
    for (shape_piece const& p : pieces) {
        positions.push_back(p.when.first);
        positions.push_back(p.when.last);
    }
    detail::keep_distinct(positions);
    auto rank_of = [&](step_id at) {
        return static_cast<step_id>(
            first_that(positions.size(), [&](std::size_t i) { return positions[i] >= at; }));
    };
    for (shape_piece& p : pieces) p.when = {rank_of(p.when.first), rank_of(p.when.last)};
    return positions;
}

} // namespace sublet

#endif
