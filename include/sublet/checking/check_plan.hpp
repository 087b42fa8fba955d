// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_PLAN_HPP
#define SUBLET_CHECKING_CHECK_PLAN_HPP

/// Checks a plan for steps in one order: derives what the plan must respect and finds the first fault.
///
///     offset 128 |         [=== b ====)           b is alive at positions 1 and 2, c at 2 and 3:
///             96 |             [=== c ====)       the error is "values b and c, at position 2,
///             64 | [== a ==)                      bytes [96, 112)"
///                +-0---1---2---3---> position
///
/// A sweep over positions: while no two active ranges overlap, they are ordered by offset, and a starting
/// range that overlaps an active one overlaps a neighbour. So two comparisons for each range suffice.
///
/// Source: Shamos and Hoey, "Geometric intersection problems", FOCS 1976. Here the segments are buffers, and
/// one may begin in the bytes of another that ends: an in-place pair.
///
///     check_plan.hpp              one order of steps           sweep over positions, O(n log n + touches)
///     check_symbolic_plan.hpp     every shape                  check_plan() at both ends, and a stacking
///     check_flow_plan.hpp         every path of a CFG          forward dataflow of available values
///     check_concurrent_plan.hpp   every execution order        happens-before queries of reusing classes
///     check_schedule.hpp          a schedule for workers       sums of live bytes at all starts and ends
///     fits.hpp                    a plan of a larger program   one of these, with the same places

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

namespace sublet {

/// Whether `plan` is a valid plan of this program under these options: true, or the first reason why not.
///
/// Order and reading are compared with the options; live ranges and sizes are derived again. Of the plan only
/// offsets, pools and arena sizes count.
///
/// Requires:   one entry for each value in every table; alignments of at least 1; `alias_of` without cycles;
///             `options.order` empty or naming every node once.
/// Ensures:    the first fault in this order: a plan of another program, order or reading; the first use
///             before a def (by position, then value); a write that the order moves across another touch of
///             its value; the first edge that goes backward in the order; by value, a view of more bytes than
///             its root; by value, storage that is missing or needless; by value, a misplaced view, a wrong
///             pool, a bad alignment, a missed pin, the end of the arena; by pool, its capacity; the first
///             position at which two classes conflict. There classes start by ascending root, in-place
///             results last, and each is compared with its neighbour below before the one above.
/// Complexity: O(n log n + nodes + steps + touches + in-place pairs) time, n = values; O(n + steps) memory.
///             Checking a given order takes another O(touches log touches) time, O(defs) memory.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] verdict check_plan(snapshot const& p, memory_plan const& plan, plan_options const& options);
/// The same for a listing, with its names.
template <detail::listed L>
[[nodiscard]] verdict check_plan(L const& list, memory_plan const& plan)
{
    return list.named(check_plan(list.program(), plan, list.options()));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_plan.ipp>
#endif

#endif
