// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_INSERT_SPILLS_HPP
#define SUBLET_PLANNING_DETAIL_INSERT_SPILLS_HPP

/// Writes the copies and the recomputed steps of a run within a limit into a program.

#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/detail/spill_model.hpp>
#include <sublet/planning/detail/spill_run.hpp>
#include <sublet/planning/spills.hpp>

namespace sublet::detail {

/// The program with the events of `run` as its steps.
///
/// Requires:   `m` is the model of `p` with these options, and `run` a run of it.
/// Ensures:    values of the program keep their ids, new ones follow. A replaced value is no longer an
///             output: `final_version` names its replacement.
/// Complexity: O(values + touches) of both programs, and for each restored buffer its values.
[[nodiscard]] spilled_program insert_spills(snapshot const& p, spill_model const& m,
                                            plan_options const& options, spill_run const& run);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/insert_spills.ipp>
#endif

#endif
