// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_INTERNAL_STACK_SLOTS_HPP
#define SUBLET_PLACEMENT_INTERNAL_STACK_SLOTS_HPP

/// Offsets for the slots of a slot plan, one above the other.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

namespace sublet::detail {

/// Offsets for slots: those of a pool lie one above the other; buffers of a slot have the same offset.
///
///     slot  bytes  alignment            pool 0   [ slot 1: 96 bytes ][ slot 0: 40 bytes ]
///       0     40           8            pool 1   [ slot 2: 64 bytes ]
///       1     96          64
///       2     64           8
///
/// The coarsest alignments come first: if they are powers of two and sizes are multiples of them, there is
/// no padding between slots. `bounds` are known lower bounds.
///
/// Requires:   `slots` has an entry for each buffer of the problem, `no_slot` only for 0 bytes; buffers of a
///             slot are of one pool and no larger than it.
/// Ensures:    a slot begins at a multiple of the alignments of its pool and of all its buffers; slots of
///             equal alignment keep their order. Pins and live ranges are ignored.
/// Complexity: O(buffers + slots log slots).
/// Throws:     precondition_error if the slots of a pool end beyond 64 bits, or a common alignment does.
[[nodiscard]] placement stack_slots(placement_problem const& problem, sized_slot_plan const& slots,
                                    table<pool_id, byte_count> const& bounds = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/stack_slots.ipp>
#endif

#endif
