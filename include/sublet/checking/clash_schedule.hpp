// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CLASH_SCHEDULE_HPP
#define SUBLET_CHECKING_CLASH_SCHEDULE_HPP

/// An order of the steps in which two classes of values meet that lie in the same bytes.
///
///     u is made  ──►  v is written over it  ──►  u is needed
///
///     what the maker    the     what the writer   the       all the rest,
///     waits for         maker   waits for         writer    the needing step included
///
/// If neither may give its bytes to the other, there are such three steps for u and v or for v and u: else
/// some first def of either would come before one of the other, in a circle. The exception are two that are
/// only written, by steps that need not wait for each other; they stand side by side, and may run at once.

#include <sublet/checking/class_touches.hpp>
#include <sublet/checking/concurrent_witness.hpp>
#include <sublet/checking/step_order.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

namespace detail {

/// By step: whether it comes before s, if there is such a step.
std::vector<unsigned char> all_before(step_id s, step_order const& order);

/// Find the three steps for u, and for v that is written over it. `maker` is no step if u is given.
bool meets(step_order const& order, class_touches const& touches, memory_plan const& plan, bool in_place,
           value_id u, value_id v, step_id maker, bool both_written, concurrent_witness& w);

} // namespace detail

/// How u and v meet: the values, the steps and the schedule of the witness.
///
/// Requires:   the classes of the roots u and v lie in the same bytes, and neither may give them to the
/// other. Ensures:    u is named as what is written over, if there is a schedule for that; of steps the
/// first. Complexity: O(steps + edges) for each first def of either class.
[[nodiscard]] concurrent_witness clash_schedule(step_order const& order, class_touches const& touches,
                                                memory_plan const& plan, bool in_place, value_id u,
                                                value_id v);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/clash_schedule.ipp>
#endif

#endif
