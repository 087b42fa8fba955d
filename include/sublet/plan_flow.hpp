// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_FLOW_HPP
#define SUBLET_PLAN_FLOW_HPP

/// Offsets for programs with branches and loops, valid on every path: successors of a node are alternatives.
///
///     auto planned = sublet::plan_flow(program, {.bytes = sizes});
///     std::cout << planned << '\n';
///
///     program ─► flow_lives ─► buffers ─► in place ─► pack, with holes ─► check_flow_plan ─► plan + report
///
/// Any control flow is accepted, irreducible loops too, and values may be written more than once: a value is
/// live wherever some path still reads it. In a linear order its live range has holes, for example the other
/// branch of a conditional, in which other buffers may lie. A declared in-place pair becomes one buffer where
/// possible; then the move at the end of a loop body copies nothing.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/planned_memory.hpp>

#include <vector>

namespace sublet {

/// A plan for every path, with live ranges that have holes.
struct planned_flow : planned_memory {
    /// Of the buffers of the plan, over the positions of its order. The `life` of a buffer is the hull.
    buffer_range_lists lives;

    /// The plan with a row for each range, for tables and pictures. `buffer_of` is the first row.
    [[nodiscard]] memory_plan by_range() const;
};

/// Plans storage that is valid on every path of the program. A program without control flow has one path: its
/// nodes run as they are listed.
///
/// An input is live from the start. An output is live to the end: where a node has no successor, and in loops
/// without exit, where any node ends. Making a view of a value reads it. Storage that no step makes begins
/// where a view of it is first written; it is there from the start if another view changes the same bytes, or
/// if a view of it is an output: outputs keep all of it.
///
/// Requires:   `options.order`, if given, names every node once. It only numbers positions; default: an order
///             that keeps loops contiguous.
/// Ensures:    the plan is valid for the control-flow reading, and proved unless `options.check` is off.
///             error() is a counterexample if there is no valid plan: a value is read before it is written on
///             some path, pins overlap or are misaligned, a view is larger than its root, or the plan exceeds
///             a capacity. (`flow.allows_undefined`: such reads may find any bytes, and only a value that is
///             never written is refused; two values written on different paths only may share bytes.)
///             No plan that check_flow_plan() accepts is below the lower bound, whichever pairs it takes.
/// Complexity: live_intervals(), twice if there are in-place pairs, and pack() and check_flow_plan().
/// Throws:     precondition_error if a precondition of a stage is violated, if there is a previous plan, and
///             without control flow if an edge or `options.order` contradicts the list.
[[nodiscard]] planned_flow plan_flow(snapshot const& p, plan_options const& options,
                                     flow_options const& flow = {});

/// The same for a listing: the result is asked with handles.
template <detail::listed L>
[[nodiscard]] auto plan_flow(L const& list, flow_options const& how = {})
{
    list.expect_no_carry("plan_flow");
    return list.named(plan_flow(list.program(), list.sized_options(), how));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/plan_flow.ipp>
#endif

#endif
