// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_SYMBOLIC_SLOTS_HPP
#define SUBLET_SHARING_SYMBOLIC_SLOTS_HPP

/// Slots for buffers whose sizes grow with a batch, taken in turn as the steps go by.
///
///     a: 100 N        slot 0
///     b: 4000         slot 1
///     c:  60 N        slot 0, if it is free: that is at least as large for N = 1 and for the largest
///     d: 120 N        slot 0, which grows. Whether slot 1 were large enough depends on the batch
///
/// A slot is as large as its largest tenant, which has to be the largest for every batch; the sum over all
/// slots is then an affine number, too, exactly. A system without formulas compares sizes that have an
/// unknown batch among themselves only, and never with fixed ones: that is batch_mixing::apart.
///
/// Greedy, with no guaranteed factor; linear.hpp is the same for one batch, with more policies.

#include <sublet/affine_bytes.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/plan.hpp>
#include <sublet/symbolic_options.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet {

/// A slot for each buffer, with sizes that hold for every batch.
struct symbolic_slot_plan : slot_plan {
    std::vector<affine_bytes> slot_bytes; ///< by slot
    std::vector<pool_id> slot_pool;       ///< by slot
    affine_bytes total;
};

struct symbolic_slot_options {
    byte_count max_batch = 1;
    batch_mixing mixing = batch_mixing::proved;
    bool grow = true; ///< a tenant that is larger than a free slot for every batch may make it larger
};

/// Give every buffer a slot of its pool, in the order of birth.
///
/// Requires:   sizes are known and not 0, lives not empty; `options.max_batch` is at least 1.
/// Ensures:    buffers that are alive together have different slots. Of the free slots that are large enough
///             for every batch a buffer takes the smallest for the largest batch, then for a batch of 1, then
///             the lowest; if there is none, it lets the largest grow of those that it is larger than, in the
///             same sense, if it may; otherwise it opens a new one. With batch_mixing::apart it looks only at
///             slots whose first tenant grows if and only if it does itself.
/// Complexity: O(n log n + n s), n = buffers, s = slots.
/// Throws:     precondition_error if a sum of sizes reaches 2^64 - 1.
[[nodiscard]] inline symbolic_slot_plan share_symbolically(std::vector<symbolic_buffer> const& buffers,
                                                           symbolic_slot_options const& options)
{
    byte_count const most = options.max_batch;
    SUBLET_EXPECTS(most >= 1, "sublet: the largest batch is at least 1");
    auto is_smaller = [most](affine_bytes a, affine_bytes b) {
        return a.at(most) != b.at(most) ? a.at(most) < b.at(most) : a.at(1) < b.at(1);
    };
    symbolic_slot_plan plan;
    plan.slot_of.assign(buffers.size(), no_slot);
    std::vector<step_id> free_from; // by slot
    std::vector<keyed> births;
    for (buffer_id b = 0; b != buffers.size(); ++b) births.push_back({buffers[b].life.first, 0, b});
    sort_keyed(births);
    for (keyed const& birth : births) {
        symbolic_buffer const& tenant = buffers[birth.who];
        slot_id fitting = no_slot, growing = no_slot;
        for (slot_id s = 0; s != plan.slots; ++s) {
            affine_bytes const room = plan.slot_bytes[s];
            if (free_from[s] > tenant.life.first || plan.slot_pool[s] != tenant.pool) continue;
            if (options.mixing == batch_mixing::apart && room.is_scaled() != tenant.size.is_scaled())
                continue;
            if (never_above(tenant.size, room, most)) {
                if (fitting == no_slot || is_smaller(room, plan.slot_bytes[fitting])) fitting = s;
            } else if (options.grow && never_above(room, tenant.size, most)) {
                if (growing == no_slot || is_smaller(plan.slot_bytes[growing], room)) growing = s;
            }
        }
        slot_id slot = fitting != no_slot ? fitting : growing;
        if (slot == no_slot) {
            slot = plan.slots++;
            plan.slot_bytes.push_back({});
            plan.slot_pool.push_back(tenant.pool);
            free_from.push_back(0);
        }
        plan.slot_of[birth.who] = slot;
        plan.slot_bytes[slot] = least_above(plan.slot_bytes[slot], tenant.size, most);
        free_from[slot] = tenant.life.last;
    }
    for (affine_bytes size : plan.slot_bytes) plan.total = checked_add(plan.total, size);
    SUBLET_EXPECTS(plan.total.at(most) != no_size, "sublet: a sum of sizes exceeds 64 bits");
    return plan;
}

} // namespace sublet

#endif
