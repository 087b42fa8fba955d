// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SUBLET_HPP
#define SUBLET_SUBLET_HPP

/// The table of contents: all of the library, in reading order.
///
///     your IR -> program -> analysis -> sharing / placement -> plan -> check
///
/// But for what is dear to include: placement/place.hpp (pack() with clocks and threads), execution/, adapt/.

// clang-format off: in the order of reading, not of the alphabet

// The words.
#include <sublet/affine_bytes.hpp>
#include <sublet/contract.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/sorting.hpp>
#include <sublet/symbolic_options.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

// What we ask, and the walks everybody needs.
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/dominators.hpp>
#include <sublet/graph/explain.hpp>
#include <sublet/graph/loops.hpp>
#include <sublet/graph/nesting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/program_draft.hpp>
#include <sublet/graph/program_tree.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/graph/traversal.hpp>
#include <sublet/graph/vertex_numbering.hpp>

// Facts about a program.
#include <sublet/analysis/absences.hpp>
#include <sublet/analysis/aliases.hpp>
#include <sublet/analysis/ancestor_walk.hpp>
#include <sublet/analysis/antichain.hpp>
#include <sublet/analysis/bit_rows.hpp>
#include <sublet/analysis/buffers.hpp>
#include <sublet/analysis/column_closure.hpp>
#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/copy_order.hpp>
#include <sublet/analysis/crossing.hpp>
#include <sublet/analysis/def_use.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/detours.hpp>
#include <sublet/analysis/flat_tree.hpp>
#include <sublet/analysis/flatten.hpp>
#include <sublet/analysis/flow_lives.hpp>
#include <sublet/analysis/frontiers.hpp>
#include <sublet/analysis/giving_network.hpp>
#include <sublet/analysis/happens_before.hpp>
#include <sublet/analysis/interference.hpp>
#include <sublet/analysis/interference_graph.hpp>
#include <sublet/analysis/later_conflicts.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/live_intervals.hpp>
#include <sublet/analysis/live_query.hpp>
#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/analysis/live_sets.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/analysis/liveness_loop_forest.hpp>
#include <sublet/analysis/liveness_per_value.hpp>
#include <sublet/analysis/liveness_worklist.hpp>
#include <sublet/analysis/overwrite_matching.hpp>
#include <sublet/analysis/pressure.hpp>
#include <sublet/analysis/range_sets.hpp>
#include <sublet/analysis/resting_flow.hpp>
#include <sublet/analysis/storage_order.hpp>
#include <sublet/analysis/strictness.hpp>
#include <sublet/analysis/tree_values.hpp>
#include <sublet/analysis/unreached.hpp>
#include <sublet/analysis/value_set.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/analysis/with_captures.hpp>

// In which order to run.
#include <sublet/ordering/best_order.hpp>
#include <sublet/ordering/clock_conflicts.hpp>
#include <sublet/ordering/clock_lives.hpp>
#include <sublet/ordering/clock_order.hpp>
#include <sublet/ordering/down_set_search.hpp>
#include <sublet/ordering/down_set_table.hpp>
#include <sublet/ordering/down_set_walk.hpp>
#include <sublet/ordering/exact_order.hpp>
#include <sublet/ordering/exact_window.hpp>
#include <sublet/ordering/free_moves.hpp>
#include <sublet/ordering/improve_order.hpp>
#include <sublet/ordering/least_peak.hpp>
#include <sublet/ordering/list_schedule.hpp>
#include <sublet/ordering/longest_path.hpp>
#include <sublet/ordering/mirrored_graph.hpp>
#include <sublet/ordering/node_demands.hpp>
#include <sublet/ordering/node_order.hpp>
#include <sublet/ordering/nodes_on_demand.hpp>
#include <sublet/ordering/order_bound.hpp>
#include <sublet/ordering/order_contest.hpp>
#include <sublet/ordering/order_cuts.hpp>
#include <sublet/ordering/order_graph.hpp>
#include <sublet/ordering/order_window.hpp>
#include <sublet/ordering/parallel_clock.hpp>
#include <sublet/ordering/peak_walk.hpp>
#include <sublet/ordering/plain_walks.hpp>
#include <sublet/ordering/ready_nodes.hpp>
#include <sublet/ordering/topological.hpp>

// Who shares, without addresses.
#include <sublet/sharing/assign_exact.hpp>
#include <sublet/sharing/chains.hpp>
#include <sublet/sharing/cliques.hpp>
#include <sublet/sharing/color_chordal.hpp>
#include <sublet/sharing/color_graph.hpp>
#include <sublet/sharing/color_intervals.hpp>
#include <sublet/sharing/coloring_orders.hpp>
#include <sublet/sharing/dsatur.hpp>
#include <sublet/sharing/fewest_slots.hpp>
#include <sublet/sharing/heir_forest.hpp>
#include <sublet/sharing/hosts.hpp>
#include <sublet/sharing/in_place.hpp>
#include <sublet/sharing/in_place_concurrent.hpp>
#include <sublet/sharing/in_place_flow.hpp>
#include <sublet/sharing/in_place_gains.hpp>
#include <sublet/sharing/in_place_pairs.hpp>
#include <sublet/sharing/largest_first.hpp>
#include <sublet/sharing/linear.hpp>
#include <sublet/sharing/prefix_cliques.hpp>
#include <sublet/sharing/program_tokens.hpp>
#include <sublet/sharing/range_matching.hpp>
#include <sublet/sharing/relink_chains.hpp>
#include <sublet/sharing/sleepers.hpp>
#include <sublet/sharing/slot_choice.hpp>
#include <sublet/sharing/slot_room.hpp>
#include <sublet/sharing/slot_set.hpp>
#include <sublet/sharing/stair_coloring.hpp>
#include <sublet/sharing/staircases.hpp>
#include <sublet/sharing/symbolic_slots.hpp>
#include <sublet/sharing/takers.hpp>
#include <sublet/sharing/token_deposits.hpp>
#include <sublet/sharing/token_sets.hpp>
#include <sublet/sharing/tokens.hpp>

// At which address.
#include <sublet/placement/advise.hpp>
#include <sublet/placement/best_packing.hpp>
#include <sublet/placement/bound.hpp>
#include <sublet/placement/byte_unions.hpp>
#include <sublet/placement/choose_pools.hpp>
#include <sublet/placement/clashing_pins.hpp>
#include <sublet/placement/colocated.hpp>
#include <sublet/placement/concurrent_orders.hpp>
#include <sublet/placement/conflicts.hpp>
#include <sublet/placement/driver.hpp>
#include <sublet/placement/ejection.hpp>
#include <sublet/placement/fewest_that_fail.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/fit_concurrently.hpp>
#include <sublet/placement/fit_outwards.hpp>
#include <sublet/placement/fit_two_ended.hpp>
#include <sublet/placement/fit_upwards.hpp>
#include <sublet/placement/gap_list.hpp>
#include <sublet/placement/idle_loads.hpp>
#include <sublet/placement/improve.hpp>
#include <sublet/placement/improve_two_ended.hpp>
#include <sublet/placement/load_tree.hpp>
#include <sublet/placement/minimize.hpp>
#include <sublet/placement/orders.hpp>
#include <sublet/placement/pack.hpp>
#include <sublet/placement/pack_symbolic.hpp>
#include <sublet/placement/parts_in_time.hpp>
#include <sublet/placement/phase.hpp>
#include <sublet/placement/pieces.hpp>
#include <sublet/placement/place_concurrently.hpp>
#include <sublet/placement/placed.hpp>
#include <sublet/placement/placed_by_range.hpp>
#include <sublet/placement/pool_candidates.hpp>
#include <sublet/placement/portfolio.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/placement/replan.hpp>
#include <sublet/placement/result.hpp>
#include <sublet/placement/scaled_shapes.hpp>
#include <sublet/placement/search.hpp>
#include <sublet/placement/search_conflict.hpp>
#include <sublet/placement/search_listener.hpp>
#include <sublet/placement/search_orders.hpp>
#include <sublet/placement/search_state.hpp>
#include <sublet/placement/sections.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/placement/sorted_pieces.hpp>
#include <sublet/placement/stack_slots.hpp>
#include <sublet/placement/stack_two_ended.hpp>
#include <sublet/placement/subset.hpp>

// The opponent.
#include <sublet/checking/all_stackings.hpp>
#include <sublet/checking/allowed_pools.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/check_places.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_proof.hpp>
#include <sublet/checking/check_rewrite.hpp>
#include <sublet/checking/check_slots.hpp>
#include <sublet/checking/check_streams.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/checking/check_waits.hpp>
#include <sublet/checking/clash_schedule.hpp>
#include <sublet/checking/class_touches.hpp>
#include <sublet/checking/concurrent_witness.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/intact_arrivals.hpp>
#include <sublet/checking/intact_values.hpp>
#include <sublet/checking/node_ends.hpp>
#include <sublet/checking/order_questions.hpp>
#include <sublet/checking/placement_fault.hpp>
#include <sublet/checking/proof_finding.hpp>
#include <sublet/checking/race_questions.hpp>
#include <sublet/checking/rank_set.hpp>
#include <sublet/checking/solid_parts.hpp>
#include <sublet/checking/spoiling_path.hpp>
#include <sublet/checking/step_order.hpp>
#include <sublet/checking/stream_clocks.hpp>
#include <sublet/checking/stream_commands.hpp>
#include <sublet/checking/unwritten_reads.hpp>
#include <sublet/checking/witness.hpp>

// Back into the user's program.
#include <sublet/rewriting/apply_absences.hpp>
#include <sublet/rewriting/handoffs.hpp>
#include <sublet/rewriting/release.hpp>
#include <sublet/rewriting/release_concurrent.hpp>
#include <sublet/rewriting/release_flow.hpp>
#include <sublet/rewriting/rename.hpp>
#include <sublet/rewriting/rename_tree.hpp>
#include <sublet/rewriting/sharing_log.hpp>
#include <sublet/rewriting/unused_names.hpp>

// The front doors.
#include <sublet/concurrent_planner.hpp>
#include <sublet/flow_planner.hpp>
#include <sublet/handoff_planner.hpp>
#include <sublet/memory_advisor.hpp>
#include <sublet/nested_planner.hpp>
#include <sublet/placed_in_place.hpp>
#include <sublet/planned_buffers.hpp>
#include <sublet/planned_memory.hpp>
#include <sublet/planner.hpp>
#include <sublet/symbolic_planner.hpp>

// What people look at.
#include <sublet/reporting/csv.hpp>
#include <sublet/reporting/dot.hpp>
#include <sublet/reporting/names.hpp>
#include <sublet/reporting/svg.hpp>
#include <sublet/reporting/svg_canvas.hpp>
#include <sublet/reporting/svg_kinds.hpp>
#include <sublet/reporting/svg_map.hpp>
#include <sublet/reporting/svg_profile.hpp>
#include <sublet/reporting/text.hpp>
#include <sublet/reporting/why_peak.hpp>

#endif
