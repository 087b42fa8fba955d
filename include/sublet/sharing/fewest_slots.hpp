// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_FEWEST_SLOTS_HPP
#define SUBLET_SHARING_FEWEST_SLOTS_HPP

/// The fewest slots that serve every schedule, and the proof that fewer do not.
///
///         ┌──► b ──┐        b and c: in some schedule the one is written while the other is to be read
///     a ──┤        ├──► d    a: read until both are there, so it gives its bytes to d only
///         └──► c ──┘        chains a ─► d, b and c: three slots; and none of b, c, d gives to another
///
/// A slot is a chain of buffers of which each gives its bytes to the next. "u gives to v" is transitive, so
/// chains that cross can be taken apart: cover the buffers with as few chains as possible, without caring
/// whether they meet. Each buffer is followed by at most one and follows at most one, and each such pair
/// saves a slot: it is a matching, and a largest one leaves the fewest chains. The proof comes with it: as
/// many buffers as there are chains, none of which gives to another.
///
/// Source: Dilworth, "A decomposition theorem for partially ordered sets", Annals of Mathematics 1950;
/// Fulkerson, "Note on Dilworth's decomposition theorem for partially ordered sets", Proc. AMS 1956 (as a
/// matching).

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/later_conflicts.hpp>
#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/contract.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/sharing/range_matching.hpp>
#include <sublet/sharing/takers.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

struct fewest_slots_options {
    per_value<byte_count> bytes = byte_count{1}; ///< by buffer; 0: needs no slot
    per_value<pool_id> pool = pool_id{0};        ///< by buffer: only buffers of one pool share
    per_value<bool> eligible = true;             ///< by buffer: false keeps a slot of its own
};

struct chain_cover {
    slot_plan plan;
    /// Ascending; no two of them may share a slot. Empty where conflicts were undecided.
    std::vector<buffer_id> antichain;

    /// Proven: no plan that is valid under every schedule has fewer slots. False: not proven.
    [[nodiscard]] bool is_fewest() const { return antichain.size() == plan.slots; }
};

namespace detail {

/// By place, the places of those that it gives to.
inline live_range_lists ranges_of(takers const& members)
{
    std::vector<std::uint32_t> first{0};
    std::vector<live_range> ranges;
    first.reserve(members.size() + 1);
    for (std::size_t i = 0; i != members.size(); ++i) {
        members.for_each_range(i, [&](live_range r) { ranges.push_back(r); });
        SUBLET_EXPECTS(ranges.size() < no_buffer, "sublet: more ranges than 32-bit ids");
        first.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    return {interval_method::automatic, static_cast<step_id>(members.size()), std::move(first),
            std::move(ranges)};
}

} // namespace detail

/// A slot for each buffer, as few as any plan has that is valid under every schedule.
///
/// Requires:   `conflicts` are those of `lives`.
/// Ensures:    buffers share a slot only if one gives to the other. Where no conflict was undecided,
///             `antichain` has as many members as there are slots, and `is_fewest()`. Slots are numbered by
///             pool and the first begin in them; then come those of the ineligible.
/// Complexity: O(sqrt(n)) searches of O((n + ranges) log n) each, n = buffers; and for each buffer that
///             begins in several positions as many tests as there are buffers.
/// Throws:     precondition_error for a pool id that is none, or 2^32 - 1 ranges or more.
[[nodiscard]] inline chain_cover fewest_slots(concurrent_lives const& lives, conflict_ranges const& conflicts,
                                              fewest_slots_options const& options = {})
{
    std::size_t const buffers = lives.buffers();
    auto const bytes = options.bytes.tabulate(buffers);
    auto const pool_of = options.pool.tabulate(buffers);
    auto const eligible = options.eligible.tabulate(buffers);

    chain_cover cover;
    cover.plan.slot_of.assign(buffers, no_slot);
    std::vector<keyed> order; // by pool, then by begin
    std::vector<unsigned char> is_in_antichain(buffers);
    for (buffer_id b = 0; b != buffers; ++b) {
        SUBLET_EXPECTS(pool_of[b] != no_value, "sublet: a pool id is out of range");
        if (bytes[b] != 0 && eligible[b]) order.push_back({pool_of[b], takers::begin_key(lives, b), b});
    }
    sort_keyed(order);
    std::vector<buffer_id> mine;
    for (std::size_t k = 0; k != order.size(); ++k) {
        mine.push_back(order[k].who);
        if (k + 1 != order.size() && order[k + 1].key == order[k].key) continue;
        takers const members(lives, conflicts, std::exchange(mine, {}));
        range_matching const matched = match_ranges(detail::ranges_of(members), members.size());
        for (std::size_t i = 0; i != members.size(); ++i) { // who gives comes before who takes
            std::uint32_t const giver = matched.row_of[i];
            cover.plan.slot_of[members[i]] =
                giver == range_matching::none ? cover.plan.slots++ : cover.plan.slot_of[members[giver]];
            is_in_antichain[members[i]] = matched.is_row_reached(i) && !matched.column_reached[i];
        }
    }
    for (buffer_id b = 0; b != buffers; ++b) {
        if (bytes[b] != 0 && !eligible[b]) {
            cover.plan.slot_of[b] = cover.plan.slots++;
            is_in_antichain[b] = 1;
        }
        if (is_in_antichain[b] && conflicts.undecided == 0) cover.antichain.push_back(b);
    }
    return cover;
}

/// What no plan of slots goes below that is valid under every schedule: of the buffers that are at least so
/// large as one, the fewest slots, times the way to the next smaller size, summed over all sizes. `bytes` is
/// looked at as it is.
///
/// Ensures:    0 where conflicts were undecided, for then nothing is known.
/// Complexity: fewest_slots() for each different size.
/// Throws:     as fewest_slots(); precondition_error if the bound exceeds 64 bits.
[[nodiscard]] inline byte_count least_slot_bytes(concurrent_lives const& lives,
                                                 conflict_ranges const& conflicts,
                                                 fewest_slots_options options)
{
    if (conflicts.undecided != 0) return 0;
    auto const bytes = options.bytes.tabulate(lives.buffers());
    std::vector<keyed> sizes;
    for (buffer_id b = 0; b != lives.buffers(); ++b)
        if (bytes[b] != 0) sizes.push_back({bytes[b], 0, b});
    sort_keyed(sizes);
    byte_count sum = 0, below = 0;
    for (keyed const& k : sizes) {
        if (k.key == below) continue;
        options.bytes = [&](value_id b) { return bytes[b] < k.key ? byte_count{0} : byte_count{1}; };
        slot_id const slots = fewest_slots(lives, conflicts, options).plan.slots;
        sum = checked_add(sum, checked_multiply(slots, k.key - below));
        below = k.key;
    }
    return sum;
}

} // namespace sublet

#endif
