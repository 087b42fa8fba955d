// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_STACK_SLOTS_HPP
#define SUBLET_PLACEMENT_STACK_SLOTS_HPP

/// Slots as a placement: in each pool one above the other, so that whoever shares a slot shares its address.
///
///     slot  bytes  alignment            pool 0   [ slot 1: 96 bytes ][ slot 0: 40 bytes ]
///       0     40           8            pool 1   [ slot 2: 64 bytes ]
///       1     96          64
///       2     64           8
///
/// The coarsest alignments come first: where they are powers of two and sizes are multiples of them, no
/// byte is lost between slots.

#include <sublet/contract.hpp>
#include <sublet/keyed.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/placement/result.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet {

/// The offset of each buffer's slot; `bounds`, by pool, is what is known to be the least.
///
/// Requires:   `slots` has an entry for each buffer of the problem, `no_slot` only for 0 bytes; buffers of a
///             slot are of one pool and no larger than it.
/// Ensures:    a slot begins at a multiple of the alignments of its pool and of all its tenants; slots of
///             equal alignment keep their order. Pins and lives are not looked at.
/// Complexity: O(buffers + slots log slots).
/// Throws:     precondition_error if the slots of a pool end beyond 64 bits, or a common alignment does.
[[nodiscard]] inline placement stack_slots(placement_problem const& problem, sized_slot_plan const& slots,
                                           std::vector<byte_count> const& bounds = {})
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
