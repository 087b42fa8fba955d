// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_PLACE_CONCURRENTLY_IPP
#define SUBLET_PLACEMENT_IMPL_PLACE_CONCURRENTLY_IPP

#include <sublet/detail/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/place_concurrently.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>

namespace sublet {

SUBLET_DECL placement stack_slots(placement_problem const& problem, sized_slot_plan const& slots,
                                  std::vector<byte_count> const& bounds)
{
    std::size_t const buffers = problem.buffers.size();
    SUBLET_EXPECTS(slots.slot_of.size() == buffers, "sublet: a table has not one entry for each buffer");
    auto limits_of = [&](std::size_t pool) {
        return pool < problem.pools.size() ? problem.pools[pool] : pool_limits{};
    };
    std::vector<byte_count> alignment, begin(slots.slots, no_offset); // by slot
    for (pool_id pool : slots.slot_pool) alignment.push_back(limits_of(pool).alignment);
    for (std::size_t b = 0; b != buffers; ++b)
        if (slot_id const s = slots.slot_of[b]; s != no_slot)
            alignment[s] = combine_alignment(alignment[s], problem.buffers[b].alignment);

    placement result;
    result.offset.assign(buffers, no_offset);
    result.pools = std::vector<placed_pool>(pool_count(problem));
    std::vector<keyed> coarsest_first;
    for (slot_id s = 0; s != slots.slots; ++s) coarsest_first.push_back({falling(alignment[s]), 0, s});
    sort_keyed(coarsest_first);
    for (keyed const& k : coarsest_first) {
        byte_count& height = result.pools[slots.slot_pool[k.who]].height;
        begin[k.who] = align_up(height, alignment[k.who]);
        SUBLET_EXPECTS(begin[k.who] != no_offset && sum_fits(begin[k.who], slots.slot_bytes[k.who]),
                       "sublet: slots end beyond 64 bits");
        height = begin[k.who] + slots.slot_bytes[k.who];
    }
    for (std::size_t b = 0; b != buffers; ++b)
        if (slots.slot_of[b] != no_slot) result.offset[b] = begin[slots.slot_of[b]];
    for (std::size_t pool = 0; pool != result.pools.size(); ++pool) {
        placed_pool& out = result.pools[pool];
        if (pool < bounds.size() && bounds[pool] != 0) out.proof = {proof_kind::given, bounds[pool]};
        out.lower_bound = out.proof.bytes;
        out.status = detail::status_of(out.height, out.lower_bound, limits_of(pool).capacity);
    }
    detail::sum_up(result);
    return result;
}

} // namespace sublet

#endif
