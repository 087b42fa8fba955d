// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_FLOW_LIVES_HPP
#define SUBLET_PLANNING_DETAIL_FLOW_LIVES_HPP

/// Where the buffers of a plan for control flow live: what is read before it is written, storage written in
/// pieces through views, and ranges with gaps.
///
///     0 ─► 1: x written ─► 3: x read        x is unwritten on the way 0, 2, 3: it counts only where
///     something is └──► 2: y written ─►┘                 written, so that it may share bytes with y

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <optional>
#include <vector>

namespace sublet::detail {

/// The hulls of `lives`.
[[nodiscard]] live_ranges hulls(snapshot const& p, live_range_lists const& lives);

/// The program in which a step that makes a view uses its root, too: the bytes have to be there. A step that
/// also writes through it needs those that something has made.
snapshot with_view_uses(snapshot const& p, plan_options const& options);

/// Storage that no step makes begins where a view of it is written first. If a later write through another
/// view may find bytes there, or an output keeps all of it, it counts as given: it is there from the start,
/// and to the end. Returns whether there is such storage; then `kept` are the options with these roles.
///
/// Complexity: O(values log values + touches).
[[nodiscard]] bool keep_pieces(snapshot const& p, plan_options const& options, plan_options& kept);

/// Buffers that nothing makes or gives need no storage: nothing reaches a step that uses or changes them.
void drop_unwritten(snapshot const& p, buffer_table& table);

/// The position of each step in the augmented program, in which the entry has position 0.
[[nodiscard]] table<step_id, position_id> augmented_positions(snapshot const& p,
                                                              std::vector<node_id> const& order);

/// The first read of a value that some path has not written, unless `flow` allows it.
[[nodiscard]] std::optional<counterexample> read_of_undefined(snapshot const& p,
                                                              live_range_lists const& augmented,
                                                              table<value_id, value_role> const& role,
                                                              table<step_id, position_id> const& position,
                                                              flow_options const& flow);

/// Which values some path may read before anything writes them; empty if there are none. Of two others that
/// live together, one lives where the other is written.
[[nodiscard]] table<value_id, unsigned char> read_unwritten(live_range_lists const& augmented,
                                                            table<value_id, value_role> const& role);

/// The ranges of the plan's buffers, united over their values; sets the hulls and the gaps.
///
/// A buffer that some path leaves unwritten counts only where a step writes something: it may live together
/// with another such buffer, on paths of which each writes only one of them.
[[nodiscard]] buffer_range_lists set_live_ranges(snapshot const& p,
                                                 table<step_id, position_id> const& position,
                                                 live_range_lists const& of_values,
                                                 table<value_id, unsigned char> const& is_unwritten,
                                                 memory_plan& plan, placement_problem& problem);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/flow_lives.ipp>
#endif

#endif
