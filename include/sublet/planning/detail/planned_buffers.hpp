// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_PLANNED_BUFFERS_HPP
#define SUBLET_PLANNING_DETAIL_PLANNED_BUFFERS_HPP

/// Conversion of buffers to a placement problem, and of a placement to a plan, in O(values).
///
///     buffers  a  b  c  d        b is external, c has no size        the plan: a, d; unsized: c
///     problem  0        1                                             the placement: offsets of 0 and 1
///
/// A buffer written over a larger one follows it in time at the same offset: two rectangles in one storage.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <optional>
#include <vector>

namespace sublet::detail {

/// A view that is larger than its root, if there is one.
std::optional<counterexample> oversized_view(buffer_table const& table);

/// Roots of storage that is used and not planned, because it is external or not eligible, by its lives.
/// O(buffers)
std::vector<value_id> external_roots(buffer_table const& table);

/// The same by touches: for control flow, where such storage has no lives. O(buffers + touches)
std::vector<value_id> external_roots(snapshot const& p, buffer_table const& table);

/// Lists the buffers that need storage in the plan and in the problem, under the same numbers, in O(values).
/// Returns what refutes every plan: a view that is larger than its root, or a buffer with two pins.
std::optional<counterexample> list_planned(buffer_table const& table, memory_plan& plan,
                                           placement_problem& problem);

/// Chooses the pools of the planned buffers with choices, before any are joined in place, so that the
/// capacities in `room` hold.
///
/// Complexity: detail::choose_pools().
/// Throws:     precondition_error for a choice of a value that does not exist.
void set_chosen_pools(buffer_table& buffers, plan_options const& options,
                      table<pool_id, pool_limits> const& room);

/// Why a placement is no valid plan, in terms of the placed values.
std::optional<counterexample> why_not_placed(placement const& placed, placement_problem const& problem,
                                             memory_plan const& plan);

void set_offsets(placement const& placed, memory_plan& plan);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/planned_buffers.ipp>
#endif

#endif
