// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_STACKING_OF_HPP
#define SUBLET_PLANNING_STACKING_OF_HPP

/// The stacking of a finished plan: of each two buffers that conflict, which one lies below the other. With
/// other sizes it gives other offsets, and they are valid, too: for every schedule, along every path, or in
/// the plan's order, as the plan is.
///
///     auto const planned = sublet::plan_concurrent(program, options);       // for one shape
///     sublet::stacking const stack = sublet::stacking_of(program, planned.plan, options);
///     sublet::stacking::offsets now;
///     stack.place(sizes, now);                                              // for another one
///
/// The size of a buffer is the largest of all values in it (`plan.buffer_of`): in-place pairs were taken
/// because sizes were equal for the one shape, so plan without them where they may differ. A value of 0 bytes
/// for the one shape has no buffer, and no place for another. plan_symbolic() has neither limit, and chooses
/// a stacking by several shapes; this one is as low as the plan for its own.

#include <sublet/core/plan.hpp>
#include <sublet/core/stacking.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan_flow.hpp>

namespace sublet {

/// Of a plan in one order, for every schedule or with hand-offs. Its buffers are those of the plan.
///
/// Requires:   the plan is valid for the program and the options, and not for control flow.
/// Ensures:    for the sizes of the plan each offset is at most that of the plan. check_stacking() proves it
///             for all sizes.
/// Complexity: in one order O(n log n + n k) with a small factor of k; for every schedule those of
///             dependences() and O(n^2) tests of pairs; n = buffers, k = those live at one position.
/// Throws:     precondition_error where a requirement is broken and seen; for a pool of several blocks.
[[nodiscard]] stacking stacking_of(snapshot const& p, memory_plan const& plan, plan_options const& options);
/// Of a plan for control flow, in which buffers live in ranges with holes, or of a nested one. `pinned` are
/// the pins that it was planned with, of a nested one by flat ids.
///
/// Requires:   there is a plan.
/// Ensures:    as above; with flow_options::allows_undefined offsets may be higher: two buffers that share
///             bytes only because no path writes both are kept apart.
/// Complexity: O(r log r + r k), r = ranges of buffers, k = those live at one position.
[[nodiscard]] stacking stacking_of(planned_flow const& planned, per_value<byte_count> const& pinned);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/stacking_of.ipp>
#endif

#endif
