// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PLACED_HPP
#define SUBLET_PLACEMENT_PLACED_HPP

/// What has been placed so far, asked one question: who lies in the way of this life, from the bottom up?
///
///     offset
///       | [==c==]      [=e=]
///       |   [===d=======]            in the way of [.....]:  d, then e, then b is too early to matter
///       | [=b=]     [......]
///       +------------------> position
///
/// Two structures answer it. `placed_by_life` finds the few that overlap in time and sorts them: right when
/// a buffer meets few others. `placed_by_offset` keeps all sorted by offset and passes over the others; the
/// caller stops it at the first gap: right when a buffer meets a good part of all others, for it sorts
/// nothing. Both keep O(n) memory, whatever the number of pairs that overlap.

#include <sublet/live_range.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sublet {

struct placed {
    live_range life;
    byte_count offset;
    byte_count end;
};

/// Buffers numbered by birth, in the leaves of a tree that knows in each node the latest death below it.
///
/// Of those born before a life ends (a prefix), the ones that die after it begins are found by descending
/// only where the latest death is late enough.
///
/// Complexity: insertion O(log n); a query O(log n + k log n), k = buffers reported.
class placed_by_life {
public:
    /// `births` are the births of all buffers that will come, ascending: buffer i has rank i.
    explicit placed_by_life(std::vector<step_id> births) : births_(std::move(births)), items_(births_.size())
    {
        while (leaves_ < births_.size()) leaves_ *= 2;
        latest_death_.assign(2 * leaves_, 0);
    }

    template <class Item>
    void insert(std::size_t rank, Item const& item)
    {
        items_[rank] = item;
        for (std::size_t node = leaves_ + rank; node != 0; node /= 2)
            latest_death_[node] = std::max(latest_death_[node], item.life.last);
    }

    /// Calls `visit(placed const&)` by ascending offset until it returns false.
    template <class Visit>
    void for_each_in_the_way(live_range life, Visit visit)
    {
        auto const born_before = static_cast<std::size_t>(
            std::lower_bound(births_.begin(), births_.end(), life.last) - births_.begin());
        found_.clear();
        open_.assign(1, {1, 0, leaves_});
        while (!open_.empty()) {
            span const s = open_.back();
            open_.pop_back();
            if (s.first_leaf >= born_before || latest_death_[s.node] <= life.first) continue;
            if (s.leaves == 1) {
                found_.push_back({items_[s.first_leaf].offset, items_[s.first_leaf].end, s.first_leaf});
                continue;
            }
            std::size_t const half = s.leaves / 2;
            open_.push_back({2 * s.node + 1, s.first_leaf + half, half});
            open_.push_back({2 * s.node, s.first_leaf, half});
        }
        std::sort(found_.begin(), found_.end(), [](found const& a, found const& b) {
            return a.offset != b.offset ? a.offset < b.offset : a.rank < b.rank;
        });
        for (found const& f : found_)
            if (!visit(items_[f.rank])) return;
    }

private:
    struct span {
        std::size_t node, first_leaf, leaves;
    };
    struct found {
        byte_count offset, end;
        std::size_t rank;
    };
    std::vector<step_id> births_;
    std::vector<placed> items_;
    std::size_t leaves_ = 1;
    std::vector<step_id> latest_death_; // 0: nobody placed below
    std::vector<found> found_;
    std::vector<span> open_;
};

/// All that is placed, by ascending offset, in blocks; a block knows the hull of its lives.
///
/// Complexity: insertion O(block + n / block); a query O(buffers below where the caller stops), blocks whose
///             hull does not meet the life passed over at once.
class placed_by_offset {
public:
    template <class Item>
    void insert(std::size_t, Item const& item)
    {
        auto at = std::partition_point(blocks_.begin(), blocks_.end(), [&](block const& b) { return b.items.back().offset < item.offset; });
        if (at == blocks_.end()) {
            if (blocks_.empty()) blocks_.emplace_back();
            at = blocks_.end() - 1;
        }
        auto const where = std::partition_point(at->items.begin(), at->items.end(), [&](placed const& p) { return p.offset < item.offset; });
        at->items.insert(where, item);
        at->lives = hull(at->lives, item.life);
        if (at->items.size() > most) split(static_cast<std::size_t>(at - blocks_.begin()));
    }

    /// Calls `visit(placed const&)` by ascending offset until it returns false.
    template <class Visit>
    void for_each_in_the_way(live_range life, Visit visit) const
    {
        for (block const& b : blocks_) {
            if (!overlaps(b.lives, life)) continue;
            for (placed const& p : b.items)
                if (p.life.first < life.last && life.first < p.life.last && !visit(p)) return;
        }
    }

private:
    static constexpr std::size_t most = 256;
    struct block {
        std::vector<placed> items;
        live_range lives;
    };

    template <class Index>
    void split(Index which)
    {
        block upper;
        block& lower = blocks_[which];
        auto const half = lower.items.begin() + most / 2;
        upper.items.assign(half, lower.items.end());
        lower.items.erase(half, lower.items.end());
        lower.lives = {};
        for (placed const& p : lower.items) lower.lives = hull(lower.lives, p.life);
        for (placed const& p : upper.items) upper.lives = hull(upper.lives, p.life);
        blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(which) + 1, std::move(upper));
    }

    std::vector<block> blocks_;
};

} // namespace sublet

#endif
