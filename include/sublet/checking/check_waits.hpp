// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_WAITS_HPP
#define SUBLET_CHECKING_CHECK_WAITS_HPP

/// The opponent of everything that lets steps run at once: looks for two that touch the same bytes and need
/// not come in the order in which a plan is right.
///
///     reference order   0: w a      1: r a      2: w b over a      3: r b
///     waits             0 ──► 1, 2 ──► 3                           2 need not wait for 1: that is the race
///
/// A plan that is sound for the steps one after the other, in the reference order, is run at once: each step
/// begins when those it waits for are done. Say that two accesses clash if they touch the same byte and one
/// of them writes. If every two that clash are of the same step, or the later one waits for the earlier, then
/// each execution leaves what the reference order leaves. For put the steps of any execution into a row that
/// keeps the waits, and take the first in the reference order that does not stand where it stands there. It
/// and its left neighbour are in the wrong order, so do not clash, and may change places: no access finds
/// another byte than before. Exchange by exchange the row becomes the reference order. And steps that do run
/// at the same time do not clash, so it makes no difference in which row they are put.
///
/// Shares nothing with execution/: bytes and accesses are derived from the program afresh.

#include <sublet/checking/race_questions.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

namespace detail {

/// By step, its place in an order of the steps.
std::vector<step_id> places_in(std::vector<step_id> const& step_at, std::size_t steps);

} // namespace detail

/// Who touches which bytes at which position, if a step touches all the bytes of a value with its views. The
/// space of a planned value is its pool; there are `pools` of them, and behind these each class of values
/// that lies nowhere has a space of its own: the caller's storage, that of a value of unknown size, that of a
/// class before there is a plan. A class of 0 bytes has one there: its readers wait for its writer.
///
/// A result is not written if it is a view of what is there and the step reads: of a class that was given or
/// written before, by a name that was not, and is written once. Whoever reads it waits for that step still,
/// so such a name has a byte of its own.
///
/// Requires:   `step_at` names every step once; in a plan every value that needs one has a place within the
///             arena of its pool.
/// Complexity: O(values + steps + touches) time and memory.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::vector<byte_access> accesses_of(snapshot const& p, plan_options const& options,
                                                   memory_plan const* plan, std::uint32_t pools,
                                                   std::vector<step_id> const& step_at);

/// Look for two steps that have to come one after the other and need not, if a position begins when those
/// that it waits for are done. None: every execution leaves what the reference order leaves.
///
/// They have to if both touch the same bytes and one of them writes; and if the program says so by an edge,
/// by the row of steps of a node, or a hand-off does, of a concurrent plan or among `handoffs`.
///
/// Requires:   as accesses_of(); check_plan() passes the plan for the reference order, or
///             check_concurrent_plan() passes it. `after` has, by position, who waits for it: each higher.
/// Ensures:    of clashes the first by the later position, else the first order that was asked for. Of
///             clashes within an arena `space` is the pool; others lie in `no_space`.
/// Complexity: that of accesses_of(), of race_questions(), and of order_questions for what is asked.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::optional<race> check_waits(snapshot const& p, plan_options const& options,
                                              memory_plan const* plan, std::vector<step_id> const& step_at,
                                              csr_rows const& after,
                                              std::vector<handoff> const& handoffs = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_waits.ipp>
#endif

#endif
