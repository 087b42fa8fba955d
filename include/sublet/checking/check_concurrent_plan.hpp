// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_CONCURRENT_PLAN_HPP
#define SUBLET_CHECKING_CHECK_CONCURRENT_PLAN_HPP

/// The opponent of every plan for steps that run in any order: looks for an order in which it goes wrong.
///
///     offset 64 |  [== a ==|== c ==|= e =)      each byte is handed on: from a to c, from c to e. Is c first
///            32 |  [== a ==|= d =|== e ==)      written after all touches of a? If so for each hand-over,
///               +-------------------------      e need not be compared with a.
///
/// u may give its bytes to v if and only if every touch of u comes before every def of v. That is transitive,
/// so whoever shares a byte forms a chain or there is a fault between two neighbours. Let the classes of
/// values move in by the position of their first def: whoever is to receive anything moves in after the
/// giver, and what has to be asked about is, byte by byte, only who lies there last.
///
/// Source: the relation and its chains are those of Dilworth, "A decomposition theorem for partially ordered
/// sets", Annals of Mathematics 1950. Nothing is taken from any planner, the order of the steps included.

#include <sublet/checking/concurrent_witness.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>

#include <cstddef>
#include <optional>

namespace sublet {

namespace detail {

/// A plan of another program or reading.
bool is_foreign(memory_plan const& plan, std::size_t steps, std::size_t values);

} // namespace detail

/// Look for a reason why `plan` is not a plan of this program for steps that run in any order. None: it is
/// proved that in every execution that waits for data, for edges of the program, for the row of steps of a
/// node and for the plan's hand-offs, every read finds what was written for it.
///
/// Of the plan only the reading, offsets, pools, arena sizes and hand-offs count. An input is there before
/// all steps and needed until its last touch, an output until after them all. A step may write over what it
/// reads early, and over an operand in place, as declared, if all other touches come before. A value and its
/// views are one and the same to it, and are not compared.
///
/// Requires:   one entry a value in every table; alignments of at least 1; `alias_of` without circles;
///             `options.order`, which says nothing here, empty or every node once.
/// Ensures:    the first fault in this order: a plan of another program or reading; a value that is written
///             twice or was given, a use before a def, a cycle (step_order.hpp says which first); what
///             check_places finds; two classes that clash, though a value that nobody reads might as well be
///             destroyed. Classes move in by the position of their first def, those of one step as it lists
///             them, and meet those that lie there by ascending offset.
/// Complexity: O(n log n + V + E + steps + touches) time and memory, n = values, and what order_questions
///             takes for about as many questions as there are buffers.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::optional<concurrent_witness>
check_concurrent_plan(snapshot const& p, memory_plan const& plan, plan_options const& options);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_concurrent_plan.ipp>
#endif

#endif
