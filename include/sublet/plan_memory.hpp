// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_MEMORY_HPP
#define SUBLET_PLAN_MEMORY_HPP

/// The front door: a program and the sizes of its values in, a proven plan out.
///
///     auto planned = sublet::plan_memory(program, {.bytes = sizes, .alignment = 64});
///     std::cout << planned.report << '\n';
///     for (auto v : planned.values()) ir[v].offset = planned.plan.offset_of(v);
///
///     program ─► lifetimes ─► buffers ─► in place ◄─► pack ─► check_plan ─► plan + report
///
/// Each stage is a public function of its own; whoever wants another one of them calls them in this order,
/// as plan_memory does.

#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/planned_memory.hpp>

namespace sublet {

/// Plan where every value lives, the steps running one after the other, each once: plan_flow() is for
/// programs with loops.
///
/// Requires:   `options.order`, if given, names every node once.
/// Ensures:    the plan is valid for the sequential reading in that order, and proved to be unless
///             `options.check` is off. `refuted` says, with a witness, what stands against a plan: an order
///             against an edge, or in which a value is used before it is defined or overwritten too early,
///             pins that clash or are misaligned, a view of more bytes than its root, a capacity that the
///             plan exceeds (no claim that another could not keep it).
/// Complexity: O(nodes + edges + touches + values), and pack() and check_plan() for the planned buffers.
/// Throws:     precondition_error where a precondition of a stage is broken.
[[nodiscard]] planned_memory plan_memory(snapshot const& p, plan_options const& options);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/plan_memory.ipp>
#endif

#endif
