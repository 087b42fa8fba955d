// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_LEFT_OUT_HPP
#define SUBLET_ANALYSIS_INTERNAL_LEFT_OUT_HPP

/// Steps that may be left out (plan_options::optional), and the order that is lost with them.
///
///     a ──► x ··► b      b waits for x, and takes no data of it. Without x it does not wait for a: a hand-off
///     └···········┘      from a to b keeps that order, and adds none where x runs.
///
/// What takes data of x is left out with x, so no order is lost there.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

#include <optional>
#include <vector>

namespace sublet::detail {

/// Why some of the steps that may be left out cannot be: a step that stays needs what one of them makes, or
/// reads bytes that only they write. The first such step.
///
/// Requires:   `options` have what steps say of their views.
/// Complexity: O(values + touches); if a value is made without contents, find_unwritten() for each step that
///             may be left out.
/// Throws:     precondition_error for a step that does not exist.
[[nodiscard]] std::optional<counterexample> find_needed(snapshot const& p, plan_options const& options);

/// An input is live while the first step runs. A step that reads it early, and may be the first one then, may
/// not take its bytes: lives of such inputs, in the order of `steps`, end one position later.
///
/// Complexity: O(touches).
void hold_early_inputs(snapshot const& p, plan_options const& options,
                       table<position_id, step_id> const& steps, buffer_table& buffers);

/// The hand-offs without which a program that leaves out steps loses order of the others.
///
/// Requires:   `g` is the order of the program, and find_needed() finds nothing.
/// Ensures:    with them, whatever is left out, of two steps that stay one waits for the other as in `g`.
/// Complexity: O(V + E + touches), and O(steps + edges) for each step that waits for one that may be left
///             out and takes no data of it.
[[nodiscard]] std::vector<handoff> order_without(snapshot const& p, plan_options const& options,
                                                 dependence_graph const& g);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/left_out.ipp>
#endif

#endif
