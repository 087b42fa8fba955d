// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_SECTIONS_HPP
#define SUBLET_PLACEMENT_DETAIL_SECTIONS_HPP

/// Shapes cut at the times where any begins or ends, in numbers that are small enough to be searched fast.

#include <sublet/placement/detail/shapes.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <span>
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
    byte_count height_bound =
        0; ///< in units: whatever order shapes are stacked in, they end below it or never fit
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
/// at them. Numbers are units of scaled_shapes.

using search_number = std::int64_t; ///< signed, and wide enough for twice the capacity

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
        search_number up;   ///< how far `to` is above at least, if it is above
        search_number down; ///< and how far it is below, if it is below
    };

    std::uint32_t shapes = 0;
    std::uint32_t sections = 0;
    bool has_alignment = false;
    byte_count unit = 1;
    std::vector<std::uint32_t> first_span, first_edge; ///< by shape, and one more
    std::vector<std::uint32_t> first_member;           ///< by section, and one more
    std::vector<span> spans;
    std::vector<member> members; ///< of each section by number
    std::vector<edge> edges;     ///< ascending
    std::vector<search_number> alignment, phase, lowest,
        highest;                            ///< by shape; of origins the lowest and highest
    std::vector<search_number> load;        ///< by section: the height of all pieces
    std::vector<std::uint32_t> first, last; ///< by shape: its sections, from the first to the last
    std::vector<byte_count> size;           ///< by shape, in bytes
    std::vector<std::uint32_t> length;      ///< by shape, in positions

    std::vector<search_number> max_origin; ///< by shape: its highest origin; -1 if it is too large
    std::vector<search_number> room;       ///< by section: where pieces end at the latest

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

    /// What s needs to have its origin there; `no_limit` beyond its pin.
    [[nodiscard]] byte_count height_at(std::uint32_t s, search_number origin) const
    {
        return origin > highest[s] ? no_limit : static_cast<byte_count>(origin) * unit + size[s];
    }

    /// What may end where, in an arena of `capacity` units and `rest` bytes.
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
    }
};

/// Complexity: O(n * pieces + sections * n) at worst, O(n + pairs that meet + sizes of sections) if shapes
/// are
///             plain.
[[nodiscard]] search_problem search_problem_of(scaled_shapes const& scaled);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/sections.ipp>
#endif

#endif
