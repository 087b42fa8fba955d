// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_INSERT_SPILLS_HPP
#define SUBLET_PLANNING_DETAIL_INSERT_SPILLS_HPP

/// Writes the copies and the recomputed steps of chosen spills into a program.

#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/detail/spill_candidates.hpp>
#include <sublet/planning/spills.hpp>

#include <span>

namespace sublet::detail {

/// The program with some of the candidates from find_spill_candidates() spilled.
///
/// Requires:   `steps` are the program's by position in the order of `options`; at most one candidate per
///             interval is chosen; an operand of a recomputed step is not spilled there (but may be restored
///             just there).
/// Ensures:    values of the program keep their ids, new ones follow. A replaced value is no longer an
///             output: `final_version` names its replacement.
/// Complexity: O(values + touches + k log k) for k candidates and uses at node ends, and for each candidate
///             its views and the touches of its recomputed step.
[[nodiscard]] spilled_program insert_spills(snapshot const& p, table<position_id, step_id> const& steps,
                                            plan_options const& options,
                                            std::span<memory_plan::in_place_pair const> in_place,
                                            std::span<spill_candidate const> candidates);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/insert_spills.ipp>
#endif

#endif
