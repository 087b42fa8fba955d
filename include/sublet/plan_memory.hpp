// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_MEMORY_HPP
#define SUBLET_PLAN_MEMORY_HPP

/// Offsets in one arena per pool for a program that runs its steps one after another, with a checked proof.
///
///     auto planned = sublet::plan_memory(program, {.bytes = sizes, .alignment = 64});
///     std::cout << planned << '\n';
///     for (auto [value, pool, offset] : planned) std::cout << value << " at " << offset << '\n';
///
///     find_unclear ─► lifetimes() ─► gather_buffers() ─► match_in_place ─► pack_in_place ─► check_plan()
///
/// Offset placement is NP-hard (dynamic storage allocation): the peak is heuristic, and the report gives a
/// lower bound. The definition calls these stages in this order (planning/impl/plan_memory.ipp); those with
/// () are public, and so are take_in_place() and place(), which do what the two others do, one after the
/// other.

#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/planned_memory.hpp>

namespace sublet {

/// Plans offsets for steps that run in sequence, each once. For programs with branches or loops use
/// plan_flow(). A plan for the largest shapes serves smaller ones: fits() proves it
/// (checking/fits.hpp).
///
/// Requires:   the edges are no control flow. `options.order`, if given, names every node once.
/// Ensures:    the plan is valid for the sequential reading in that order, and proved unless `options.check`
///             is off. error() is a counterexample if there is no valid plan: the order contradicts an edge,
///             a value is used before its definition or overwritten too early, pins overlap or are
///             misaligned, a view is larger than its root, or the plan exceeds a capacity (another plan may
///             still fit).
///             With `options.previous` no pool is higher than without it and `keep_within` of that, pins win,
///             and the order and the pools are those without it: no search of an order, and no choice of
///             pools, looks at the plan before. If the program is the one of that plan, so is the plan.
/// Complexity: O(nodes + edges + touches + values), and pack() and check_plan() for the planned buffers.
///             With a previous plan also that of replan(), and moved * buffers.
/// Throws:     precondition_error if a precondition of a stage is violated, or keep_within is negative.
[[nodiscard]] planned_memory plan_memory(snapshot const& p, plan_options const& options);

/// The same for a listing: the result is asked with handles.
template <detail::listed L>
[[nodiscard]] auto plan_memory(L const& list)
{
    return list.named(plan_memory(list.program(), list.sized_options()));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/plan_memory.ipp>
#endif

#endif
