// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_FIT_FROM_PEAK_HPP
#define SUBLET_PLACEMENT_DETAIL_FIT_FROM_PEAK_HPP

/// Best fit in time, away from the peak, in O(n log n) for n shapes: shapes are allocated and freed in a
/// list of gaps, as an allocator does it, once forwards from the peak and once backwards.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/bound.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- gap list --------------------------------------------------------------------------------------------

/// The shapes that are live at the current position, by offset, and the gaps between them, by size.
///
///     0      8    12          24   30             gaps:   4 bytes at 8
///     +------+    +-----------+    +------+               6 bytes at 24
///     |  b   |    |     a     |    |  c   |               unlimited above c
///     +------+    +-----------+    +------+
///
/// An allocator with boundary tags (Knuth, "The Art of Computer Programming" 1, section 2.5): links find the
/// neighbours of a freed shape, and the gaps beside it are merged. Gaps are sorted by size in blocks, and a
/// table says where each block begins: a tree of two levels with few cache misses.

namespace sublet::detail {

class sorted_gaps {
public:
    struct gap {
        byte_count room = 0, begin = 0;
        std::uint32_t below = 0; ///< the shape below it
        friend bool operator<(gap const& a, gap const& b)
        {
            return a.room != b.room ? a.room < b.room : a.begin < b.begin;
        }
    };
    struct cursor {
        std::size_t block = 0, at = 0;
    };

    void insert(gap const& g);

    /// Requires: the gap is in the list.
    void erase(gap const& g);

    /// The first gap with at least this room; past the last if there is none.
    [[nodiscard]] cursor first_with_room(byte_count room) const;
    [[nodiscard]] cursor next(cursor c) const
    {
        return c.at + 1 == blocks_[number_[c.block]].size ? cursor{c.block + 1, 0}
                                                          : cursor{c.block, c.at + 1};
    }
    [[nodiscard]] bool is_end(cursor c) const { return c.block == first_.size(); }
    [[nodiscard]] gap const& operator[](cursor c) const { return blocks_[number_[c.block]].items[c.at]; }

private:
    static constexpr std::size_t most = 48;
    struct block {
        std::size_t size = 0;
        gap items[most];

        [[nodiscard]] std::size_t first_from(gap const& g) const
        {
            return partition_point(size, [&](std::size_t i) { return !(items[i] < g); });
        }
    };

    [[nodiscard]] std::size_t block_of(gap const& g) const;
    void split(std::size_t which);
    void erase_block(std::size_t which);

    std::vector<gap> first_;            // by block in order: its first
    std::vector<std::uint32_t> number_; // by block in order: which of `blocks_`
    std::vector<block> blocks_;
    std::vector<std::uint32_t> unused_; // of `blocks_`
};

class gap_list {
    struct never {
        bool operator()(std::uint32_t, std::uint32_t) const { return false; }
    };

public:
    /// The highest gap ends at the roof.
    explicit gap_list(std::size_t shapes, byte_count roof = no_limit - 1);

    /// Places the shape into the smallest gap that fits, ties lowest: at its end if `is_at_end` says so of
    /// the shapes below and above it (`shapes`: the floor, or the roof), otherwise at its begin. Returns the
    /// origin, or `no_offset` if it would end above the ceiling.
    ///
    /// Complexity: O(log gaps), plus the gaps that alignment makes too small.
    template <class IsAtEnd = never>
    byte_count allocate(std::uint32_t id, placement_shape const& shape, byte_count ceiling,
                        IsAtEnd is_at_end = {})
    {
        if (shape.size > ceiling) return no_offset;
        int rejected = 0;
        for (auto found = gaps_.first_with_room(shape.size); !gaps_.is_end(found);) {
            sorted_gaps::gap const g = gaps_[found];
            byte_count at = align_up(g.begin, shape);
            byte_count const end = begin_[above_[g.below]];
            if (at < end && shape.size <= end - at) {
                if (at > ceiling - shape.size) return no_offset;
                if (is_at_end(g.below, above_[g.below]))
                    at += (end - at - shape.size) / shape.alignment * shape.alignment;
                gaps_.erase(g);
                put(id, at, shape.size, g.below);
                insert_gap(g.below);
                insert_gap(id);
                return at;
            }
            // After many gaps that only alignment made too small: with this much room any begin is fine.
            bool const skips_ahead = ++rejected == 64 && sum_fits(shape.size, shape.alignment);
            found = skips_ahead ? gaps_.first_with_room(shape.size + shape.alignment) : gaps_.next(found);
        }
        return no_offset;
    }

    void stack(std::uint32_t id, byte_count origin, byte_count size);

    void deallocate(std::uint32_t id);

private:
    [[nodiscard]] sorted_gaps::gap gap_above(std::uint32_t id) const
    {
        return {begin_[above_[id]] - end_[id], end_[id], id};
    }
    void insert_gap(std::uint32_t id)
    {
        if (begin_[above_[id]] != end_[id]) gaps_.insert(gap_above(id));
    }
    void erase_gap(std::uint32_t id)
    {
        if (begin_[above_[id]] != end_[id]) gaps_.erase(gap_above(id));
    }
    void put(std::uint32_t id, byte_count origin, byte_count size, std::uint32_t under)
    {
        begin_[id] = origin;
        end_[id] = origin + size;
        below_[id] = under;
        above_[id] = above_[under];
        below_[above_[under]] = id;
        above_[under] = id;
    }

    std::uint32_t sentinel_;                   // below the lowest and above the highest
    std::vector<byte_count> begin_, end_;      // by shape, and the sentinel
    std::vector<std::uint32_t> below_, above_; // by live shape
    sorted_gaps gaps_;
};

// --- fit from peak ---------------------------------------------------------------------------------------

/// Places shapes away from the peak: stacks those that are live there, then allocates and frees, once
/// forwards in time and once backwards. Ignores gaps, windows and preferred origins.
///
///         <──── backwards   peak   forwards ────>
///                  +----+----|---+
///                  |    b    |   |----+             c begins when a has ended: it takes the smallest
///        +---------+--+------|---+ c  |             gap that is free at that position
///        |   d        |  a   | +-+----+
///        +------------+------|-+
///
/// The next shape meets only shapes that are live at its begin, so one list of gaps suffices, as in an
/// allocator; but this starts at the peak, and loses nothing there. Best fit is much better here than first
/// fit: an exact fit leaves no small gap. Optimal if all shapes are live together, or if their live ranges
/// are nested; otherwise without guarantee, but for many shapes usually close to the bound.
///
/// With a roof a gap has two ends, and a shape lies at the one beside the shape (or floor, or roof) that is
/// live longer: what ends first then leaves one gap instead of two. In a chain, where each shape meets the
/// one before and the one after, they lie at the floor and at the roof in turn, which is optimal.
///
///        roof  ─────+------+───────+----+─────
///                   |  b   |       |  d |         b ends after a, so it lies at the roof, and c, which ends
///              +----|--+---|---+---+--+-|---+     after b, at the floor again
///              |   a   |   |     c    | |   |
///        floor ─────────────────────────────
///
/// Requires:   `order` names each shape once (it orders those that are live at the peak); `bound` is that of
///             the shapes; none is pinned.
/// Ensures:    as fit(): given up if it ends above the ceiling, which is the roof if `has_roof`.
/// Complexity: O(n log n) time, O(n + positions) memory, n = shapes.
[[nodiscard]] packing fit_from_peak(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                    placement_bound const& bound, byte_count ceiling = no_limit - 1,
                                    fit_stop stop = {}, bool has_roof = false);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/fit_from_peak.ipp>
#endif

#endif
