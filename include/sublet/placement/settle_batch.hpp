// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_SETTLE_BATCH_HPP
#define SUBLET_PLACEMENT_SETTLE_BATCH_HPP

/// Let the buffers of a plan for every batch sink, for one batch, onto what they really lie on.
///
///     for every N    c on the line over a and b        N = 3    a: 300 bytes    c sinks from 1142
///                    (1000 bytes, 100 N)                        b: 1000 bytes   to 1000
///
/// A formula for an offset is a straight line, and what it stands on may be a line with a bend. Who can
/// afford a walk over all buffers for each new batch saves what lies between the two.
///
/// In the order of their offsets each buffer takes the lowest place that is free. Its own place is: all
/// before it lie where they did, or lower, and ended below it if they are alive with it. So nobody rises.

#include <sublet/affine_bytes.hpp>
#include <sublet/keyed.hpp>
#include <sublet/placement/fit_two_ended.hpp>
#include <sublet/plan.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet {

/// The plan for one batch, and lower than `plan.at(batch)` where that is possible.
///
/// Requires:   the plan is sound for this batch.
/// Ensures:    as `plan.at(batch)`, which no buffer and no arena is above.
/// Complexity: fit_two_ended().
/// Throws:     precondition_error if there is no such batch.
[[nodiscard]] inline memory_plan settle_batch(symbolic_plan const& plan, byte_count batch)
{
    memory_plan settled = plan.at(batch);
    std::vector<symbolic_buffer> buffers = plan.buffers; // of this batch alone
    std::vector<keyed> by_offset;
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        buffers[b].size = {settled.buffers[b].size, 0};
        by_offset.push_back({buffers[b].pool, settled.buffers[b].offset, b});
    }
    sort_keyed(by_offset);
    settled.arena_bytes.assign(settled.arena_bytes.size(), 0);
    for (std::size_t i = 0; i != by_offset.size();) {
        auto const pool = static_cast<pool_id>(by_offset[i].key);
        std::vector<buffer_id> order;
        for (; i != by_offset.size() && by_offset[i].key == pool; ++i) order.push_back(by_offset[i].who);
        std::vector<affine_bytes> const start = fit_two_ended(buffers, order, 1);
        for (buffer_id b : order) {
            placed_buffer& placed = settled.buffers[b];
            placed.offset = start[b].at(1);
            settled.arena_bytes[pool] = larger(settled.arena_bytes[pool], placed.offset + placed.size);
        }
    }
    return settled;
}

} // namespace sublet

#endif
