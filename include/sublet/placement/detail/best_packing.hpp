// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_BEST_PACKING_HPP
#define SUBLET_PLACEMENT_DETAIL_BEST_PACKING_HPP

/// The best of several constructive heuristics.

#include <sublet/detail/sorting.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- gap list --------------------------------------------------------------------------------------------

/// An arena at one moment: who is alive, from the bottom up, and the gaps between them, the tightest first.
///
///     0      8    12          24   30             gaps:   4 bytes at 8
///     +------+    +-----------+    +------+               6 bytes at 24
///     |  b   |    |     a     |    |  c   |               all that are above c
///     +------+    +-----------+    +------+
///
/// An allocator with boundary tags (Knuth, "The Art of Computer Programming" 1, section 2.5): who leaves
/// finds its neighbours by links, and the gaps beside it grow together. Gaps are found by their room: they
/// lie sorted in blocks, and a table says where each block begins, which is a tree of two levels with few
/// misses of the cache.

namespace sublet::detail {

/// Gaps by room, of equals by where they begin.
class sorted_gaps {
public:
    struct gap {
        byte_count room = 0, begin = 0;
        std::uint32_t below = 0; ///< who lies below it
        friend bool operator<(gap const& a, gap const& b)
        {
            return a.room != b.room ? a.room < b.room : a.begin < b.begin;
        }
    };
    struct cursor {
        std::size_t block = 0, at = 0;
    };

    void insert(gap const& g);

    /// Requires: it is in it.
    void erase(gap const& g);

    /// The first that has at least this room; past the last if none has.
    [[nodiscard]] cursor first_with_room(byte_count room) const;
    template <class Cursor>
    [[nodiscard]] Cursor next(Cursor c) const
    {
        return c.at + 1 == blocks_[number_[c.block]].size ? Cursor{c.block + 1, 0}
                                                          : Cursor{c.block, c.at + 1};
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

    /// The last that begins no later, or the first.
    template <class Gap>
    [[nodiscard]] std::size_t block_of(Gap const& g) const
    {
        std::size_t const behind =
            partition_point(first_.size(), [&](std::size_t i) { return g < first_[i]; });
        return behind == 0 ? 0 : behind - 1;
    }

    template <class Index>
    void split(Index which)
    {
        block upper;
        block& lower = blocks_[number_[which]];
        for (std::size_t i = most / 2; i != most; ++i) upper.items[upper.size++] = lower.items[i];
        lower.size = most / 2;
        std::uint32_t number = static_cast<std::uint32_t>(blocks_.size());
        if (unused_.empty()) {
            blocks_.push_back(upper);
        } else {
            number = unused_.back();
            unused_.pop_back();
            blocks_[number] = upper;
        }
        first_.push_back(upper.items[0]);
        number_.push_back(number);
        for (std::size_t i = first_.size() - 1; i != which + 1; --i) {
            first_[i] = first_[i - 1];
            number_[i] = number_[i - 1];
        }
        first_[which + 1] = upper.items[0];
        number_[which + 1] = number;
    }

    template <class Index>
    void erase_block(Index which)
    {
        unused_.push_back(number_[which]);
        for (std::size_t i = which + 1; i != first_.size(); ++i) {
            first_[i - 1] = first_[i];
            number_[i - 1] = number_[i];
        }
        first_.pop_back();
        number_.pop_back();
    }

    std::vector<gap> first_;            // by block in order: its first
    std::vector<std::uint32_t> number_; // by block in order: which of `blocks_`
    std::vector<block> blocks_;
    std::vector<std::uint32_t> unused_; // of `blocks_`
};

class gap_list {
public:
    /// An empty arena for so many shapes.
    explicit gap_list(std::size_t shapes);

    /// Into the tightest gap, of equals the lowest. The origin, or `no_offset` if it would end above the
    /// ceiling.
    ///
    /// Complexity: O(log gaps) and a look at some that alignment makes too small.
    byte_count allocate(std::uint32_t id, placement_shape const& shape, byte_count ceiling);

    /// On top of all others.
    void stack(std::uint32_t id, byte_count origin, byte_count size);

    void deallocate(std::uint32_t id);

private:
    [[nodiscard]] sorted_gaps::gap gap_above(std::uint32_t id) const
    {
        return {begin_[above_[id]] - end_[id], end_[id], id};
    }
    template <class Id>
    void insert_gap(Id id)
    {
        if (begin_[above_[id]] != end_[id]) gaps_.insert(gap_above(id));
    }
    template <class Id>
    void erase_gap(Id id)
    {
        if (begin_[above_[id]] != end_[id]) gaps_.erase(gap_above(id));
    }
    template <class Id>
    void put(Id id, byte_count origin, byte_count size, Id under)
    {
        begin_[id] = origin;
        end_[id] = origin + size;
        below_[id] = under;
        above_[id] = above_[under];
        below_[above_[under]] = id;
        above_[under] = id;
    }

    std::uint32_t sentinel_;                   // below the lowest and above the highest
    std::vector<byte_count> begin_, end_;      // by shape, and the border
    std::vector<std::uint32_t> below_, above_; // by shape, of those alive
    sorted_gaps gaps_;
};

// --- fit outwards ----------------------------------------------------------------------------------------

/// Place shapes from the peak outwards: stack those that are alive there, then allocate and free, once
/// forwards in time and once backwards.
///
///         <──── backwards   peak   forwards ────>
///                  +----+----|---+
///                  |    b    |   |----+             c is born when a has died: it takes the tightest
///        +---------+--+------|---+ c  |             of the gaps that are free at that time
///        |   d        |  a   | +-+----+
///        +------------+------|-+
///
/// Who comes next in time meets only those that are alive when it comes: all others are dead, or have not
/// come yet. So there is one list of gaps, as in an allocator, and neither past nor future is ever looked at;
/// a million shapes take no longer than a million allocations. Unlike an allocator, which begins at the
/// beginning, this one loses nothing at the peak. The tightest gap is much better here than the lowest, for
/// what leaves no rest makes no rest that is too small.
///
/// Where all live together, or each within another (brackets), nothing is lost at all. For others there is no
/// bound, but where shapes are many they are usually close.

/// Place all shapes, as if each were solid all its life.
///
/// Requires:   `order` names each shape once (those that are alive at the peak are stacked in it); `bound` is
///             that of the shapes; none is pinned. Preferred origins are not looked at.
/// Ensures:    as fit(): given up if it ends above the ceiling.
/// Complexity: O(n log n) time, O(n + positions) memory, n = shapes.
[[nodiscard]] packing fit_from_peak(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                    placement_bound const& bound, byte_count ceiling = no_limit - 1);

// --- fit upwards -----------------------------------------------------------------------------------------

/// Place shapes from the bottom up: next is always one that can lie as low as any.
///
///     offset |          +----+             a, b and c can lie at 0; most bytes are alive where b lives, so
///            |     +----+ e? |             b is first, then a and c; now d and e can lie on a at the
///            |-----+  b | c  |             lowest, and of these d lives at a time when more is to come
///            |  a  |    +----+--+
///            |-----+----+-------+--> position
///
/// A placement in which nothing can be lowered is such a sequence, so nothing is lost by looking for one. Of
/// those that can lie equally low that one is taken that lives where most bytes are still to be placed: there
/// the arena will be highest if anything is wasted.
///
/// It is what a branch and bound for this problem tries first (Moffitt, "MiniMalloc: a lightweight memory
/// allocator for hardware-accelerated machine learning", ASPLOS 2023), with the choice of the time in place
/// of a static order: that one only breaks ties.

/// Place all shapes; of those that are alive at one time and can lie equally low, in the given order.
///
/// Requires:   `order` names each shape once; `bound` is that of the shapes; none is pinned. Preferred
/// origins
///             are not looked at.
/// Ensures:    as fit(); no origin is below that of one placed before. Given up if it ends above the ceiling.
/// Complexity: O(n * (n + positions)) time, n = shapes; O(n + positions) memory.
[[nodiscard]] packing bottom_left_fit(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                      placement_bound const& bound, byte_count ceiling = no_limit - 1);

// --- parts in time ---------------------------------------------------------------------------------------

/// Shapes cut into parts where nobody lives on: each may be placed as if there were no others.
///
///     [====)   [===)     |  [=====)      |    [=)
///        [=======)       |     [======)  |  [=====)
///          [=====)       |               |  [===)
///           part 0          part 1          part 2
///
/// The arena is as high as the highest part. A batch of programs, or one whose steps are repeated, falls into
/// many, and each has a peak of its own to begin at.

/// By part, the number of its first shape; and the number of shapes behind them.  O(n)
[[nodiscard]] std::vector<std::uint32_t> time_components(placement_shapes const& all);

/// The shapes from `first` to before `last` as shapes of their own, without their buffers.
///
/// Requires:   first < last.
/// Ensures:    shape i is first + i of all; positions are only those from its first birth to its last death.
/// Complexity: O(shapes and positions of the part).
[[nodiscard]] placement_shapes component_of(placement_shapes const& all, std::uint32_t first,
                                            std::uint32_t last);

// --- best packing ----------------------------------------------------------------------------------------

/// The lowest of the packings that several ways and orders make.
///
///     upwards      next is what can lie lowest          where shapes are few: it looks at all of them each
///     time outwards     next is what comes next, away from the peak                           for any number
///     of them lowest, tightest     one after the other into a gap           for any number, but gaps may be
///     hard to find
///
///     for each way and order, for each part of time that is still too high:  pack it; keep the lowest
///     stop when all are as low as the bound: nothing can be lower
///
/// Greedy, with no guaranteed factor: a problem that one order packs badly is often one that another packs
/// well. What is pinned, or prefers an origin, goes into gaps only.

enum class packing_method : std::uint8_t { first_fit, best_fit, from_peak, bottom_left };

/// Shapes are few enough to look at each of them as often as there are shapes.
inline constexpr std::size_t max_quadratic_shapes = 2048;

/// What is tried can be tried for these shapes.
template <class Component>
bool is_possible(Component const& component, packing_method method)
{
    if (method == packing_method::bottom_left && component.shapes().size() > max_quadratic_shapes)
        return false;
    return !component.has_pin_or_preference || method == packing_method::first_fit ||
           method == packing_method::best_fit;
}

/// One packing, quickly: there is always one, unless 64 bits do not suffice; then its height is `no_limit`.
///
/// Requires:   no two pins clash; `bound` is that of the shapes.
/// Complexity: O(n log n) where nothing is pinned or prefers an origin; otherwise gaps are looked for only as
///             long as that takes few visits a shape.
[[nodiscard]] packing first_packing(placement_shapes const& all, placement_bound const& bound);

/// `best`, or what is lower: one attempt after the other, until the height is `bound.bytes`, or so many
/// visits are spent that nothing further is begun. `tried` counts the attempts.
///
/// Requires:   as first_packing(); the bound's `bytes` may be any height that is low enough; `best` has a
///             place for each shape.
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
