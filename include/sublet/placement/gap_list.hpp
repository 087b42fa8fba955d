// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_GAP_LIST_HPP
#define SUBLET_PLACEMENT_GAP_LIST_HPP

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

#include <sublet/placement/shapes.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

namespace detail {

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
    [[nodiscard]] cursor with_room(byte_count room) const;
    template <class Cursor>
    [[nodiscard]] Cursor next(Cursor c) const
    {
        return c.at + 1 == blocks_[number_[c.block]].size ? Cursor{c.block + 1, 0}
                                                          : Cursor{c.block, c.at + 1};
    }
    [[nodiscard]] bool is_past(cursor c) const { return c.block == first_.size(); }
    [[nodiscard]] gap const& operator[](cursor c) const { return blocks_[number_[c.block]].items[c.at]; }

private:
    static constexpr std::size_t most = 48;
    struct block {
        std::size_t size = 0;
        gap items[most];

        [[nodiscard]] std::size_t first_from(gap const& g) const
        {
            return first_that(size, [&](std::size_t i) { return !(items[i] < g); });
        }
    };

    /// The last that begins no later, or the first.
    template <class Gap>
    [[nodiscard]] std::size_t block_of(Gap const& g) const
    {
        std::size_t const behind = first_that(first_.size(), [&](std::size_t i) { return g < first_[i]; });
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
    void drop(Index which)
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

} // namespace detail

class gap_list {
public:
    /// An empty arena for so many shapes.
    explicit gap_list(std::size_t shapes);

    /// Into the tightest gap, of equals the lowest. The origin, or `no_offset` if it would end above the
    /// ceiling.
    ///
    /// Complexity: O(log gaps) and a look at some that alignment makes too small.
    byte_count take(std::uint32_t who, placement_shape const& shape, byte_count ceiling);

    /// On top of all others.
    void stack(std::uint32_t who, byte_count origin, byte_count size);

    void give_back(std::uint32_t who);

private:
    [[nodiscard]] detail::sorted_gaps::gap gap_above(std::uint32_t who) const
    {
        return {begin_[above_[who]] - end_[who], end_[who], who};
    }
    template <class Who>
    void offer(Who who)
    {
        if (begin_[above_[who]] != end_[who]) gaps_.insert(gap_above(who));
    }
    template <class Who>
    void withdraw(Who who)
    {
        if (begin_[above_[who]] != end_[who]) gaps_.erase(gap_above(who));
    }
    template <class Who>
    void put(Who who, byte_count origin, byte_count size, Who under)
    {
        begin_[who] = origin;
        end_[who] = origin + size;
        below_[who] = under;
        above_[who] = above_[under];
        below_[above_[under]] = who;
        above_[under] = who;
    }

    std::uint32_t border_;                     // below the lowest and above the highest
    std::vector<byte_count> begin_, end_;      // by shape, and the border
    std::vector<std::uint32_t> below_, above_; // by shape, of those alive
    detail::sorted_gaps gaps_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/gap_list.ipp>
#endif

#endif
