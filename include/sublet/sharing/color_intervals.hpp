// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_COLOR_INTERVALS_HPP
#define SUBLET_SHARING_COLOR_INTERVALS_HPP

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

#include <sublet/live_range.hpp>
#include <sublet/plan.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <queue>
#include <vector>

namespace sublet {

/// Colour the intervals `lives(0) ... lives(buffers - 1)`.
///
/// Ensures:    buffers whose ranges overlap have different slots; `slots` equals the largest number of
///             buffers alive at one position, so no plan uses fewer. An empty range has `no_slot`. The slot
///             that fell free first is taken first, then the lower one; equal births go to the lower index.
/// Complexity: O(n log n) time, O(n) memory, n = buffers; `lives` is called once a buffer.
template <live_range_function Lives>
[[nodiscard]] slot_plan color_intervals(std::size_t buffers, Lives lives)
{
    struct arrival {
        live_range life;
        buffer_id who;
    };
    std::vector<arrival> arrivals;
    arrivals.reserve(buffers);
    for (std::size_t b = 0; b != buffers; ++b) {
        live_range const life = detail::ask(lives, static_cast<buffer_id>(b));
        if (!is_empty(life)) arrivals.push_back({life, static_cast<buffer_id>(b)});
    }
    sort_by(arrivals, [](arrival const& a, arrival const& b) {
        return a.life.first != b.life.first ? a.life.first < b.life.first : a.who < b.who;
    });

    // Every open slot with the position at which it is free again, soonest on top.
    struct lease {
        step_id until;
        slot_id held;
    };
    auto later = [](lease a, lease b) { return a.until != b.until ? a.until > b.until : a.held > b.held; };
    std::priority_queue<lease, std::vector<lease>, decltype(later)> leases(later);

    slot_plan plan;
    plan.slot_of.assign(buffers, no_slot);
    for (arrival const& a : arrivals) {
        slot_id mine = plan.slots;
        if (!leases.empty() && leases.top().until <= a.life.first) {
            mine = leases.top().held;
            leases.pop();
        } else {
            ++plan.slots;
        }
        plan.slot_of[a.who] = mine;
        leases.push({a.life.last, mine});
    }
    return plan;
}

} // namespace sublet

#endif
