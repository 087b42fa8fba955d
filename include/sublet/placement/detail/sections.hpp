// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_SECTIONS_HPP
#define SUBLET_PLACEMENT_DETAIL_SECTIONS_HPP

/// The input of the exact search: shapes in small integer units, the distances of those that are live
/// together, and the sections of time. O(n + pairs + section members) as a rule.

#include <sublet/core/units.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

// --- scaled shapes ---------------------------------------------------------------------------------------

/// Shapes in units instead of bytes, so that numbers in the search are small.
///
///     sizes 48, 80, 4096        unit 16: 3, 5, 256
///     all aligned to 64         unit 64: 1, 2, 64      padding behind an end cannot be used
///
/// In a lowest stacking each origin is 0, a pin, a phase, or the least that others allow: a sum of
/// distances, rounded up to alignments. So it is a multiple of every common divisor of these.

namespace sublet::detail {

/// Shapes with ends rounded up and distances divided by `unit`; sizes stay in bytes.
struct scaled_shapes {
    placement_shapes shapes;
    byte_count unit = 1;
    byte_count height_bound = 0; ///< in units: no stacking order needs more
};

/// Complexity: O(pieces), a few times.
[[nodiscard]] scaled_shapes scale_down(placement_shapes const& all);

// --- sections --------------------------------------------------------------------------------------------

///     a  [=======)                     section   0    1    2
///     b      [=======)                           a b  b c  d
///     c          [=======)             A section is a rank with a maximal set of live
///     d                  [===)         pieces; other ranks add no constraint.
///     rank   0   1   2   3   4   5

using search_number = std::int64_t; ///< in units of scaled_shapes; wide enough for twice the capacity

struct search_problem {
    struct span { ///< a piece, in sections
        std::uint32_t first, last;
        search_number begin, end;
    };
    struct member { ///< a piece, in a section
        std::uint32_t shape;
        search_number begin;
    };
    struct edge {
        std::uint32_t to;
        search_number up;   ///< least distance of `to` above, if it is above
        search_number down; ///< least distance of `to` below, if it is below
    };

    std::uint32_t shapes = 0;
    std::uint32_t sections = 0;
    bool has_alignment = false;
    byte_count unit = 1;
    std::vector<std::uint32_t> first_span, first_edge; ///< by shape, and one more
    std::vector<std::uint32_t> first_member;           ///< by section, and one more
    std::vector<span> spans;
    std::vector<member> members;                                  ///< by section, ascending by shape
    std::vector<edge> edges;                                      ///< ascending
    std::vector<search_number> alignment, phase, lowest, highest; ///< by shape
    std::vector<search_number> load;        ///< by section: sum of the heights of its pieces
    std::vector<std::uint32_t> first, last; ///< by shape: its range of sections
    std::vector<byte_count> size;           ///< by shape, in bytes
    std::vector<std::uint32_t> length;      ///< by shape, in positions

    std::vector<search_number> max_origin; ///< by shape: its highest origin; -1 if it is too large
    std::vector<search_number> room;       ///< by section: the highest end of a piece
    /// Some sizes are no multiples of the unit: a piece may end higher than another, by less than a unit in
    /// bytes but by one in units. So room counts only as long as a piece with the highest end is unplaced.
    bool has_padding = false;
    std::vector<search_number> lower_room; ///< by section: the highest end below room; or room
    std::vector<std::uint32_t> tops;       ///< by section: its pieces with the highest end

    [[nodiscard]] bool is_top(std::uint32_t shape, span const& p, std::uint32_t section) const
    {
        return max_origin[shape] + p.end == room[section];
    }

    [[nodiscard]] std::span<span const> spans_of(std::uint32_t s) const
    {
        return {spans.data() + first_span[s], spans.data() + first_span[s + 1]};
    }
    [[nodiscard]] std::span<edge const> edges_of(std::uint32_t s) const
    {
        return {edges.data() + first_edge[s], edges.data() + first_edge[s + 1]};
    }
    [[nodiscard]] search_number aligned(std::uint32_t s, search_number at) const
    {
        if (!has_alignment || alignment[s] == 1) return at;
        if (at <= phase[s]) return phase[s];
        search_number const past = (at - phase[s]) % alignment[s];
        return past == 0 ? at : at + (alignment[s] - past);
    }

    /// The height that s needs at this origin; `no_limit` above its pin.
    [[nodiscard]] byte_count height_at(std::uint32_t s, search_number origin) const
    {
        return origin > highest[s] ? no_limit : static_cast<byte_count>(origin) * unit + size[s];
    }

    void set_capacity(byte_count capacity)
    {
        room.assign(sections, 0);
        max_origin.resize(shapes);
        for (std::uint32_t s = 0; s != shapes; ++s) {
            max_origin[s] = size[s] > capacity ? search_number{-1}
                                               : static_cast<search_number>((capacity - size[s]) / unit);
            max_origin[s] = smaller(max_origin[s], highest[s]);
            for (span const& p : spans_of(s))
                for (std::uint32_t i = p.first; i != p.last; ++i)
                    room[i] = larger(room[i], max_origin[s] + p.end);
        }
        if (has_padding) find_tops();
    }

    void find_tops()
    {
        tops.assign(sections, 0);
        lower_room.assign(sections, std::numeric_limits<search_number>::min());
        for (std::uint32_t s = 0; s != shapes; ++s)
            for (span const& p : spans_of(s))
                for (std::uint32_t i = p.first; i != p.last; ++i)
                    if (is_top(s, p, i)) ++tops[i];
                    else lower_room[i] = larger(lower_room[i], max_origin[s] + p.end);
        for (std::uint32_t i = 0; i != sections; ++i)
            if (lower_room[i] == std::numeric_limits<search_number>::min()) lower_room[i] = room[i];
    }
};

/// Complexity: O(n * pieces + sections * n) at worst, O(n + pairs that are live together + sizes of
///             sections) if all shapes are plain.
///
/// Once `poll` has stopped, members or edges may be missing.
[[nodiscard]] search_problem search_problem_of(scaled_shapes const& scaled, step_poll const& poll = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/sections.ipp>
#endif

#endif
