// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_STEP_GROUPS_HPP
#define SUBLET_PLANNING_DETAIL_STEP_GROUPS_HPP

/// Groups of sections of which only some may run at once: in the search of schedules they are pools, and in a
/// plan they become hand-offs.
///
///     at_once = 2   place 0  │ section 0 │   section 2   │    a section is a buffer of size 1 from its
///                   place 1  │   section 1   │ section 3 │    first step to its last, and the group a
///                            └───────────────────────────    pool of two; what lies in a place hands it on
///
/// So the check that keeps a schedule from deadlock at the end of memory keeps it from deadlock here, too.

#include <sublet/analysis/dependences.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/schedule.hpp>
#include <sublet/core/units.hpp>
#include <sublet/planning/detail/capped_schedule.hpp>
#include <sublet/planning/detail/schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet::detail {

/// Throws: precondition_error if a section is empty or names no step, a step is twice in one group, or
///         `at_once` is 0.
void expect_groups(std::vector<step_group> const& groups, std::size_t steps);

/// Adds each section to the problem, as a buffer of size 1 in the pool of its group.
void add_groups(std::vector<step_group> const& groups, schedule_problem& problem);

/// Ranks for sequence_by() that follow `rank`, but run each section through once it has begun, with what
/// shares steps with it. If sections wait for each other, only as far as that is possible.
[[nodiscard]] table<step_id, std::uint64_t> ranks_in_sections(schedule_problem const& problem,
                                                              std::vector<step_group> const& groups,
                                                              table<step_id, std::uint64_t> const& rank);

/// The first step of a sequence that begins a section of a group with too many, if there is one.
[[nodiscard]] std::optional<counterexample> over_group(schedule_problem const& problem,
                                                       std::vector<step_group> const& groups,
                                                       std::vector<step_id> const& sequence);

/// Waits between the sections of each group, so that never more run at once than may.
///
/// Requires: the schedule with these starts keeps the groups; `g` has the waits of data and edges.
/// Ensures:  ascending; none is implied by others or by `g`; the schedule keeps them.
[[nodiscard]] handoff_set handoffs_of_groups(dependence_graph const& g,
                                             table<step_id, std::uint64_t> const& duration,
                                             std::vector<step_group> const& groups,
                                             table<step_id, std::uint64_t> const& start);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/step_groups.ipp>
#endif

#endif
