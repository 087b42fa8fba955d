// SPDX-License-Identifier: BSL-1.0
/// By begin, each buffer looks at all slots. A size is never above another if it is not at a batch of 1
/// and at the largest: sizes are affine, so between these nothing else happens.

#include <sublet/core/internal/affine.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sharing/detail/share_symbolically.hpp>

#include <vector>

namespace sublet::detail {

SUBLET_DECL symbolic_slot_plan share_symbolically(table<buffer_id, symbolic_plan::buffer> const& buffers,
                                                  symbolic_slot_options const& options)
{
    byte_count const most = options.max_batch;
    SUBLET_EXPECTS(most >= 1, "sublet: the largest batch must be at least 1");
    auto is_smaller = [most](affine_bytes a, affine_bytes b) {
        return a.at(most) != b.at(most) ? a.at(most) < b.at(most) : a.at(1) < b.at(1);
    };
    symbolic_slot_plan plan;
    plan.slot_of.assign(buffers.size(), no_slot);
    table<slot_id, position_id> free_from; // of the last occupant
    std::vector<sort_key> by_begin;
    for (buffer_id b = 0; b != buffers.size(); ++b) by_begin.push_back({buffers[b].life.first, 0, b});
    sort_by_key(by_begin);
    for (sort_key const& birth : by_begin) {
        buffer_id const b = birth.id;
        symbolic_plan::buffer const& occupant = buffers[b];
        slot_id fitting = no_slot, growing = no_slot;
        for (slot_id s = 0; s != plan.slots; ++s) {
            affine_bytes const room = plan.slot_bytes[s];
            if (free_from[s] > occupant.life.first || plan.slot_pool[s] != occupant.pool) continue;
            if (options.mixing == symbolic_options::mixing_rule::apart &&
                room.is_scaled() != occupant.size.is_scaled())
                continue;
            if (never_above(occupant.size, room, most)) {
                if (fitting == no_slot || is_smaller(room, plan.slot_bytes[fitting])) fitting = s;
            } else if (options.grow && never_above(room, occupant.size, most)) {
                if (growing == no_slot || is_smaller(plan.slot_bytes[growing], room)) growing = s;
            }
        }
        slot_id slot = fitting != no_slot ? fitting : growing;
        if (slot == no_slot) {
            slot = plan.slots++;
            plan.slot_bytes.push_back({});
            plan.slot_pool.push_back(occupant.pool);
            free_from.push_back(0);
        }
        plan.slot_of[b] = slot;
        plan.slot_bytes[slot] = least_above(plan.slot_bytes[slot], occupant.size, most);
        free_from[slot] = occupant.life.last;
    }
    for (affine_bytes size : plan.slot_bytes) plan.total = checked_add(plan.total, size);
    SUBLET_EXPECTS(plan.total.at(most) != no_size, "sublet: a sum of sizes exceeds 64 bits");
    return plan;
}

} // namespace sublet::detail
