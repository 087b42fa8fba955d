// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_COLOR_INTERVALS_HPP
#define SUBLET_SHARING_COLOR_INTERVALS_HPP

/// Slots for buffers with intervals of positions as live ranges.
///
/// color() gives the fewest slots, equal to the most buffers alive at once, in O(n log n) by the
/// left-edge algorithm. share_linearly() takes sizes: each buffer in turn gets a free slot that fits, as in
/// linear-scan recyclers; a heuristic without bound on its bytes.

#include <sublet/core/internal/callables.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <set>
#include <vector>

// --- color intervals -------------------------------------------------------------------------------------

/// The interference graph is an interval graph, which one sweep from left to right colours optimally: a new
/// slot is opened only when all open slots are occupied at one position.
///
///     position   0   1   2   3   4
///     buffer 0   [=======)              slot 0
///     buffer 1       [=======)          slot 1
///     buffer 2           [=======)      slot 0   (buffer 0 ends at 2)
///
/// Source: Hashimoto and Stevens, "Wire routing by optimizing channel assignment within large apertures",
/// DAC 1971 (the left-edge algorithm).

namespace sublet {

/// Colours the intervals `lives(0) ... lives(buffers - 1)`.
///
/// Ensures:    buffers with overlapping ranges have different slots; `slots` equals the largest number of
///             buffers alive at one position, so no plan uses fewer. An empty range has `no_slot`. The slot
///             that has been free longest is taken first, then the lower one; of equal begins the lower index
///             comes first.
/// Complexity: O(n log n) time, O(n) memory, n = buffers; `lives` is called once per buffer.
template <detail::live_range_function Lives>
[[nodiscard]] slot_plan color(std::size_t buffers, Lives lives)
{
    struct interval {
        live_range life;
        buffer_id buffer;
    };
    std::vector<interval> intervals;
    intervals.reserve(buffers);
    for (buffer_id b = 0; b != buffers; ++b) {
        live_range const life = detail::call_user(lives, +b);
        if (!is_empty(life)) intervals.push_back({life, b});
    }
    detail::sort_by(intervals, [](interval const& a, interval const& b) {
        return a.life.first != b.life.first ? a.life.first < b.life.first : a.buffer < b.buffer;
    });

    struct busy_slot {
        position_id free_at;
        slot_id slot;
    };
    auto later = [](busy_slot a, busy_slot b) {
        return a.free_at != b.free_at ? a.free_at > b.free_at : a.slot > b.slot;
    };
    std::priority_queue<busy_slot, std::vector<busy_slot>, decltype(later)> busy_slots(later);

    slot_plan plan;
    plan.slot_of.assign(buffers, no_slot);
    for (interval const& a : intervals) {
        slot_id chosen = plan.slots;
        if (!busy_slots.empty() && busy_slots.top().free_at <= a.life.first) {
            chosen = busy_slots.top().slot;
            busy_slots.pop();
        } else {
            ++plan.slots;
        }
        plan.slot_of[a.buffer] = chosen;
        busy_slots.push({a.life.last, chosen});
    }
    return plan;
}

// --- linear ----------------------------------------------------------------------------------------------

/// One pass over the buffers by begin: each takes a free slot that fits, or opens a new one.
///
///     position   0   1   2   3            free slots when c (48 bytes) begins:  s0: 64 bytes
///     a: 64      [===)            s0      equal      opens a slot: 64 is not 48
///     b: 32          [=======)    s1      at_least   takes s0
///     c: 48              [===)    ?       best_fit   takes the smallest that is large enough: s0
///                                         grow       as best_fit, but would enlarge s0 if it were too small
///
/// For executors without an arena: each slot is an allocation of its own.
///
/// Source: the recyclers of Caffe2 (`memonger`, linear mode) and of PaddlePaddle (memory transpiler, levels
/// 0 and 1), on live ranges from first to last touch instead of names and last reads.

/// Which buffers may share, and which free slot one takes.
struct linear_options {
    /// Which free slot of its pool a buffer takes.
    enum class fit_kind : std::uint8_t {
        equal,    ///< the lowest of exactly its size, else a new one
        at_least, ///< the lowest that is at least as large, else a new one
        best_fit, ///< the smallest that is at least as large, else a new one
        grow      ///< as best_fit; if none is large enough the largest grows; a new one only if none is free
    };

    linear_options::fit_kind fit = linear_options::fit_kind::best_fit; ///< which free slot a buffer takes
    per_value<pool_id, buffer_id> pool = pool_id{0};                   ///< only buffers of one pool share
    per_value<bool, buffer_id> eligible = true;                        ///< false keeps a slot of its own
};

/// Gives every buffer a slot, in the order of their begins, equal ones by index.
///
/// Ensures:    buffers with overlapping ranges have different slots; a slot is as large as its largest
///             occupant. Slots of buffers that end at a position are free for those that begin there. An
///             empty range or 0 bytes has `no_slot`.
/// Complexity: O(n log n) time (at_least: O(n f), f = free slots at once), O(n) memory, n = buffers.
/// Throws:     precondition_error for a size that is negative or `no_size`, a pool id that is none, or if all
///             slots together exceed 64 bits.
template <detail::live_range_function Lives, detail::size_function Sizes>
[[nodiscard]] sized_slot_plan share_linearly(std::size_t buffers, Lives lives, Sizes sizes,
                                             linear_options const& options = {})
{
    auto const pool_of = options.pool.tabulate(buffers);
    auto const eligible = options.eligible.tabulate(buffers);

    struct occupant {
        live_range life;
        byte_count size;
        buffer_id buffer;
    };
    std::vector<occupant> by_begin;
    for (buffer_id b = 0; b != buffers; ++b) {
        occupant const t{detail::call_user(lives, +b), detail::to_byte_count(detail::call_user(sizes, +b)),
                         b};
        SUBLET_EXPECTS(t.size != no_size, "sublet: buffer %, of unknown size, cannot share a slot", b);
        SUBLET_EXPECTS(pool_of[b] != detail::no_pool, "sublet: buffer % names pool %, which is out of range",
                       b, pool_of[b]);
        if (!is_empty(t.life) && t.size != 0) by_begin.push_back(t);
    }
    std::vector<occupant> by_end = by_begin;
    detail::sort_by(by_begin, [](occupant const& a, occupant const& b) {
        return a.life.first != b.life.first ? a.life.first < b.life.first : a.buffer < b.buffer;
    });
    detail::sort_by(by_end, [](occupant const& a, occupant const& b) {
        return a.life.last != b.life.last ? a.life.last < b.life.last : a.buffer < b.buffer;
    });

    struct free_slot {
        pool_id pool;
        byte_count bytes;
        slot_id slot;
        auto operator<=>(free_slot const&) const = default;
    };
    std::set<free_slot> free;
    sized_slot_plan plan;
    plan.slot_of.assign(buffers, no_slot);

    auto choose = [&](occupant const& t) {
        pool_id const pool = pool_of[t.buffer];
        auto const end = free.lower_bound({pool + 1, 0, 0});
        auto fitting = free.lower_bound({pool, t.size, 0});
        if (fitting != end) {
            if (options.fit == linear_options::fit_kind::equal)
                return fitting->bytes == t.size ? fitting : free.end();
            if (options.fit == linear_options::fit_kind::at_least)
                for (auto other = fitting; other != end; ++other)
                    if (other->slot < fitting->slot) fitting = other;
            return fitting;
        }
        if (options.fit != linear_options::fit_kind::grow || free.lower_bound({pool, 0, 0}) == end)
            return free.end();
        auto largest = end;
        return free.lower_bound({pool, (--largest)->bytes, 0}); // of the largest the lowest
    };
    auto next_end = by_end.begin();
    for (occupant const& t : by_begin) {
        for (; next_end != by_end.end() && next_end->life.last <= t.life.first; ++next_end) {
            slot_id const s = plan.slot_of[next_end->buffer];
            if (eligible[next_end->buffer]) free.insert({pool_of[next_end->buffer], plan.slot_bytes[s], s});
        }
        auto const taken = eligible[t.buffer] ? choose(t) : free.end();
        if (taken == free.end()) {
            plan.slot_of[t.buffer] = plan.slots++;
            plan.slot_bytes.push_back(t.size);
            plan.slot_pool.push_back(pool_of[t.buffer]);
            continue;
        }
        slot_id const s = taken->slot;
        free.erase(taken);
        plan.slot_of[t.buffer] = s;
        plan.slot_bytes[s] = detail::larger(plan.slot_bytes[s], t.size);
    }
    for (byte_count bytes : plan.slot_bytes) plan.total_bytes = checked_add(plan.total_bytes, bytes);
    return plan;
}

} // namespace sublet

#endif
