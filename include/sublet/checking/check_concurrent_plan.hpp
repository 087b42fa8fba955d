// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_CONCURRENT_PLAN_HPP
#define SUBLET_CHECKING_CHECK_CONCURRENT_PLAN_HPP

/// Checks a plan for steps in any order: no execution order may let two classes of values conflict.
///
///     offset 64 |  [== a ==|== c ==|= e =)      each byte is reused: from a to c, from c to e. Is c first
///            32 |  [== a ==|= d =|== e ==)      written after all touches of a? If each reuse is ordered so,
///               +-------------------------      e need not be compared with a.
///
/// v may reuse bytes of u iff every touch of u happens before every def of v. The relation is transitive, so
/// the classes that share a byte form a chain, or two neighbours of the sequence conflict. Classes are
/// inserted by the position of their first def, so a reusing class comes after the class it reuses, and each
/// is compared, byte by byte, with the last occupant only.
///
/// Source: the relation and its chains are those of Dilworth, "A decomposition theorem for partially ordered
/// sets", Annals of Mathematics 1950. The order of the steps is derived again, not taken from a planner.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

namespace sublet {

/// Whether `plan` is valid for this program if its steps run in any order: true, or the first reason why not.
/// If it is, in every execution that respects data, edges of the program, the sequence of steps of a node and
/// the plan's hand-offs, every read finds what was written for it.
///
/// Of the plan only the reading, offsets, pools, arena sizes and hand-offs count. An input is live before all
/// steps and until its last touch, an output until after all steps. A step may write over what it reads
/// early, and over an operand in place, as declared, if all other touches happen before. A value and its
/// views are one class and not compared.
///
/// Requires:   one entry for each value in every table; alignments of at least 1; `alias_of` without cycles;
///             `options.order`, which is not used, empty or naming every node once.
/// Ensures:    the first fault in this order: a plan of another program or reading; a value that is written
///             twice or was given, a use before a def, a cycle (step_order.hpp says which first); what
///             check_places finds; two classes that conflict, even if the overwritten value is never read.
///             Classes are inserted by the position of their first def, those of one step as it lists them,
///             and compared by ascending offset.
/// Complexity: O(n log n + V + E + steps + touches) time and memory, n = values, and that of
///             reachability_queries for about as many queries as there are buffers.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] verdict check_concurrent_plan(snapshot const& p, memory_plan const& plan,
                                            plan_options const& options);
/// The same for a listing, with its names.
template <detail::listed L>
[[nodiscard]] verdict check_concurrent_plan(L const& list, memory_plan const& plan)
{
    return list.named(check_concurrent_plan(list.program(), plan, list.options()));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_concurrent_plan.ipp>
#endif

#endif
