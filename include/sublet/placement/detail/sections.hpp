// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_SECTIONS_HPP
#define SUBLET_PLACEMENT_DETAIL_SECTIONS_HPP

/// Shapes cut at the times where any begins or ends, in numbers that are small enough to be searched fast.

#include <sublet/placement/detail/shapes.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

// --- scaled shapes ---------------------------------------------------------------------------------------

/// Shapes in units instead of bytes, so that a search counts with small numbers.
///
///     sizes 48, 80, 4096        unit 16: 3, 5, 256
///     all aligned to 64         unit 64: 1, 2, 64      what is left over behind an end is of use to nobody
///
/// In a stacking each origin is 0, a pin, a phase, or the least that some others allow: a sum of distances,
/// rounded up to alignments. So it is a multiple of whatever divides them all.

namespace sublet::detail {

/// Shapes with ends rounded up and distances divided by `unit`; sizes are as they were, in bytes.
struct scaled_shapes {
    placement_shapes shapes;
    byte_count unit = 1;
    byte_count enough = 0; ///< in units: whatever order shapes are stacked in, they end below it or never fit
};

/// Complexity: O(pieces), a few times.
[[nodiscard]] scaled_shapes scale_down(placement_shapes const& all);

// --- sections --------------------------------------------------------------------------------------------

/// What an exact search looks at: who meets whom and how far apart, and the sections of time.
///
///     a  [=======)                     section   0    1    2
///     b      [=======)                           a b  b c  d
///     c          [=======)
///     d                  [===)         Ranks at which nothing ends that was not
///                                      there before see no more than others do.
///     rank   0   1   2   3   4   5
///
/// A section is a rank at which a set of pieces is alive that no other rank has more of: it is enough to look
/// at them. Numbers are units of scaled_shapes.hpp.

/// The numbers are `Number`s: signed, and wide enough for twice the capacity.
template <class Number>
struct search_problem {
    struct span { ///< a piece, in sections
        std::uint32_t first, last;
        Number begin, end;
    };
    struct member { ///< a piece, in a section
        std::uint32_t shape;
        Number begin;
    };
    struct edge {
        std::uint32_t to;
        Number up;   ///< how far `to` is above at least, if it is above
        Number down; ///< and how far it is below, if it is below
    };

    std::uint32_t shapes = 0;
    std::uint32_t sections = 0;
    bool has_alignment = false;
    byte_count unit = 1;
    std::vector<std::uint32_t> first_span, first_edge; ///< by shape, and one more
    std::vector<std::uint32_t> first_member;           ///< by section, and one more
    std::vector<span> spans;
    std::vector<member> members;                           ///< of each section by number
    std::vector<edge> edges;                               ///< ascending
    std::vector<Number> alignment, phase, lowest, highest; ///< by shape; of origins the lowest and highest
    std::vector<Number> load;                              ///< by section: the height of all pieces
    std::vector<std::uint32_t> first, last; ///< by shape: its sections, from the first to the last
    std::vector<byte_count> size;           ///< by shape, in bytes
    std::vector<std::uint32_t> length;      ///< by shape, in positions

    std::vector<Number> most; ///< by shape: its highest origin; -1 if it is too large
    std::vector<Number> room; ///< by section: where pieces end at the latest

    [[nodiscard]] std::span<span const> spans_of(std::uint32_t s) const
    {
        return {spans.data() + first_span[s], spans.data() + first_span[s + 1]};
    }
    [[nodiscard]] std::span<edge const> edges_of(std::uint32_t s) const
    {
        return {edges.data() + first_edge[s], edges.data() + first_edge[s + 1]};
    }
    [[nodiscard]] Number aligned(std::uint32_t s, Number at) const
    {
        if (!has_alignment || alignment[s] == 1) return at;
        if (at <= phase[s]) return phase[s];
        Number const past = (at - phase[s]) % alignment[s];
        return past == 0 ? at : at + (alignment[s] - past);
    }

    /// What s needs to have its origin there; `no_limit` beyond its pin.
    [[nodiscard]] byte_count height_at(std::uint32_t s, Number origin) const
    {
        return origin > highest[s] ? no_limit : static_cast<byte_count>(origin) * unit + size[s];
    }

    /// What may end where, in an arena of `capacity` units and `rest` bytes.
    void set_capacity(byte_count capacity)
    {
        room.assign(sections, 0);
        most.resize(shapes);
        for (std::uint32_t s = 0; s != shapes; ++s) {
            most[s] = size[s] > capacity ? Number{-1} : static_cast<Number>((capacity - size[s]) / unit);
            most[s] = smaller(most[s], highest[s]);
            for (span const& p : spans_of(s))
                for (std::uint32_t i = p.first; i != p.last; ++i) room[i] = larger(room[i], most[s] + p.end);
        }
    }
};

/// Complexity: O(n * pieces + sections * n) at worst, O(n + pairs that meet + sizes of sections) if shapes
/// are
///             plain.
template <class Number>
[[nodiscard]] search_problem<Number> search_problem_of(scaled_shapes const& scaled)
{
    placement_shapes const& from = scaled.shapes;
    search_problem<Number> to;
    std::size_t const n = from.size();
    auto number = [](auto value) { return static_cast<Number>(value); };
    to.shapes = static_cast<std::uint32_t>(n);
    to.unit = scaled.unit;

    // By rank: the sections that end there or before. One ends where a piece does, if any piece has begun
    // since the last.
    std::vector<std::uint32_t> ended(from.positions.size(), 0);
    std::vector<unsigned char> begins(from.positions.size(), 0), ends(from.positions.size(), 0);
    for (shape_piece const& p : from.pieces) begins[p.when.first] = ends[p.when.last] = 1;
    bool has_begun = false;
    for (std::size_t r = 0; r != ended.size(); ++r) {
        if (ends[r] != 0 && std::exchange(has_begun, false)) ++to.sections;
        if (begins[r] != 0) has_begun = true;
        ended[r] = to.sections;
    }
    to.load.assign(to.sections, 0);
    to.first_span = from.first_piece;
    for (shape_piece const& p : from.pieces) {
        to.spans.push_back({ended[p.when.first], ended[p.when.last], number(p.begin), number(p.end)});
        for (std::uint32_t i = ended[p.when.first]; i != ended[p.when.last]; ++i)
            to.load[i] += number(p.end - p.begin);
    }
    for (placement_shape const& s : from.shapes) {
        to.alignment.push_back(number(s.alignment));
        to.phase.push_back(number(s.phase));
        bool const is_pinned = s.pinned != no_offset;
        to.lowest.push_back(number(is_pinned ? s.pinned : s.phase));
        to.highest.push_back(is_pinned ? to.lowest.back() : std::numeric_limits<Number>::max());
        to.size.push_back(s.size);
        to.length.push_back(from.positions[s.life.last] - from.positions[s.life.first]);
        to.first.push_back(ended[s.life.first]);
        to.last.push_back(ended[s.life.last]);
        if (s.alignment != 1) to.has_alignment = true;
    }

    to.first_member.assign(std::size_t{to.sections} + 1, 0);
    for (auto const& p : to.spans)
        for (std::uint32_t i = p.first; i != p.last; ++i) ++to.first_member[i];
    std::uint32_t members = 0;
    for (std::uint32_t& f : to.first_member) members += std::exchange(f, members);
    to.members.resize(members);
    std::vector<std::uint32_t> next = to.first_member;
    for (std::uint32_t s = 0; s != n; ++s)
        for (auto const& p : to.spans_of(s))
            for (std::uint32_t i = p.first; i != p.last; ++i) to.members[next[i]++] = {s, p.begin};

    auto is_one_piece = [&](std::uint32_t s) { return from.first_piece[s + 1] - from.first_piece[s] == 1; };
    auto for_each_pair = [&](auto visit) {
        for (std::uint32_t a = 0; a != n; ++a)
            for (std::uint32_t b = a + 1; b != n && from.shapes[b].life.first < from.shapes[a].life.last; ++b)
                if ((is_one_piece(a) && is_one_piece(b)) || reach(from, a, b).meets) visit(a, b);
    };
    to.first_edge.assign(n + 1, 0);
    for_each_pair([&](std::uint32_t a, std::uint32_t b) {
        ++to.first_edge[a];
        ++to.first_edge[b];
    });
    std::uint32_t edges = 0;
    for (std::uint32_t& f : to.first_edge) edges += std::exchange(f, edges);
    to.edges.resize(edges);
    next = to.first_edge;
    auto distance = [&](std::uint32_t below, std::uint32_t above) {
        if (!is_one_piece(below) || !is_one_piece(above)) return number(reach(from, below, above).distance);
        return to.spans[to.first_span[below]].end - to.spans[to.first_span[above]].begin;
    };
    for_each_pair([&](std::uint32_t a, std::uint32_t b) {
        Number const up = distance(a, b), down = distance(b, a);
        to.edges[next[a]++] = {b, up, down};
        to.edges[next[b]++] = {a, down, up};
    });
    return to;
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/sections.ipp>
#endif

#endif
