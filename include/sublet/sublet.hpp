// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SUBLET_HPP
#define SUBLET_SUBLET_HPP

/// The table of contents: what each public header answers, and the call to begin with.
///
///     your IR -> program -> analysis -> sharing / placement -> plan -> check
///
/// Rely on these headers and on what they declare in namespace sublet. What lies in detail/ and impl/, and what is in
/// namespace sublet::detail, may change without notice. Apart, because they are dear to include: placement/place.hpp
/// (place(): pack() with a clock and threads), execution.hpp, testing/ and adapt/.

// clang-format off: in the order of reading, not of the alphabet

// A plan, in one call and checked.
#include <sublet/plan_memory.hpp>       // offsets for steps one after the other       plan_memory()
#include <sublet/plan_concurrent.hpp>   // the same where steps run at once            plan_concurrent()
#include <sublet/plan_handoffs.hpp>     // fewer bytes, if some steps wait for others  plan_with_handoffs()
#include <sublet/plan_symbolic.hpp>     // one plan for every batch size               plan_symbolic()
#include <sublet/plan_flow.hpp>         // branches and loops                          plan_flow()
#include <sublet/plan_nested.hpp>       // operations that hold programs               plan_nested(tree, options)
#include <sublet/advise_memory.hpp>     // what to move out of memory under a limit    advise_memory()

// The words.
#include <sublet/units.hpp>             // ids, bytes, live ranges, broken promises    node_id, byte_count, live_range
#include <sublet/plan.hpp>              // what is asked, and what is planned          plan_options, memory_plan
#include <sublet/symbolic_plan.hpp>     // the same for every batch size               symbolic_options, symbolic_plan
#include <sublet/planned_memory.hpp>    // what a planner returns                      planned_memory

// Graphs and programs: what we ask of your types.
#include <sublet/graph/concepts.hpp>     // is it a graph? adjacency as flat arrays    graph, csr_graph
#include <sublet/graph/program.hpp>      // is it a program, and why not?              program, explain_program<P>()
#include <sublet/graph/snapshot.hpp>     // a program, copied                          sequence(), flow(), from_graph()
#include <sublet/graph/control_flow.hpp> // search, dominators, loops                  depth_first(), dominators(), loops()

// Facts about a program.
#include <sublet/analysis/lifetimes.hpp>    // when is a value alive, and how much is  lifetimes()
#include <sublet/analysis/dependences.hpp>  // what waits for what                     dependences()
#include <sublet/analysis/liveness.hpp>     // live in and out of each block           liveness()
#include <sublet/analysis/live_query.hpp>   // is this value alive here?               live_query()
#include <sublet/analysis/interference.hpp> // which values must not share             interference()
#include <sublet/analysis/versions.hpp>     // each value written once                 versions()
#include <sublet/analysis/flatten.hpp>      // programs in programs, as one            as_tree(), flatten()

// In which order to run.
#include <sublet/ordering/node_order.hpp> // an order, its peak and bound              node_order
#include <sublet/ordering/best_order.hpp> // an order with a low peak                  best_order(), order_with()

// Sharing without addresses.
#include <sublet/sharing/in_place.hpp>        // a result over its operand             take_in_place()
#include <sublet/sharing/share_slots.hpp>     // slots in every schedule, fewest too   share_slots()
#include <sublet/sharing/color_intervals.hpp> // slots for live ranges                 color_intervals(), share_linearly()
#include <sublet/sharing/color_graph.hpp>     // slots for interference graphs         color_graph(), color_chordal()

// Offsets.
#include <sublet/placement/problem.hpp> // sizes and live ranges                       placement_problem
#include <sublet/placement/pack.hpp>    // their offsets                               pack()

// Proofs.
#include <sublet/checking/witness.hpp>         // what is wrong with a plan            witness
#include <sublet/checking/check_plan.hpp>      // is a plan right?                     check_plan()
#include <sublet/checking/check_placement.hpp> // are offsets right, and the lowest?   check_placement(), check_proof()
#include <sublet/checking/check_streams.hpp>   // do commands on streams race?         check_streams()
#include <sublet/checking/check_rewrite.hpp>   // does a rewrite keep what is read?    check_rewrite()

// Plans in your program again.
#include <sublet/rewriting/rename.hpp>  // one name for what shares storage            rename(), log_sharing()
#include <sublet/rewriting/release.hpp> // when to give storage back                   releases()

// For readers.
#include <sublet/reporting/names.hpp>    // values have names; plans as tables         write_csv()
#include <sublet/reporting/svg.hpp>      // a memory map as a picture                  write_svg()
#include <sublet/reporting/dot.hpp>      // the program as a graph                     write_dot()
#include <sublet/reporting/why_peak.hpp> // which values make the peak                 why_peak()

#endif
