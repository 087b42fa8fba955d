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
#include <sublet/plan.hpp>
#include <sublet/symbolic_options.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

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
[[nodiscard]] symbolic_slot_plan share_symbolically(std::vector<symbolic_buffer> const& buffers,
                                                    symbolic_slot_options const& options);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/symbolic_slots.ipp>
#endif

#endif
