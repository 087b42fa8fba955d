// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_FLOW_PLAN_HPP
#define SUBLET_CHECKING_CHECK_FLOW_PLAN_HPP

/// Checks a plan for control flow: every read must find the bytes that were written for it, on every path.
///
///        0: def a             a and b share bytes. The path over node 2 is valid, that over node 1 is not:
///        /      \             the error is "values a and b at position 1, bytes [0, 64)", where b is
///     1: def b   2:           written over a, which is read later
///        \      /
///        3: use a
///
/// Liveness is not needed. The state at a point of the program is the set of available values: those with
/// intact bytes on every path to it. A write adds its value and removes all values that overlap it. The
/// values left are disjoint, hence ordered by offset, and those that a write overlaps are its neighbours.
/// Where paths meet, the sets are intersected. If a read fails, a path that clobbers the value is searched
/// for the counterexample (checking/detail/available_values.hpp).

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

namespace sublet {

/// Which reads a program with control flow may have.
struct flow_options {
    /// Allow reads on paths that have not written the value; such a read may find anything.
    bool allows_undefined = false;
};

/// Whether `plan` is valid on every path: true, or the first read that finds other bytes than were written
/// for it.
///
/// Successors are alternatives, and every path from the entry counts. A step reads, then writes; what it
/// holds and writes is disjoint, unless it may write the result over that operand. An operand of an edge is
/// read where the predecessor ends. A write covers all bytes of its class and preserves the other values of
/// the class: making a view of a value reads it. Inputs are available at the entry, and disjoint there;
/// outputs are read where a node has no successor, and, as far as available, at the end of nodes of endless
/// loops.
///
/// Requires:   one entry for each value in every table; alignments of at least 1; `alias_of` without cycles.
/// Ensures:    the first fault in this order: a plan of another program, reading or order; the first position
///             that reads what some path has not written (then by value); as check_places; by position in the
///             plan's order the first read that fails, or write over bytes that its step holds; inputs that
///             overlap. The counterexample names the position of the clobbering write.
/// Complexity: as find_unwritten_read and find_available: without loops O((V + E + touches) log n), and O(log
/// n)
///             for each value that is written, or intact, on one path to a node and not on another one. Where
///             reads may be undefined, O(V + E + touches) for each that is.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] verdict check_flow_plan(snapshot const& p, memory_plan const& plan, plan_options const& options,
                                      flow_options const& flow = {});
/// The same for a listing, with its names.
template <detail::listed L>
[[nodiscard]] verdict check_flow_plan(L const& list, memory_plan const& plan, flow_options const& flow = {})
{
    list.expect_no_carry("check_flow_plan");
    return list.named(check_flow_plan(list.program(), plan, list.options(), flow));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_flow_plan.ipp>
#endif

#endif
