// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_INTERNAL_LEFT_OUT_ORDER_HPP
#define SUBLET_CHECKING_INTERNAL_LEFT_OUT_ORDER_HPP

/// A plan also serves each program that leaves out some of its optional steps (plan_options::optional). Lives
/// only become shorter then. So two rules are enough, which share no code with the planners:
///
///     no step that stays takes data of one that is left out
///     a ─► x ─► b    where b takes no data of x, other steps that stay, or that b needs, order a and b, too

#include <sublet/checking/detail/step_order.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/graph/snapshot.hpp>

#include <optional>

namespace sublet::detail {

/// A step that has to run takes data of an optional one: the first.
///
/// Complexity: O(values + touches).
/// Throws:     precondition_error for an optional step that does not exist.
[[nodiscard]] std::optional<counterexample> needs_left_out(snapshot const& p, plan_options const& options,
                                                           plan_requirements const& required);

/// Two steps that only an optional one orders.
///
/// Requires:   `order` has no fault, and needs_left_out() finds nothing.
/// Complexity: O(V + E + touches), and O(steps + edges) for each step that waits for an optional one and
///             takes no data of it.
[[nodiscard]] std::optional<counterexample> lost_with_left_out(snapshot const& p, plan_options const& options,
                                                               plan_requirements const& required,
                                                               step_order const& order);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/left_out_order.ipp>
#endif

#endif
