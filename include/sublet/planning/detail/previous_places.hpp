// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_PREVIOUS_PLACES_HPP
#define SUBLET_PLANNING_DETAIL_PREVIOUS_PLACES_HPP

/// Where the buffers of a plan lay in the plan before, and which values lie elsewhere now.
///
///     before   a at 0, b at 64, c at 64       now   {a, b} share storage in place, c, d is new
///     wanted   {a, b}: 0, as a does, which is the first of as many; c: 64; d: anywhere

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <vector>

namespace sublet::detail {

/// There is a plan before.
[[nodiscard]] inline bool has_previous(plan_options const& options)
{
    return !options.previous.buffer_of.empty();
}

/// Throws: precondition_error if options for the plan before are out of range.
void expect_previous(plan_options const& options);

/// Throws: precondition_error if there is a plan before, of which `planner` does not take account.
void expect_no_previous(plan_options const& options, char const* planner);

/// The offset of each buffer at which most of its values keep theirs, of several the one of the first value;
/// `no_offset` if none of them was in this pool before. What is written in place over another has the offset
/// of that.
///
/// Complexity: O(values log values).
[[nodiscard]] table<buffer_id, byte_count> previous_offsets(memory_plan const& plan,
                                                            plan_options const& options);

/// Which buffers need bytes of their own.
struct buffer_conflicts {
    /// Two that conflict, and a step at which both may be alive; none: both are given.
    struct meeting {
        bool conflict = false;
        step_id step = no_step;
    };
    virtual meeting of(buffer_id a, buffer_id b) const = 0;

protected:
    ~buffer_conflicts() = default;
};

/// By value, those that lie elsewhere than before, each with the rule that its former place would break in
/// this plan.
///
/// Requires:   `former` are previous_offsets(). `conflicts` are those of a plan for every schedule; null: two
///             buffers conflict if their live ranges overlap.
/// Complexity: O(values log values + moved * buffers); at most 2^27 of these, and of what moves then the rule
///             is `foreign_plan`.
[[nodiscard]] std::vector<counterexample> moved_values(memory_plan const& plan, plan_options const& options,
                                                       table<buffer_id, byte_count> const& former,
                                                       buffer_conflicts const* conflicts = nullptr);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/previous_places.ipp>
#endif

#endif
