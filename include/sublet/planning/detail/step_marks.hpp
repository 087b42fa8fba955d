// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_STEP_MARKS_HPP
#define SUBLET_PLANNING_DETAIL_STEP_MARKS_HPP

/// What tells which step of one listing is which of another: the first value that it makes, else its label.
///
///     planned     0 "shadows"   1 "bloom"   2 "draw"   3      hand-off  0 ─► 2      step 1 was left out, so 2
///     this list   0 "shadows"               1 "draw"   2      hand-off  0 ─► 1      is 1 here, and 3 is 2

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/internal/effect_record.hpp>
#include <sublet/planning/detail/said_values.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

/// The steps of a listing by what tells them from each other.
struct step_marks {
    table<step_id, value_id> makes = {}; ///< the first value that each makes, or none
    said_names<step_id> labels = {};
};

[[nodiscard]] step_marks step_marks_of(effect_record const& record, said_names<step_id> const& labels);

/// By step of the planned listing: the step of this one; `no_step`: there is none. `value_here`: by value of
/// the planned listing, its number in this one or none. A label is that of one step in each of both. Steps
/// that make nothing, and have no label or that of others, too, are the same in their order, if both
/// listings have as many.
///
/// Complexity: expected O(steps log steps + values + characters).
[[nodiscard]] table<step_id, step_id> matched_steps(step_marks const& planned, step_marks const& here,
                                                    table<value_id, value_id> const& value_here);

/// Hand-offs and order of the plan with the numbers of other steps; those of no other step are left out.
void renumber_steps(memory_plan& plan, table<step_id, step_id> const& step_here);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/step_marks.ipp>
#endif

#endif
