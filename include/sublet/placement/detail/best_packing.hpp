// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_BEST_PACKING_HPP
#define SUBLET_PLACEMENT_DETAIL_BEST_PACKING_HPP

/// The best of several constructive heuristics for placing shapes: best fit away from the peak, bottom-left
/// fit, and fit() into gaps, with several orders. No guaranteed factor; stops at the lower bound.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/bound.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/search_control.hpp>
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

// --- bottom-left fit -------------------------------------------------------------------------------------

/// Places shapes from the bottom up: the next is always one that can lie lowest. Ignores preferred origins.
///
///     offset |          +----+             a, b and c can lie at 0; b, which is live at the peak, is first,
///            |     +----+ e? |             then a and c; now d and e can lie lowest, on a; of these d is
///            |-----+  b | c  |             taken, which is live where more bytes are still to be placed
///            |  a  |    +----+--+
///            |-----+----+-------+--> position
///
/// Every placement in which no shape can be lowered is such a sequence. Ties go to where most bytes are still
/// to be placed, since waste raises the arena most there; `order` breaks ties between shapes of one position.
///
/// Source: the first descent of the branch and bound of Moffitt, "MiniMalloc: a lightweight memory allocator
/// for hardware-accelerated machine learning", ASPLOS 2023, which has a static order instead.
///
/// Requires:   `order` names each shape once; `bound` is that of the shapes; none is pinned.
/// Ensures:    as fit(); no origin is below that of one placed before. Given up if it ends above the ceiling.
/// Complexity: O(n * (n + positions)) time, n = shapes; O(n + positions) memory.
[[nodiscard]] packing bottom_left_fit(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                      placement_bound const& bound, byte_count ceiling = no_limit - 1,
                                      fit_stop stop = {});

// --- time components -------------------------------------------------------------------------------------

/// Shapes split at positions that no live range crosses: each component is placed independently.
///
///     [====)   [===)     |  [=====)      |    [=)
///        [=======)       |     [======)  |  [=====)
///          [=====)       |               |  [===)
///          component 0     component 1     component 2
///
/// The arena is as high as the highest component. Batches and repeated steps make many components.

/// By component, the number of its first shape; then the number of shapes.  O(n)
/// Once `poll` has stopped, some may be missing.
[[nodiscard]] std::vector<std::uint32_t> time_components(placement_shapes const& all,
                                                         step_poll const& poll = {});

/// The shapes from `first` to before `last` as shapes of their own, without their buffers.
///
/// Requires:   first < last.
/// Ensures:    shape i is first + i of all; positions are only those from its first begin to its last end.
///             Once `poll` has stopped, some shapes may be missing.
/// Complexity: O(shapes and positions of the component).
[[nodiscard]] placement_shapes component_of(placement_shapes const& all, std::uint32_t first,
                                            std::uint32_t last, step_poll const& poll = {});

// --- best packing ----------------------------------------------------------------------------------------

///     bottom_left            the shape that can lie lowest is next              few shapes: quadratic
///     from_peak              the nearest in time is next, away from the peak    any number
///     below_roof             the same, at both ends of gaps below the bound     any number
///     first_fit, best_fit    one after the other into a gap                     any number; may be slow
///
///     for each method and order, for each time component that is above the bound:  pack it; keep the lowest
///     stop when all equal the bound: the result is optimal
///
/// Shapes with a pin or a preferred origin are placed by first_fit and best_fit only.
enum class packing_method : std::uint8_t { first_fit, best_fit, from_peak, below_roof, bottom_left };

inline constexpr std::size_t max_quadratic_shapes = 2048;

/// All shapes one above the other, above those with pins; its height is `no_limit` if 64 bits do not suffice.
/// Requires: no two pins conflict.  O(n)
[[nodiscard]] packing stack_all(placement_shapes const& all);

/// The best of up to three packings, fast; its height is `no_limit` only if 64 bits do not suffice.
///
/// Requires:   no two pins conflict; `bound` is that of the shapes.
/// Complexity: O(n log n) if nothing is pinned or prefers an origin; otherwise gap search ends after a few
///             visits per shape. O(n) from when the control stops: all other shapes are stacked.
[[nodiscard]] packing first_packing(placement_shapes const& all, placement_bound const& bound,
                                    search_control& control);
[[nodiscard]] packing first_packing(placement_shapes const& all, placement_bound const& bound);

/// `best`, or a lower packing: attempts until the height is `bound.bytes`, or so many visits are spent that
/// no further attempt begins. `tried` counts the attempts.
///
/// Requires:   as first_packing(); the bound's `bytes` may be any height that is low enough; `best` has an
///             origin for each shape.
[[nodiscard]] packing best_packing(placement_shapes const& all, placement_bound const& bound,
                                   std::uint64_t visits, packing best, search_control& control,
                                   std::uint32_t& tried);

[[nodiscard]] packing best_packing(placement_shapes const& all, placement_bound const& bound,
                                   std::uint64_t visits, packing best, std::uint32_t& tried);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/best_packing.ipp>
#endif

#endif
