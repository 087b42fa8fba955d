// SPDX-License-Identifier: BSL-1.0

/// Bytes are divided by the greatest unit of all sizes, pins and alignments. Positions become sections,
/// each the pieces that are live where one ends; pairs of shapes that meet get an edge with their least
/// distances. Arrays are filled in two passes, counts first, so that they are contiguous.

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/bound.hpp>
#include <sublet/placement/detail/sections.hpp>

#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace sublet::detail {

SUBLET_COLD_DECL scaled_shapes scale_down(placement_shapes const& all)
{
    scaled_shapes result{all};
    auto& [shapes, unit, height_bound] = result;
    byte_count const common = common_alignment(shapes);
    unit = 0;
    for (shape_piece& p : shapes.pieces) {
        p.end = align_up(p.end, common);
        unit = std::gcd(std::gcd(unit, p.begin), p.end);
    }
    for (placement_shape const& s : shapes.shapes) {
        unit = std::gcd(unit, s.phase);
        if (s.pinned != no_offset) unit = std::gcd(unit, s.pinned);
    }
    // An alignment that divides the unit is no constraint; any other one is made a multiple of it.
    for (bool changes = true; std::exchange(changes, false);)
        for (placement_shape const& s : shapes.shapes) {
            if (unit % s.alignment == 0 || s.alignment % unit == 0) continue;
            unit = std::gcd(unit, s.alignment);
            changes = true;
        }
    for (shape_piece& p : shapes.pieces) {
        p.begin /= unit;
        p.end /= unit;
    }
    byte_count highest_pin = 0;
    for (placement_shape& s : shapes.shapes) {
        s.alignment = unit % s.alignment == 0 ? 1 : s.alignment / unit;
        s.phase /= unit;
        if (s.pinned != no_offset) highest_pin = larger(highest_pin, s.pinned /= unit);
        byte_count const most = checked_add(s.size / unit + 1, s.alignment);
        height_bound = checked_add(height_bound, most);
    }
    height_bound = checked_add(height_bound, highest_pin);
    if (unit == 0) unit = 1;
    return result;
}

template <class Items>
void resize_in_parts(Items& items, std::size_t size, step_poll const& poll)
{
    constexpr std::size_t part = 1u << 14;
    items.reserve(size);
    while (items.size() != size && !poll.stops(4 * smaller(size - items.size(), part)))
        items.resize(items.size() + smaller(size - items.size(), part));
}

SUBLET_COLD_DECL search_problem search_problem_of(scaled_shapes const& scaled, step_poll const& poll)
{
    placement_shapes const& from = scaled.shapes;
    search_problem to;
    std::size_t const n = from.size();
    auto number = [](auto value) { return static_cast<search_number>(value); };
    to.shapes = static_cast<std::uint32_t>(n);
    to.unit = scaled.unit;

    // The number of sections that end at or before it. A section ends where a piece ends, if a
    // piece has begun since the last section.
    table<position_id, std::uint32_t> ended(from.positions.size(), 0);
    table<position_id, unsigned char> begins(from.positions.size(), 0), ends(from.positions.size(), 0);
    for (shape_piece const& p : from.pieces) begins[p.when.first] = ends[p.when.last] = 1;
    bool has_begun = false;
    for (position_id r = 0; r != ended.size(); ++r) {
        if (ends[r] != 0 && std::exchange(has_begun, false)) ++to.sections;
        if (begins[r] != 0) has_begun = true;
        ended[r] = to.sections;
    }
    to.load.assign(to.sections, 0);
    to.first_span = from.first_piece;
    for (shape_piece const& p : from.pieces) {
        to.spans.push_back({ended[p.when.first], ended[p.when.last], number(p.begin), number(p.end)});
        if (poll.stops(ended[p.when.last] - ended[p.when.first])) continue;
        for (std::uint32_t i = ended[p.when.first]; i != ended[p.when.last]; ++i)
            to.load[i] += number(p.end - p.begin);
    }
    for (placement_shape const& s : from.shapes) {
        to.alignment.push_back(number(s.alignment));
        to.phase.push_back(number(s.phase));
        bool const is_pinned = s.pinned != no_offset;
        to.lowest.push_back(number(is_pinned ? s.pinned : s.phase));
        to.highest.push_back(is_pinned ? to.lowest.back() : std::numeric_limits<search_number>::max());
        to.size.push_back(s.size);
        to.length.push_back(from.positions[s.life.last] - from.positions[s.life.first]);
        to.first.push_back(ended[s.life.first]);
        to.last.push_back(ended[s.life.last]);
        if (s.alignment != 1) to.has_alignment = true;
        if (s.size % scaled.unit != 0) to.has_padding = true;
    }

    to.first_member.assign(std::size_t{to.sections} + 1, 0);
    for (auto const& p : to.spans) {
        if (poll.stops(p.last - p.first)) return to;
        for (std::uint32_t i = p.first; i != p.last; ++i) ++to.first_member[i];
    }
    std::uint32_t members = 0;
    for (std::uint32_t& f : to.first_member) members += std::exchange(f, members);
    resize_in_parts(to.members, members, poll);
    std::vector<std::uint32_t> next = to.first_member;
    for (std::uint32_t s = 0; s != n; ++s)
        for (auto const& p : to.spans_of(s)) {
            if (poll.stops(std::uint64_t{2} * (p.last - p.first))) break;
            for (std::uint32_t i = p.first; i != p.last; ++i) to.members[next[i]++] = {s, p.begin};
        }

    auto is_one_piece = [&](std::uint32_t s) { return from.first_piece[s + 1] - from.first_piece[s] == 1; };
    auto for_each_pair = [&](auto visit) {
        for (std::uint32_t a = 0; a != n; ++a) {
            if (poll.stops(std::uint64_t{4} * (n - a))) return;
            for (std::uint32_t b = a + 1; b != n && from.shapes[b].life.first < from.shapes[a].life.last;
                 ++b) {
                bool const are_rectangles = is_one_piece(a) && is_one_piece(b);
                if (!are_rectangles && poll.stops(2 * (from.pieces_of(a).size() + from.pieces_of(b).size())))
                    return;
                if (are_rectangles || min_separation(from, a, b).meets) visit(a, b);
            }
        }
    };
    to.first_edge.assign(n + 1, 0);
    for_each_pair([&](std::uint32_t a, std::uint32_t b) {
        ++to.first_edge[a];
        ++to.first_edge[b];
    });
    std::uint32_t edges = 0;
    for (std::uint32_t& f : to.first_edge) edges += std::exchange(f, edges);
    resize_in_parts(to.edges, edges, poll);
    next = to.first_edge;
    auto distance = [&](std::uint32_t below, std::uint32_t above) {
        if (!is_one_piece(below) || !is_one_piece(above))
            return number(min_separation(from, below, above).distance);
        return to.spans[to.first_span[below]].end - to.spans[to.first_span[above]].begin;
    };
    for_each_pair([&](std::uint32_t a, std::uint32_t b) {
        search_number const up = distance(a, b), down = distance(b, a);
        to.edges[next[a]++] = {b, up, down};
        to.edges[next[b]++] = {a, down, up};
    });
    return to;
}

} // namespace sublet::detail
