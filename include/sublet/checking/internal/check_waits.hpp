// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_INTERNAL_CHECK_WAITS_HPP
#define SUBLET_CHECKING_INTERNAL_CHECK_WAITS_HPP

/// Checks waits of concurrent steps: every execution must compute what the plan's reference order
/// computes.
///
///     reference order   0: w a      1: r a      2: w b over a      3: r b
///     waits             0 ──► 1, 2 ──► 3                           2 need not wait for 1: a race
///
/// The plan is valid for the steps one after the other in the reference order; now each step begins when
/// those it waits for are done. If of every two conflicting accesses of different steps the later waits for
/// the earlier, every execution gives the result of the reference order. Proof: list the steps of an
/// execution in an order that respects the waits. While it differs from the reference order, two neighbours
/// are in the wrong order; they do not conflict, so exchanging them changes no access. Exchanges lead to the
/// reference order. Steps that run at the same time do not conflict, so they may be listed in either order.
///
/// Bytes and accesses are derived from the program again, apart from execution/.

#include <sublet/checking/internal/conflict_scan.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// The inverse of an order of the steps.
table<step_id, position_id> positions_of(table<position_id, step_id> const& step_at, std::size_t steps);

/// The accesses of all steps, by position. The space of a
/// planned value is its pool, of `pools`. Each class without a place has a space of its own behind these: the
/// caller's storage, values of unknown size, every class if there is no plan. There a class of 0 bytes has
/// one byte: its readers wait for its writer.
///
/// A view accesses its own bytes only, and making one accesses none. Steps that read it still wait for the
/// one that makes it, so such a name has a byte of its own: its space is `pools` + the view. Steps that make
/// a view wait for the step that first makes its root, so this has one too: in `pools` + values + the root.
///
/// Requires:   `step_at` names every step once; in a plan every value that needs one has a place within the
///             arena of its pool.
/// Complexity: O(values + steps + touches) time and memory.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::vector<byte_access> accesses_of(snapshot const& p, plan_options const& options,
                                                   memory_plan const* plan, std::uint32_t pools,
                                                   table<position_id, step_id> const& step_at);

/// The counterexample to a race of positions.
[[nodiscard]] counterexample unordered(race const& r);

/// Finds two steps that must be ordered and are not, if a position begins when those that it waits for are
/// done. None: every execution computes what the reference order computes. Two steps must be ordered if they
/// conflict; or if an edge of the program, the sequence of steps of a node or a hand-off, of a concurrent
/// plan or among `handoffs`, requires it.
///
/// Requires:   as accesses_of(); check_plan() accepts the plan for the reference order, or
///             check_concurrent_plan() accepts it. `after` has, by position, the positions that wait for it:
///             each higher.
/// Ensures:    of conflicts the first by the later position, else the first required order. Of conflicts
///             within an arena `space` is the pool; others lie in `no_space`.
/// Complexity: that of accesses_of(), of for_conflicting_pairs(), and of reachability_queries.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] verdict check_waits(snapshot const& p, plan_options const& options, memory_plan const* plan,
                                  table<position_id, step_id> const& step_at,
                                  csr_rows<position_id, position_id> const& after,
                                  std::vector<handoff> const& handoffs = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_waits.ipp>
#endif

#endif
