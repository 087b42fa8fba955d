// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PLACED_HPP
#define SUBLET_PLACEMENT_PLACED_HPP

/// What has been placed so far, asked one question: who lies in the way of this life, from the bottom up?
///
///     offset        column 0   |   column 1   |   column 2
///       |      [====c====]     |        [===e=|=]
///       |          [======d====|==]           |
///       |        [=b=]         | [......]     |           in the way of [......]: d, for column 1 lists
///       +----------------------+--------------+------     d and e by offset, and e is too late to matter
///
/// Positions are cut into columns of one width, and each lists those alive in it by ascending offset. A life
/// within one column walks one list, and the caller stops it at the first gap; a longer one merges the lists
/// of its columns. With columns no narrower than lives are long on the average, there are at most three
/// entries a buffer on the average, whatever the number of pairs that overlap.
///
/// A list is cut into blocks. Where all of a block are in the way and leave no gap that is wide enough, the
/// block is shown as one: where all live together, nobody walks past all of them one by one.

#include <sublet/contract.hpp>
#include <sublet/live_range.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

struct placed {
    live_range life;
    byte_count offset;
    byte_count end;
};

/// Complexity: insertion O(columns of its life * (block + entries of a column / block)); a query O(entries
///             of the columns of its life that lie below where the caller stops), times the logarithm of
///             the number of these columns.
class placed_by_column {
public:
    /// Requires: no life goes beyond `positions`.
    /// Throws:   precondition_error unless `width` is a power of two.
    placed_by_column(step_id positions, step_id width)
        : shift_(doublings(width)), lowest_((std::size_t{positions} >> shift_) + 1, no_block)
    {
    }

    template <class Item>
    void insert(Item const& item)
    {
        for (step_id c = column_of(item.life.first), last = column_of(item.life.last - 1); c <= last; ++c)
            insert(lowest_[c], item);
    }

    /// Calls `visit(placed const&)` for those that overlap `life`, by ascending offset until it says false;
    /// once for several where no gap between them has `room` bytes.
    ///
    /// Requires: `life` is not empty.
    template <class Visit>
    void for_each_in_the_way(live_range life, byte_count room, Visit visit)
    {
        step_id const first = column_of(life.first), last = column_of(life.last - 1);
        if (first == last) {
            for (std::uint32_t i = lowest_[first]; i != no_block; i = blocks_[i].above) {
                block& b = blocks_[i];
                if (!meet(b.lives, life)) continue;
                if (meet(b.common, life) && widest_gap(b) < room) {
                    if (!visit(placed{life, b.items.front().offset, b.end})) return;
                    continue;
                }
                for (placed const& p : b.items)
                    if (meet(p.life, life) && !visit(p)) return;
            }
            return;
        }
        // A heap of cursors, one a column, the lowest offset on top.
        cursors_.clear();
        for (step_id c = first; c <= last; ++c) {
            cursor fresh = bottom_of(lowest_[c], c);
            if (advance(fresh, life, first)) cursors_.push_back(fresh);
        }
        for (std::size_t hole = cursors_.size() / 2; hole-- != 0;) sink(hole, cursors_[hole]);
        while (!cursors_.empty()) {
            if (!visit(*cursors_.front().at)) return;
            cursor top = cursors_.front();
            ++top.at;
            if (!advance(top, life, first)) {
                top = cursors_.back();
                cursors_.pop_back();
                if (cursors_.empty()) return;
            }
            sink(std::size_t{0}, top);
        }
    }

private:
    // A column is a linked list of blocks: an insertion moves the entries of one, and a query passes over
    // those whose lives it does not meet. All blocks lie in one table, for a table a column would cost
    // compile time.
    static constexpr std::size_t most = 256;
    static constexpr std::uint32_t no_block = ~std::uint32_t{0};
    struct block {
        std::vector<placed> items;
        std::uint32_t above = no_block;
        live_range lives;  // the hull of theirs
        live_range common; // the last birth and the first death: may be the wrong way round
        bool is_measured = false;
        byte_count gap = 0; // the widest between them
        byte_count end = 0; // of the highest
    };
    struct cursor {
        block const* in; // null beyond the last
        placed const* at;
        step_id column;
    };

    static step_id doublings(step_id width)
    {
        SUBLET_EXPECTS(std::has_single_bit(width), "sublet: the width of a column is a power of two");
        return static_cast<step_id>(std::countr_zero(width));
    }
    [[nodiscard]] step_id column_of(step_id position) const { return position >> shift_; }

    /// As `overlaps`, for ranges that are known not to be empty.
    static bool meet(live_range a, live_range b) { return a.first < b.last && b.first < a.last; }

    /// Measured when it is first asked for, for most blocks are never wholly in the way of anybody.
    template <class Block>
    static byte_count widest_gap(Block& b)
    {
        if (b.is_measured) return b.gap;
        b.is_measured = true;
        b.gap = 0;
        b.end = b.items.front().end;
        for (placed const& p : b.items) {
            if (p.offset > b.end) b.gap = larger(b.gap, p.offset - b.end);
            b.end = larger(b.end, p.end);
        }
        return b.gap;
    }

    /// Put a cursor into the heap where a hole is, or below.
    template <class Index>
    void sink(Index hole, cursor const c)
    {
        std::size_t const size = cursors_.size();
        for (Index child; (child = 2 * hole + 1) < size; hole = child) {
            if (child + 1 < size && cursors_[child + 1].at->offset < cursors_[child].at->offset) ++child;
            if (c.at->offset <= cursors_[child].at->offset) break;
            cursors_[hole] = cursors_[child];
        }
        cursors_[hole] = c;
    }

    /// At the first entry of a block.
    cursor bottom_of(std::uint32_t which, step_id column) const
    {
        if (which == no_block) return {nullptr, nullptr, column};
        return {&blocks_[which], blocks_[which].items.data(), column};
    }

    /// Move to the next that overlaps `life` and has not been in an earlier column from `first` on.
    bool advance(cursor& c, live_range life, step_id first) const
    {
        for (; c.in != nullptr; c = bottom_of(c.in->above, c.column)) {
            placed const* const end = c.in->items.data() + c.in->items.size();
            if (meet(c.in->lives, life))
                for (; c.at != end; ++c.at)
                    if (meet(c.at->life, life) && larger(column_of(c.at->life.first), first) == c.column)
                        return true;
        }
        return false;
    }

    template <class Block>
    static void cover(Block& b, live_range life)
    {
        if (is_empty(b.lives)) b.common = life;
        b.common = {larger(b.common.first, life.first), smaller(b.common.last, life.last)};
        b.lives = hull(b.lives, life);
        b.is_measured = false;
    }

    /// Into the first block that reaches as high, or the last; before its equals.
    template <class Item>
    void insert(std::uint32_t& lowest, Item const& item)
    {
        if (lowest == no_block) lowest = append(block{});
        std::uint32_t which = lowest;
        while (blocks_[which].above != no_block && blocks_[which].items.back().offset < item.offset)
            which = blocks_[which].above;
        std::vector<placed>& items = blocks_[which].items;
        items.push_back(item);
        std::size_t at = items.size() - 1;
        for (; at != 0 && items[at - 1].offset >= item.offset; --at) items[at] = items[at - 1];
        items[at] = item;
        cover(blocks_[which], item.life);
        if (items.size() > most) split(which);
    }

    template <class Index>
    void split(Index which)
    {
        block lower, upper;
        std::vector<placed> const& items = blocks_[which].items;
        for (std::size_t i = 0; i != items.size(); ++i) {
            block& half = i < most / 2 ? lower : upper;
            half.items.push_back(items[i]);
            cover(half, items[i].life);
        }
        upper.above = blocks_[which].above;
        lower.above = append(std::move(upper));
        blocks_[which] = std::move(lower);
    }

    template <class Block>
    std::uint32_t append(Block&& fresh)
    {
        blocks_.push_back(std::move(fresh));
        return static_cast<std::uint32_t>(blocks_.size() - 1);
    }

    step_id shift_;
    std::vector<std::uint32_t> lowest_; // by column: its first block
    std::vector<block> blocks_;
    std::vector<cursor> cursors_;
};

} // namespace sublet

#endif
