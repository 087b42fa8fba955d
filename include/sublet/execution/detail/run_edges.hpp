// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_RUN_EDGES_HPP
#define SUBLET_EXECUTION_DETAIL_RUN_EDGES_HPP

/// The two halves of edges(): the proved order of a run, by position, and its waits as edges between steps.
/// Defined beside edges().
///
///     program + plan + hand-offs ──► run_order: waits by position ──► step_edges, sorted by step

#include <sublet/core/plan.hpp>
#include <sublet/execution/internal/run_order.hpp>
#include <sublet/graph/snapshot.hpp>

#include <vector>

namespace sublet {
struct arena;
struct step_edges;
} // namespace sublet

namespace sublet::detail {

/// Requires and throws: as edges().
[[nodiscard]] run_order proved_run(snapshot const& p, arena const& planned, plan_options const& options,
                                   std::vector<handoff> const& handoffs);
/// `handoffs`: those that the caller gave.
[[nodiscard]] step_edges edges_of(run_order const& order, std::vector<handoff> const& handoffs);

} // namespace sublet::detail

#endif
