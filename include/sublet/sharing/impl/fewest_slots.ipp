// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_FEWEST_SLOTS_IPP
#define SUBLET_SHARING_IMPL_FEWEST_SLOTS_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/sharing/fewest_slots.hpp>
#include <sublet/sharing/range_matching.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sublet {

SUBLET_DECL bool chain_cover::is_fewest() const { return antichain.size() == plan.slots; }

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL live_range_lists ranges_of(takers const& members)
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

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL chain_cover fewest_slots(concurrent_lives const& lives, conflict_ranges const& conflicts,
                                     fewest_slots_options const& options)
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

SUBLET_DECL byte_count least_slot_bytes(concurrent_lives const& lives, conflict_ranges const& conflicts,
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
