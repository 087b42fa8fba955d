// SPDX-License-Identifier: BSL-1.0

/// live_peak(): one walk over the positions that adds a buffer's bytes at its first write and takes them away
/// at its last touch. Results that a step may write over its operands are matched so that the bytes that
/// begin inside of an operand's are the most; only the pools that a step touches can reach a new peak.

#include <sublet/execution/detail/live_peak.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/structures/internal/overwrite_matching.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sublet::detail {

SUBLET_DECL byte_count live_peak(lowered_program const& lowered)
{
    table<pool_id, byte_count> live(lowered.pools, 0), peak(lowered.pools, 0);
    table<buffer_id, unsigned char> is_live(lowered.ref_counts.size(), 0);
    table<buffer_id, std::uint32_t> remaining = lowered.ref_counts;
    auto enter = [&](buffer_id b) {
        buffer const& its = lowered.table.buffers[b];
        if (is_live[b] || !its.is_planned()) return;
        is_live[b] = 1;
        live[its.pool] = checked_add(live[its.pool], its.size);
    };
    auto leave = [&](buffer_id b) {
        if (!is_live[b]) return;
        is_live[b] = 0;
        live[lowered.table.buffers[b].pool] -= lowered.table.buffers[b].size;
    };
    for (buffer_id b = 0; b != remaining.size(); ++b)
        if (has_role(lowered.table.buffers[b].role, value_role::input)) enter(b);
    peak = live;
    if (lowered.is_any_schedule)
        for (buffer_id b : lowered.unused_inputs) leave(b);
    std::vector<overwrite_pair> pairs;
    for (position_id at = 0; at != lowered.positions(); ++at) {
        for (operand_reuse y : lowered.reuses_at(at))
            if (y.to == no_buffer && remaining[y.from] == 1) leave(y.from);
        for (operand_reuse y : lowered.reuses_at(at)) {
            if (y.to == no_buffer || remaining[y.from] != 1 || !is_live[y.from] || is_live[y.to]) continue;
            buffer const &from = lowered.table.buffers[y.from], &to = lowered.table.buffers[y.to];
            if (to.is_planned() && from.pool == to.pool && from.size >= to.size)
                pairs.push_back({y.from, y.to, to.size});
        }
        std::vector<std::uint32_t> const taken = match_overwrites(pairs);
        for (std::uint32_t i : taken) is_live[pairs[i].out] = 1; // inside the operand's bytes
        for (buffer_id b : lowered.touched[at])
            if (lowered.first_write[b] == at) enter(b);
        for (buffer_id b : lowered.touched[at]) { // only their pools can have grown
            if (!is_live[b]) continue;
            pool_id const pool = lowered.table.buffers[b].pool;
            peak[pool] = std::max(peak[pool], live[pool]);
        }
        for (std::uint32_t i : taken) is_live[pairs[i].out] = 0;
        for (buffer_id b : lowered.touched[at])
            if (--remaining[b] == 0) leave(b);
        for (std::uint32_t i : taken)
            if (remaining[pairs[i].out] != 0) enter(pairs[i].out); // now counted with its own bytes
        pairs.clear();
    }
    byte_count sum = 0;
    for (byte_count p : peak) sum = checked_add(sum, p);
    return sum;
}

} // namespace sublet::detail
