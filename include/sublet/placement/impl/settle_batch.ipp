// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_SETTLE_BATCH_IPP
#define SUBLET_PLACEMENT_IMPL_SETTLE_BATCH_IPP

#include <sublet/affine_bytes.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/placement/fit_two_ended.hpp>
#include <sublet/placement/settle_batch.hpp>

#include <cstddef>
#include <vector>

namespace sublet {

SUBLET_DECL memory_plan settle_batch(symbolic_plan const& plan, byte_count batch)
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
