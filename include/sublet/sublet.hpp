// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SUBLET_HPP
#define SUBLET_SUBLET_HPP

/// Table of contents: the question that each public header answers, and the call to begin with.
///
///     your IR -> program -> analysis -> sharing / placement -> plan -> check
///
/// Rely on these headers and on what they declare in namespace sublet. Everything in detail/, internal/,
/// impl/ and namespace sublet::detail may change without notice. Not included, because they are slow to
/// compile: execution.hpp, testing/ and adapt/.

// clang-format off: in the order of reading, not of the alphabet

// Planners: one call, the plan is checked.
#include <sublet/plan_memory.hpp>     // offsets for steps that run in sequence  plan_memory()
#include <sublet/plan_concurrent.hpp> // for steps that run concurrently         plan_concurrent()
#include <sublet/plan_handoffs.hpp>   // fewer bytes, with added waits           plan_with_handoffs()
#include <sublet/schedules.hpp>       // time and bytes of parallel schedules    schedules()
#include <sublet/plan_symbolic.hpp>   // one plan for every shape                plan_symbolic()
#include <sublet/plan_flow.hpp>       // for branches and loops                  plan_flow()
#include <sublet/plan_nested.hpp>     // for operations with nested programs     plan_nested(tree, options)
#include <sublet/advise_memory.hpp>   // what to spill or recompute              advise_memory()

// Vocabulary.
#include <sublet/core/ids.hpp>                // ids of steps, values, buffers       value_id, table<value_id, T>
#include <sublet/core/units.hpp>              // bytes, live ranges                  byte_count, live_range
#include <sublet/core/errors.hpp>             // sentences for broken preconditions  precondition_error
#include <sublet/listing.hpp>                 // a program by your own handles       listing<tensor*>
#include <sublet/core/plan.hpp>               // options of a plan, and the plan     plan_options, memory_plan
#include <sublet/core/schedule.hpp>           // schedules, groups of steps          step_schedule, step_group
#include <sublet/core/symbolic_plan.hpp>      // the same for every shape            symbolic_plan
#include <sublet/core/formula.hpp>            // sizes in open dimensions            formula, dimension
#include <sublet/core/formula_text.hpp>       // ... as text                         with_names()
#include <sublet/core/stacking.hpp>           // a placement without sizes           stacking
#include <sublet/planning/planned_memory.hpp> // a plan and its report               planned_memory
#include <sublet/planning/stacking_of.hpp>    // of a finished plan                 stacking_of()
#include <sublet/planning/spills.hpp>         // a program with copies, recomputed    spilled_program

// Graphs and programs: what your types must provide.
#include <sublet/graph/concepts.hpp>        // graph concept; flat adjacency   graph, csr_graph
#include <sublet/graph/touch.hpp>           // what a step does to a value     touch, overwrite
#include <sublet/graph/program.hpp>         // program concept and its errors  explain_program<P>()
#include <sublet/graph/snapshot.hpp>        // a copy of a program             sequence(), tasks(), flow()
#include <sublet/analysis/control_flow.hpp> // search, dominators, loops       dominators(), loops()

// Analyses.
#include <sublet/analysis/lifetimes.hpp>          // live ranges in one order, buffers    lifetimes()
#include <sublet/analysis/dependences.hpp>        // happens-before of steps              dependences()
#include <sublet/analysis/aliases.hpp>            // which buffers take over bytes       aliases()
#include <sublet/analysis/live_sets.hpp>          // sets of live values, by node         live_sets
#include <sublet/analysis/liveness.hpp>           // live in and out of each block        liveness()
#include <sublet/analysis/live_query.hpp>         // is a value live at a point?          live_query()
#include <sublet/analysis/interference_graph.hpp> // pairs that must not share            interference_graph
#include <sublet/analysis/interference.hpp>       // which values must not share storage  interference()
#include <sublet/analysis/versions.hpp>           // rename: each value has one write     versions()
#include <sublet/analysis/program_tree.hpp>       // programs in steps of programs        program_tree
#include <sublet/analysis/flatten.hpp>            // nested programs as one flat program  as_tree(), flatten()

// Execution orders.
#include <sublet/ordering/node_order.hpp> // an order, its peak, a bound  node_order
#include <sublet/ordering/order.hpp>      // an order with a low peak     order()

// Storage sharing without addresses.
#include <sublet/sharing/in_place.hpp>        // results that overwrite an operand   take_in_place()
#include <sublet/sharing/share_slots.hpp>     // slots valid for every schedule      share_slots()
#include <sublet/sharing/color_intervals.hpp> // slots for live ranges               color(), share_linearly()
#include <sublet/sharing/color_graph.hpp>     // slots for interference graphs, SSA  color()

// Offsets.
#include <sublet/core/placement_problem.hpp> // sizes and live ranges, input of place()  placement_problem
#include <sublet/placement/search_callbacks.hpp> // to stop a search, and to follow it   stop_request
#include <sublet/placement/place.hpp>        // offsets for them; pools in one memory    place()

// Checkers.
#include <sublet/core/counterexample.hpp>            // counterexample to a plan     counterexample
#include <sublet/core/fault.hpp>                     // the rule that it violates    fault
#include <sublet/checking/check_plan.hpp>            // is a plan valid?             check_plan()
#include <sublet/checking/check_concurrent_plan.hpp> // for every order of steps?    check_concurrent_plan()
#include <sublet/checking/check_schedule.hpp>        // of a schedule for workers?   check_schedule()
#include <sublet/checking/check_flow_plan.hpp>       // on every path of a CFG?      check_flow_plan()
#include <sublet/checking/check_symbolic_plan.hpp>   // for every shape?             check_plan()
#include <sublet/checking/check_stacking.hpp>        // with other sizes?            check_stacking()
#include <sublet/checking/fits.hpp>                  // for a smaller program, too?  fits()
#include <sublet/checking/check_placement.hpp>       // are offsets valid?           check_placement()
#include <sublet/checking/check_proof.hpp>           // is a lower bound proved?     check_proof()
#include <sublet/checking/check_slots.hpp>           // are slots valid?             check_slots()
#include <sublet/checking/stream_commands.hpp>       // commands issued to streams   stream_commands
#include <sublet/checking/check_streams.hpp>         // data races of commands       check_streams()
#include <sublet/checking/check_rewrite.hpp>         // does a rewrite keep reads?   check_rewrite()

// Applying a plan to your program.
#include <sublet/rewriting/rename.hpp>  // one name for values that share storage  rename(), log_sharing()
#include <sublet/rewriting/release.hpp> // when to release storage                 releases()

// Reports.
#include <sublet/reporting/names.hpp>    // names of values and steps for all reports  names_of
#include <sublet/reporting/aliases.hpp>  // buffers that take over bytes               write_json()
#include <sublet/reporting/csv.hpp>      // plans as tables                            write_csv()
#include <sublet/reporting/c.hpp>        // a plan for every shape as C  write_c()
#include <sublet/reporting/json.hpp>     // all of a plan as JSON                      write_json()
#include <sublet/reporting/trace.hpp>    // lifetimes as trace events                  write_trace()
#include <sublet/reporting/svg.hpp>      // memory map as SVG picture                  write_svg()
#include <sublet/reporting/html.hpp>     // plans as a page for a browser              write_html()
#include <sublet/reporting/dot.hpp>      // program as a graphviz graph                write_dot()
#include <sublet/reporting/why_peak.hpp> // which values make the peak                 why_peak()

#endif
