// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_PACK_IN_PLACE_HPP
#define SUBLET_PLANNING_DETAIL_PACK_IN_PLACE_HPP

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
///
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

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <vector>

namespace sublet::detail {

/// The gains of the pairs that are joined in `buffers`, in their order; `steps` are the steps by position.
///
/// Requires:   lives in `buffers` are by position; a pair's result is written at its step first.
/// Complexity: O(k (buffers + steps) + pairs log pairs) for pairs in k pools.
/// Throws:     precondition_error if 2^64 - 1 bytes or more would be live at once.
[[nodiscard]] std::vector<memory_plan::in_place_gain>
in_place_gains(buffer_table const& buffers, table<position_id, step_id> const& steps);

struct packed_in_place {
    memory_plan plan;
    placement_problem problem;
    placement placed;
    std::vector<memory_plan::in_place_gain> gains; ///< of the pairs used
    verdict valid;                                 ///< why there is no valid plan
};

/// Places `buffers`, joined by some of the `pairs`; `steps` are the steps by position. Two values that are
/// `together` get one offset; their buffers are in no pair.
///
/// Requires:   as join_in_place(); no pair can be added or exchanged to lower the bytes live at any step, as
///             match_in_place() ensures.
/// Ensures:    no pool is higher than with all pairs, and none higher than without any. The lower bounds hold
///             for every choice of pairs.
/// Complexity: that of pack(), called up to five times; once if all pools reach their bytes live.
[[nodiscard]] packed_in_place
pack_in_place(buffer_table const& buffers, std::vector<memory_plan::in_place_pair> const& pairs,
              table<position_id, step_id> const& steps, table<pool_id, pool_limits> const& pools,
              effort work = effort::balanced, std::vector<plan_options::carry> const& together = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/pack_in_place.ipp>
#endif

#endif
