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

#include <sublet/placement/problem.hpp>
#include <sublet/placement/result.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

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
[[nodiscard]] placement stack_slots(placement_problem const& problem, sized_slot_plan const& slots,
                                    std::vector<byte_count> const& bounds = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/stack_slots.ipp>
#endif

#endif
