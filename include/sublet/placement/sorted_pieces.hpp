// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_SORTED_PIECES_HPP
#define SUBLET_PLACEMENT_SORTED_PIECES_HPP

/// Pieces that lie in an arena and may be taken away again, sorted by where they begin, or by where they end.
///
///     offset     +---c---+            sorted by begin: a, b, c
///       |    +-b-+  +-a--+--+         sorted by end:   b, c, a      (a ends above c's end here)
///       |           |       |
///       +-------------------------> position
///
/// A list of blocks, each of which knows from when to when those in it live: what is alive during a life
/// is found in order, and whole blocks that are not are passed over.

#include <sublet/live_range.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

/// A piece of a shape that has its place. `at` is what it is sorted by: one of its ends.
struct lying_piece {
    byte_count at = 0;
    byte_count other = 0; ///< its other end
    live_range when;
    std::uint32_t shape = 0;

    /// No two of those that lie are equal.
    [[nodiscard]] friend constexpr bool operator<(lying_piece const& a, lying_piece const& b) noexcept
    {
        if (a.at != b.at) return a.at < b.at;
        return a.shape != b.shape ? a.shape < b.shape : a.when.first < b.when.first;
    }
};

/// Complexity: an insertion or removal O(block + log n), now and then O(blocks); a list O(blocks + pieces in
///             the blocks that are alive with it).
class sorted_pieces {
public:
    void insert(lying_piece const& piece);

    /// Requires: it lies there.
    void erase(lying_piece const& piece);

    /// Append those that overlap `when`, ascending; returns how many were looked at.
    std::uint64_t list(live_range when, std::vector<lying_piece>& found) const;

private:
    static constexpr std::size_t most = 128;
    struct block {
        lying_piece lowest = {}; // none of these is below it, none of those in lower blocks is not
        live_range lives = {};   // the hull of theirs, and perhaps of some that have gone
        std::vector<lying_piece> items = {};
    };

    [[nodiscard]] std::size_t block_of(lying_piece const& piece) const;

    /// Those from place `at` on become a block of their own: as many as there are below, or the last one, if
    /// they come in order.
    template <class Index>
    void split(Index which, std::size_t at)
    {
        block upper, lower;
        std::vector<lying_piece> const& items = blocks_[which].items;
        for (std::size_t i = 0; i != items.size(); ++i) {
            block& half = i < at ? lower : upper;
            half.items.push_back(items[i]);
            half.lives = hull(half.lives, items[i].when);
        }
        lower.lowest = blocks_[which].lowest;
        upper.lowest = items[at];
        blocks_[which] = std::move(lower);
        blocks_.push_back(std::move(upper));
        for (std::size_t i = blocks_.size() - 1; i != which + 1; --i) std::swap(blocks_[i], blocks_[i - 1]);
    }

    std::vector<block> blocks_{1};
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/sorted_pieces.ipp>
#endif

#endif
