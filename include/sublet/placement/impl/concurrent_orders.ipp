// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_CONCURRENT_ORDERS_IPP
#define SUBLET_PLACEMENT_IMPL_CONCURRENT_ORDERS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/concurrent_orders.hpp>

#include <bit>
#include <cstddef>
#include <utility>

namespace sublet {

SUBLET_DECL std::vector<byte_count> conflicting_bytes(placement_conflicts const& conflicts,
                                                      std::vector<byte_count> const& size)
{
    // By position: the bytes that begin below it, and the bytes whose ranges it belongs to.
    std::vector<byte_count> begun(std::size_t{conflicts.positions()} + 1, 0), around = begun;
    for (buffer_id b = 0; b != size.size(); ++b) {
        for (step_id at : conflicts.begins(b)) begun[at] += size[b];
        for (live_range r : conflicts.ranges[b]) {
            around[r.first] += size[b];
            around[r.last] -= size[b];
        }
    }
    byte_count below = 0, inside = 0;
    for (std::size_t at = 0; at != begun.size(); ++at) {
        below += std::exchange(begun[at], below);
        around[at] = inside += around[at];
    }
    std::vector<byte_count> sum(size.size(), 0);
    for (buffer_id b = 0; b != size.size(); ++b) {
        // Who begins where it begins first has it in its ranges, and is found there.
        step_id const behind = conflicts.begins(b).front() + 1;
        for (step_id at : conflicts.begins(b)) sum[b] += around[at];
        for (live_range r : conflicts.ranges[b]) sum[b] += begun[r.last] - begun[larger(r.first, behind)];
    }
    return sum;
}

SUBLET_DECL order_keys keys_of(std::vector<placement_buffer> const& buffers,
                               placement_conflicts const& conflicts,
                               std::vector<unsigned char> is_in_antichain)
{
    order_keys keys;
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        keys.size.push_back(buffers[b].size);
        keys.last.push_back(conflicts.ranges[b].back().last);
    }
    keys.conflicting = conflicting_bytes(conflicts, keys.size);
    keys.is_in_antichain = std::move(is_in_antichain);
    return keys;
}

SUBLET_DECL std::vector<std::uint32_t> sorted_ids(std::vector<keyed> offers)
{
    sort_keyed(offers);
    std::vector<std::uint32_t> order;
    order.reserve(offers.size());
    for (keyed const& o : offers) order.push_back(o.who);
    return order;
}

SUBLET_DECL std::vector<std::uint32_t> order_by(concurrent_order which, order_keys const& keys)
{
    constexpr byte_count front = byte_count{1} << 63;
    // Products leave 64 bits. The order of floating-point numbers that are not negative is that of their
    // bits.
    auto product = [](byte_count a, byte_count b) {
        return std::bit_cast<byte_count>(static_cast<double>(a) * static_cast<double>(b));
    };
    std::vector<keyed> offers;
    offers.reserve(keys.size.size());
    for (std::size_t i = 0; i != keys.size.size(); ++i) {
        byte_count const size = keys.size[i], conflicting = keys.conflicting[i];
        byte_count key = 0, tie = size;
        switch (which) {
        case concurrent_order::octave:
            key = static_cast<unsigned>(std::bit_width(size));
            tie = 0;
            break;
        case concurrent_order::size:
            key = size;
            tie = conflicting;
            break;
        case concurrent_order::area: key = product(size, conflicting); break;
        case concurrent_order::peak:
            key = keys.is_in_antichain[i] != 0 ? front | conflicting / 2 : product(size, conflicting);
            break;
        case concurrent_order::last: key = keys.last[i]; break;
        case concurrent_order::begin: tie = 0; break;
        }
        offers.push_back({falling(key), falling(tie), static_cast<std::uint32_t>(i)});
    }
    return sorted_ids(std::move(offers));
}

SUBLET_DECL std::vector<std::uint32_t> order_by_levels(std::vector<byte_count> const& level,
                                                       order_keys const& keys)
{
    std::vector<keyed> offers;
    offers.reserve(level.size());
    for (std::size_t i = 0; i != level.size(); ++i)
        offers.push_back({level[i], falling(keys.size[i]), static_cast<std::uint32_t>(i)});
    return sorted_ids(std::move(offers));
}

} // namespace sublet

#endif
