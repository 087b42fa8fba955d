// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_DETAIL_PLANNED_BUFFERS_HPP
#define SUBLET_DETAIL_PLANNED_BUFFERS_HPP

/// What the planners have in common: from buffers to a placement problem and back, and which in-place pairs
/// to keep. Included by the planners.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <optional>
#include <vector>

// --- planned buffers -------------------------------------------------------------------------------------

/// The way from buffers to a placement problem and back, which all planners take.
///
///     buffers  a  b  c  d        b is external, c has no size        the plan: a, d; unsized: c
///     problem  0        1                                             the placement: where 0 and 1 lie
///
/// Who was written over a larger buffer follows it in time and lies where it lies: two rectangles, one piece
/// of storage.

namespace sublet::detail {

/// A view of more bytes than its root has, if there is one.
std::optional<witness> oversized_view(buffer_table const& table);

/// List in the plan and in the problem, under the same numbers, the buffers that need storage. Returns what
/// already stands against any plan: a view of more bytes than its root, a buffer that is pinned in two
/// places.
///
/// Complexity: O(values).
std::optional<witness> list_planned(buffer_table const& table, memory_plan& plan, placement_problem& problem);

/// Why a placement is no plan, in terms of the values placed.
std::optional<witness> placement_witness(placement const& placed, placement_problem const& problem,
                                         memory_plan const& plan);

/// Take over what was placed.
void set_offsets(placement const& placed, memory_plan& plan);

// --- in place gains --------------------------------------------------------------------------------------

/// What each in-place pair is good for.
///
///     bytes alive
///       96 |        . .                 y over x: without it 64 more bytes would be alive at that step,
///       64 |   +-+  : :                 but the peak would be only 96 - 64 = 32 higher
///       32 | +-+ +--+-+--
///          +--------y------> position   a pair whose step stays below the peak without it saves nothing
///          there
///
/// Without a pair its result is alive beside the operand, at that one step, and nothing else changes. So the
/// peak without it is the higher of the peak with it and what would be alive there.

/// The gains of the pairs that are joined in `table`, in their order; `steps` are the steps by position.
///
/// Requires:   lives in the table are by position; a pair's result is written at its step first.
/// Complexity: O(k (buffers + steps) + pairs log pairs) for pairs in k pools.
/// Throws:     precondition_error if 2^64 - 1 bytes or more would be alive at once.
[[nodiscard]] std::vector<memory_plan::in_place_gain> in_place_gains(buffer_table const& table,
                                                                     std::vector<step_id> const& steps);

// --- placed in place -------------------------------------------------------------------------------------

/// Which in-place pairs are worth taking once buffers have to be placed.
///
///     bytes          y over x: 64 fewer at position 1       nobody is over anybody
///       128 |     +-----+
///           |-----+ b   |                                   +-----+-----+
///        64 | x+--y-----+                                   |  x  |  y  |
///         0 +--0--1--2--+                                   +--0--1--2--+
///
/// Pairs only ever lower the bytes alive, but who is joined lives longer and cannot move apart. So where a
/// pool ends above the bytes that are alive at once, two other placements are tried, and the lowest stays:
/// with those pairs alone without which the peak would be higher, and with none, if none could be lower.

struct in_place_selection {
    memory_plan plan;
    placement_problem problem;
    placement placed;
    std::vector<memory_plan::in_place_gain> gains; ///< of the pairs that are taken
    std::optional<witness> refuted;                ///< what speaks against any plan
};

/// Place the buffers of `table`, joined by some of the `pairs`; `steps` are the steps by position.
///
/// Requires:   what join_in_place() requires; no pair could be added or exchanged so that fewer bytes would
///             be alive anywhere, as match_in_place() has it.
/// Ensures:    no pool ends higher than with all pairs, and none higher than without any. The lower bounds
///             hold for every choice of pairs.
/// Complexity: that of pack(), called up to five times; once if all pools come down to the bytes alive.
[[nodiscard]] in_place_selection select_in_place(buffer_table const& table,
                                                 std::vector<memory_plan::in_place_pair> const& pairs,
                                                 std::vector<step_id> const& steps,
                                                 std::vector<pool_limits> const& pools);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/planned_buffers.ipp>
#endif

#endif
