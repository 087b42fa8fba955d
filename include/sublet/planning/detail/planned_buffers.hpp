// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_PLANNED_BUFFERS_HPP
#define SUBLET_PLANNING_DETAIL_PLANNED_BUFFERS_HPP

/// Converts buffers to a placement problem and a placement back to a plan, in O(values), computes the bytes
/// that each in-place pair saves, and chooses the pairs to use: with at most five calls of pack(), the
/// placement is no higher than with all pairs or with none.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <optional>
#include <vector>

// --- planned buffers -------------------------------------------------------------------------------------

/// Conversion of buffers to a placement problem, and of a placement to a plan.
///
///     buffers  a  b  c  d        b is external, c has no size        the plan: a, d; unsized: c
///     problem  0        1                                             the placement: offsets of 0 and 1
///
/// A buffer written over a larger one follows it in time at the same offset: two rectangles in one storage.

namespace sublet::detail {

/// A view that is larger than its root, if there is one.
std::optional<counterexample> oversized_view(buffer_table const& table);

/// Roots of storage that is used and not planned, because it is external or not eligible, by its lives.
/// O(buffers)
std::vector<value_id> external_roots(buffer_table const& table);

/// The same by touches: for control flow, where such storage has no lives. O(buffers + touches)
std::vector<value_id> external_roots(snapshot const& p, buffer_table const& table);

/// The program in which a step that makes a view uses its root, too: the bytes have to be there. A step that
/// also writes through it needs those that something has made.
snapshot with_view_uses(snapshot const& p, plan_options const& options);

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

// --- in place gains --------------------------------------------------------------------------------------

/// The bytes that each in-place pair saves.
///
///     bytes live
///       96 |        . .                 y over x: without it 64 more bytes would be live at that step,
///       64 |   +-+  : :                 but the peak would only be 96 - 64 = 32 higher
///       32 | +-+ +--+-+--
///          +--------y------> position   a pair at a step that stays below the peak without it saves nothing
///
/// Without a pair, its result is live together with the operand at that one step; nothing else changes. So
/// the peak without it is the maximum of the peak with it and the bytes that would be live at the step.

/// The gains of the pairs that are joined in `buffers`, in their order; `steps` are the steps by position.
///
/// Requires:   lives in `buffers` are by position; a pair's result is written at its step first.
/// Complexity: O(k (buffers + steps) + pairs log pairs) for pairs in k pools.
/// Throws:     precondition_error if 2^64 - 1 bytes or more would be live at once.
[[nodiscard]] std::vector<memory_plan::in_place_gain>
in_place_gains(buffer_table const& buffers, table<position_id, step_id> const& steps);

// --- in-place selection ----------------------------------------------------------------------------------

/// Which in-place pairs to use once buffers are placed.
///
///     bytes          y over x: 64 fewer at position 1       no pair used
///       128 |     +-----+
///           |-----+ b   |                                   +-----+-----+
///        64 | x+--y-----+                                   |  x  |  y  |
///         0 +--0--1--2--+                                   +--0--1--2--+
///
/// Joined buffers live longer and have one offset. So if a pool ends above its bytes live, it is placed
/// again with the pairs that lower the peak only, and without pairs if that could be lower.

struct in_place_selection {
    memory_plan plan;
    placement_problem problem;
    placement placed;
    std::vector<memory_plan::in_place_gain> gains; ///< of the pairs used
    verdict valid;                                 ///< why there is no valid plan
};

/// Places `buffers`, joined by some of the `pairs`; `steps` are the steps by position.
///
/// Requires:   as join_in_place(); no pair can be added or exchanged to lower the bytes live at any step, as
///             match_in_place() ensures.
/// Ensures:    no pool is higher than with all pairs, and none higher than without any. The lower bounds hold
///             for every choice of pairs.
/// Complexity: that of pack(), called up to five times; once if all pools reach their bytes live.
[[nodiscard]] in_place_selection select_in_place(buffer_table const& buffers,
                                                 std::vector<memory_plan::in_place_pair> const& pairs,
                                                 table<position_id, step_id> const& steps,
                                                 table<pool_id, pool_limits> const& pools,
                                                 effort work = effort::balanced);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/planned_buffers.ipp>
#endif

#endif
