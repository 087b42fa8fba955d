// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_FLOW_BOUNDS_HPP
#define SUBLET_PLANNING_DETAIL_FLOW_BOUNDS_HPP

/// Bytes below which no plan for control flow goes, in each pool, whichever in-place pairs it takes.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

namespace sublet::detail {

/// Whether buffers that live together are apart in every plan that check_flow_plan() accepts, without pairs.
/// Not in nodes that nothing reaches; nor at the first step, which here holds all that is given, if it is not
/// needed there.
[[nodiscard]] bool are_conflicts_exact(snapshot const& p, live_range_lists const& augmented,
                                       table<value_id, value_role> const& role,
                                       table<step_id, position_id> const& position);

/// The bytes that every plan needs at one position of the augmented program.
struct flow_bound {
    byte_count bytes = 0;
    position_id position = 0;
};

/// For each pool, bytes that are apart in every plan that check_flow_plan() accepts, whichever in-place
/// pairs it takes; or the top of a pin.
///
/// At a reached position, buffers that live there and were written on every path are apart. One more may be
/// added that some path leaves unwritten: of these two may share bytes. `early` are the ranges in which a
/// step reads what it may overwrite before it writes.
///
/// Complexity: O(V + E + positions + r log r), r = ranges.
[[nodiscard]] table<pool_id, flow_bound>
bounds_of_flow(snapshot const& p, live_range_lists const& early,
               sublet::table<value_id, unsigned char> const& is_unwritten,
               sublet::table<step_id, position_id> const& position, buffer_table const& table);

/// Enters these bounds instead of those of the placement.
void set_bounds(table<pool_id, flow_bound> const& bounds, placement& placed);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/flow_bounds.ipp>
#endif

#endif
