// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DETAIL_SHARE_SYMBOLICALLY_HPP
#define SUBLET_SHARING_DETAIL_SHARE_SYMBOLICALLY_HPP

/// Slots for buffers with sizes that grow with a batch size N, in one pass by begin.
///
///     a: 100 N        slot 0
///     b: 4000         slot 1
///     c:  60 N        slot 0, if it is free: large enough for N = 1 and for the largest N
///     d: 120 N        slot 0, which grows. Whether slot 1 is large enough depends on N
///
/// The largest occupant of a slot has to be the largest for every batch; so the sum over all slots is an
/// exact affine number as well. Systems without formulas compare sizes of unknown batch only with each other,
/// never with fixed ones: that is symbolic_options::mixing_rule::apart. Greedy, without a guaranteed factor.

#include <sublet/core/plan.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>

namespace sublet::detail {

/// The slots, and their sizes as formulas.
struct symbolic_slot_plan : slot_plan {
    table<slot_id, affine_bytes> slot_bytes;
    table<slot_id, pool_id> slot_pool;
    affine_bytes total;
};

/// Which sizes are compared, and for which batches.
struct symbolic_slot_options {
    byte_count max_batch = 1;
    symbolic_options::mixing_rule mixing = symbolic_options::mixing_rule::proved;
    bool grow = true; ///< a buffer larger than a free slot for every batch may enlarge it
};

/// Gives every buffer a slot of its pool, in the order of begins.
///
/// Requires:   sizes are known and not 0, lives not empty; `options.max_batch` is at least 1.
/// Ensures:    buffers that are alive together have different slots. Of the free slots that are large enough
///             for every batch a buffer takes the smallest for the largest batch, then for a batch of 1, then
///             the lowest. If there is none and `grow` is set, it enlarges a free slot that it exceeds for
///             every batch, the largest by the same comparison; otherwise it opens a new one. With
///             mixing_rule::apart it considers only slots with a first occupant that depends on the batch if
///             and only if it does itself.
/// Complexity: O(n log n + n s), n = buffers, s = slots.
/// Throws:     precondition_error if a sum of sizes reaches 2^64 - 1.
[[nodiscard]] symbolic_slot_plan share_symbolically(table<buffer_id, symbolic_plan::buffer> const& buffers,
                                                    symbolic_slot_options const& options);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/share_symbolically.ipp>
#endif

#endif
