// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_COLOR_INTERVALS_HPP
#define SUBLET_SHARING_COLOR_INTERVALS_HPP

/// Slots for intervals: the fewest, the best fit as in a linear scan, and slots for every batch size.

#include <sublet/detail/sorting.hpp>
#include <sublet/plan.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <set>
#include <vector>

// --- color intervals -------------------------------------------------------------------------------------

/// Give every buffer a slot so that buffers alive together never share one, with as few slots as possible.
///
///     position   0   1   2   3   4
///     buffer 0   [=======)              slot 0
///     buffer 1       [=======)          slot 1
///     buffer 2           [=======)      slot 0   (buffer 0 has just died)
///
/// This colours an interval graph, which, unlike colouring in general, one sweep from left to right solves
/// exactly: a new slot is opened only when all that are open are occupied, and then they are all needed.
///
/// Source: Hashimoto and Stevens, "Wire routing by optimizing channel assignment within large apertures",
/// DAC 1971 (the left-edge algorithm).

namespace sublet {

/// Colour the intervals `lives(0) ... lives(buffers - 1)`.
///
/// Ensures:    buffers whose ranges overlap have different slots; `slots` equals the largest number of
///             buffers alive at one position, so no plan uses fewer. An empty range has `no_slot`. The slot
///             that fell free first is taken first, then the lower one; equal births go to the lower index.
/// Complexity: O(n log n) time, O(n) memory, n = buffers; `lives` is called once a buffer.
template <detail::live_range_function Lives>
[[nodiscard]] slot_plan color_intervals(std::size_t buffers, Lives lives)
{
    struct interval {
        live_range life;
        buffer_id buffer;
    };
    std::vector<interval> intervals;
    intervals.reserve(buffers);
    for (std::size_t b = 0; b != buffers; ++b) {
        live_range const life = detail::call_user(lives, static_cast<buffer_id>(b));
        if (!is_empty(life)) intervals.push_back({life, static_cast<buffer_id>(b)});
    }
    detail::sort_by(intervals, [](interval const& a, interval const& b) {
        return a.life.first != b.life.first ? a.life.first < b.life.first : a.buffer < b.buffer;
    });

    // Every open slot with the position at which it is free again, soonest on top.
    struct busy_slot {
        step_id free_at;
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

/// Recycle slots in one pass: who is born takes a slot that has fallen free, if one fits.
///
///     position   0   1   2   3            free slots when c (48 bytes) is born:  s0: 64 bytes
///     a: 64      [===)            s0      equal      opens a slot: 64 is not 48
///     b: 32          [=======)    s1      at_least   takes s0
///     c: 48              [===)    ?       best_fit   takes the smallest that is large enough: s0
///                                         grow       as best_fit, but would enlarge s0 if it were too small
///
/// What executors without an arena can use: each slot is an allocation of its own. One pass has no bound on
/// its distance from the optimum (color_intervals.hpp has the fewest slots, place.hpp the fewest bytes).
///
/// Source: the recyclers of Caffe2 (`memonger`, linear mode) and of PaddlePaddle (memory transpiler, levels
/// 0 and 1), on live ranges from first to last touch instead of names and last reads.

struct linear_options {
    /// Which of the free slots of its pool a buffer takes.
    enum class fit_kind : std::uint8_t {
        equal,    ///< the lowest of exactly its size, else a new one
        at_least, ///< the lowest that is at least as large, else a new one
        best_fit, ///< the smallest that is at least as large, else a new one
        grow ///< as best_fit; where none is large enough the largest grows; a new one only if none is free
    };

    linear_options::fit_kind fit = linear_options::fit_kind::best_fit;
    per_value<pool_id> pool = pool_id{0}; ///< by buffer: only buffers of one pool share
    per_value<bool> eligible = true;      ///< by buffer: false keeps a slot of its own
};

/// Give every buffer a slot, in the order of their births.
///
/// Ensures:    buffers whose ranges overlap have different slots; a slot is as large as its largest tenant.
///             Buffers are served in the order of their birth, then of their index; all that die at a
///             position are free for those born there. An empty range or 0 bytes has `no_slot`.
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
    std::vector<occupant> births;
    for (std::size_t i = 0; i != buffers; ++i) {
        auto const b = static_cast<buffer_id>(i);
        occupant const t{detail::call_user(lives, b), detail::to_byte_count(detail::call_user(sizes, b)), b};
        SUBLET_EXPECTS(t.size != no_size, "sublet: a buffer of unknown size cannot share a slot");
        SUBLET_EXPECTS(pool_of[b] != no_value, "sublet: a pool id is out of range");
        if (!is_empty(t.life) && t.size != 0) births.push_back(t);
    }
    std::vector<occupant> deaths = births;
    detail::sort_by(births, [](occupant const& a, occupant const& b) {
        return a.life.first != b.life.first ? a.life.first < b.life.first : a.buffer < b.buffer;
    });
    detail::sort_by(deaths, [](occupant const& a, occupant const& b) {
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
    auto dying = deaths.begin();
    for (occupant const& t : births) {
        for (; dying != deaths.end() && dying->life.last <= t.life.first; ++dying) {
            slot_id const s = plan.slot_of[dying->buffer];
            if (eligible[dying->buffer]) free.insert({pool_of[dying->buffer], plan.slot_bytes[s], s});
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

// --- symbolic slots --------------------------------------------------------------------------------------

/// Slots for buffers whose sizes grow with a batch, taken in turn as the steps go by.
///
///     a: 100 N        slot 0
///     b: 4000         slot 1
///     c:  60 N        slot 0, if it is free: that is at least as large for N = 1 and for the largest
///     d: 120 N        slot 0, which grows. Whether slot 1 were large enough depends on the batch
///
/// A slot is as large as its largest tenant, which has to be the largest for every batch; the sum over all
/// slots is then an affine number, too, exactly. A system without formulas compares sizes that have an
/// unknown batch among themselves only, and never with fixed ones: that is
/// symbolic_options::mixing_rule::apart.
///
/// Greedy, with no guaranteed factor; linear is the same for one batch, with more policies.

namespace detail {

/// A slot for each buffer, with sizes that hold for every batch.
struct symbolic_slot_plan : slot_plan {
    std::vector<affine_bytes> slot_bytes; ///< by slot
    std::vector<pool_id> slot_pool;       ///< by slot
    affine_bytes total;
};

struct symbolic_slot_options {
    byte_count max_batch = 1;
    symbolic_options::mixing_rule mixing = symbolic_options::mixing_rule::proved;
    bool grow = true; ///< a tenant that is larger than a free slot for every batch may make it larger
};

/// Give every buffer a slot of its pool, in the order of birth.
///
/// Requires:   sizes are known and not 0, lives not empty; `options.max_batch` is at least 1.
/// Ensures:    buffers that are alive together have different slots. Of the free slots that are large enough
///             for every batch a buffer takes the smallest for the largest batch, then for a batch of 1, then
///             the lowest; if there is none, it lets the largest grow of those that it is larger than, in the
///             same sense, if it may; otherwise it opens a new one. With symbolic_options::mixing_rule::apart
///             it looks only at slots whose first tenant grows if and only if it does itself.
/// Complexity: O(n log n + n s), n = buffers, s = slots.
/// Throws:     precondition_error if a sum of sizes reaches 2^64 - 1.
[[nodiscard]] symbolic_slot_plan share_symbolically(std::vector<symbolic_plan::buffer> const& buffers,
                                                    symbolic_slot_options const& options);

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/color_intervals.ipp>
#endif

#endif
