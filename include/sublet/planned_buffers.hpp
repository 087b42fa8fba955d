// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNED_BUFFERS_HPP
#define SUBLET_PLANNED_BUFFERS_HPP

/// The way from buffers to a placement problem and back, which all planners take.
///
///     buffers  a  b  c  d        b is external, c has no size        the plan: a, d; unsized: c
///     problem  0        1                                             the placement: where 0 and 1 lie
///
/// Who was written over a larger buffer follows it in time and lies where it lies: two rectangles, one piece
/// of storage.

#include <sublet/analysis/buffers.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/placement/result.hpp>
#include <sublet/plan.hpp>

#include <optional>

namespace sublet {

namespace detail {

/// A view of more bytes than its root has, if there is one.
std::optional<witness> oversized_view(buffer_table const& table);

/// List in the plan and in the problem, under the same numbers, the buffers that need storage. Returns what
/// already stands against any plan: a view of more bytes than its root, a buffer that is pinned in two
/// places.
///
/// Complexity: O(values).
std::optional<witness> list_planned(buffer_table const& table, memory_plan& plan, placement_problem& problem);

/// Why a placement is no plan, in terms of the values placed.
std::optional<witness> objection(placement const& placed, placement_problem const& problem,
                                 memory_plan const& plan);

/// Take over what was placed.
void put(placement const& placed, memory_plan& plan);

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/planned_buffers.ipp>
#endif

#endif
