// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_STEP_ORDER_HPP
#define SUBLET_CHECKING_STEP_ORDER_HPP

/// The order of the steps that every execution keeps, derived from the program without any planner.
///
///     step 0: def a              0 ──► 1 ──► 3        data: who reads waits for who writes
///     step 1: use a, def b       └───► 2 ──► ┘        edges of the program, and the steps of a node in a row
///     step 2: use a, def c                            hand-offs that a plan asks for
///     step 3: use b, use c                            1 and 2 come in any order, or at the same time
///
/// It is the checker's own derivation, on purpose a second one: had it anything in common with what planners
/// use (analysis/dependences.hpp), one mistake there would fool both. Here a step is one point. That it may
/// read before it writes is said where two touches are compared.

#include <sublet/checking/witness.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <optional>
#include <vector>

namespace sublet {

struct step_order {
    csr_rows after;                ///< by step: those that wait for it directly; maybe more than once
    std::vector<step_id> step_at;  ///< all steps, each before those that wait for it
    std::vector<step_id> position; ///< by step: where it stands there
    std::vector<step_id> def_of;   ///< by value: the one step that writes it; `no_step`: given, or untouched
    std::vector<step_id> cycle;    ///< if there is one: each waits for the one before, the first for the last
    std::optional<witness> fault;  ///< why there is no order; then all else is of no use
};

/// Derive what every execution of `p` keeps that also keeps the hand-offs.
///
/// Requires:   `role` has an entry a value.
/// Ensures:    A hand-off that names no step is left out. `fault` is the first in this order: a value that is
/// written though it was there, by step; a use
///             of what nothing defines before, by step, then at ends of nodes, then of outputs; a cycle.
/// Complexity: O(V + E + steps + touches) time and memory.
[[nodiscard]] step_order order_of_steps(snapshot const& p, std::vector<value_role> const& role,
                                        std::vector<handoff> const& handoffs);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/step_order.ipp>
#endif

#endif
