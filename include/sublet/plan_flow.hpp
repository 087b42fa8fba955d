// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_FLOW_HPP
#define SUBLET_PLAN_FLOW_HPP

/// The front door for programs that branch and go round: successors are alternatives.
///
///     auto planned = sublet::plan_flow(cfg, {.bytes = sizes});
///     std::cout << planned.report << '\n';
///
///     program ─► flow_lives ─► buffers ─► in place ─► pack, with holes ─► check_flow_plan ─► plan + report
///
/// Any control flow will do, loops with several entries too, and values may be written more than once: a
/// value occupies its bytes wherever some path still reads it. Laid out in a line its life has holes, for
/// what one branch needs the other need not, and others lie in these. A declared in-place pair becomes one
/// buffer where that is possible, so the move that ends a loop's body by making the next value the current
/// one moves nothing.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/planned_memory.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

struct planned_flow : planned_memory {
    /// By buffer of the plan, over the positions of the plan's order. The `life` of a buffer is the hull.
    live_range_lists lives;
    /// The declared pairs whose result lies where its operand lies, as they stand in the program.
    std::vector<overwrite> joined;

    /// For tables and pictures, which know one life a buffer: the plan with a row for each range, all rows of
    /// a buffer at its offset. `buffer_of` names the first of them.
    [[nodiscard]] memory_plan by_range() const;
};

namespace detail {

/// By value, one range around all of `lives`.
live_ranges hulls(snapshot const& p, live_range_lists const& lives);

} // namespace detail

/// Plan where every value lives, whichever way the program takes.
///
/// An input lies in the arena from the start, an output to the end: where a node has no successor, and in
/// loops that cannot be left, where any node ends. A step that makes a view of a value has to read that, or
/// the bytes are taken to be written anew.
///
/// Requires:   `options.order`, if given, names every node once. It only says in which order positions are
///             counted; none: one that keeps loops together.
/// Ensures:    the plan is valid for the control-flow reading, and proved to be unless `options.check` is
///             off. `refuted` says, with a witness, what stands against a plan: a value that is read before
///             it is written on some path, pins that clash or are misaligned, a view of more bytes than its
///             root, a capacity that the plan exceeds. (`flow.allows_undefined`: such reads find anything,
///             and only a value that nothing ever writes is refused.) The lower bound is the most bytes
///             needed at one position, or more.
/// Complexity: live_intervals(), twice if there are in-place pairs, and pack() and check_flow_plan().
/// Throws:     precondition_error where a precondition of a stage is broken.
[[nodiscard]] planned_flow plan_flow(snapshot const& p, plan_options const& options,
                                     flow_options const& flow = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/plan_flow.ipp>
#endif

#endif
