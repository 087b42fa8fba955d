// SPDX-License-Identifier: BSL-1.0

/// Slots lie one above the other, the coarsest alignment first, so that no padding is between them.

#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/spacing.hpp>
#include <sublet/placement/internal/stack_slots.hpp>

namespace sublet::detail {

SUBLET_DECL placement stack_slots(placement_problem const& problem, sized_slot_plan const& slots,
                                  table<pool_id, byte_count> const& bounds)
{
    std::size_t const buffers = problem.buffers.size();
    SUBLET_EXPECTS(slots.slot_of.size() == buffers, "sublet: a table needs one entry for each buffer");
    table<slot_id, byte_count> alignment, begin(slots.slots, no_offset);
    for (pool_id pool : slots.slot_pool) alignment.push_back(limits_of(problem, pool).alignment);
    for (buffer_id b = 0; b != buffers; ++b)
        if (slot_id const s = slots.slot_of[b]; s != no_slot)
            alignment[s] = combine_alignment(alignment[s], problem.buffers[b].alignment);

    placement result;
    result.offset.assign(buffers, no_offset);
    result.pools = table<pool_id, placement::pool_result>(pool_count(problem));
    std::vector<sort_key> coarsest_first;
    for (slot_id s = 0; s != slots.slots; ++s) coarsest_first.push_back({descending(alignment[s]), 0, s});
    sort_by_key(coarsest_first);
    for (sort_key const& k : coarsest_first) {
        slot_id const s = k.id;
        byte_count& height = result.pools[slots.slot_pool[s]].height;
        byte_count const guard = height == 0 ? 0 : limits_of(problem, slots.slot_pool[s]).guard;
        begin[s] = align_up(with_guard(height, guard), alignment[s]);
        SUBLET_EXPECTS(begin[s] != no_offset && sum_fits(begin[s], slots.slot_bytes[s]),
                       "sublet: slots end beyond 64 bits");
        height = begin[s] + slots.slot_bytes[s];
    }
    for (buffer_id b = 0; b != buffers; ++b)
        if (slots.slot_of[b] != no_slot) result.offset[b] = begin[slots.slot_of[b]];
    for (pool_id pool = 0; pool != result.pools.size(); ++pool) {
        placement::pool_result& out = result.pools[pool];
        if (pool < bounds.size() && bounds[pool] != 0)
            out.proof = {placement::proof::reason::given, bounds[pool]};
        out.lower_bound = out.proof.bytes;
        out.status = status_of(out.height, out.lower_bound, limits_of(problem, pool).capacity);
        byte_count const largest = limits_of(problem, pool).largest_block;
        if (largest != no_limit && out.height != 0 && out.height <= largest)
            out.blocks = {{pool, 0, out.height}};
    }
    set_overall_status(result);
    return result;
}

} // namespace sublet::detail
