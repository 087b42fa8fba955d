// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_SLOTS_HPP
#define SUBLET_CHECKING_CHECK_SLOTS_HPP

/// Checks a slot plan: every read must find its own value in its slot, on every path of the program.
///
///        0: def a             a and b share slot 0. The path over node 2 is valid, that over node 1 is not:
///        /      \             value a is read at step 3, and slot 0 holds value b, written at step 1
///     1: def b   2:
///        \      /
///        3: use a
///
/// Liveness is not needed. For each slot, writes are propagated along the edges to the reads they reach. Two
/// reaching writes of different values refute any read, so a node stores at most two and is visited at most
/// twice per slot. Nodes from which every path writes the slot before reading it are skipped.
///
/// Source: Fallin, "Cranelift, part 3: correctness in register allocation", 2021, which propagates symbolic
/// values through registers. Here writes are propagated, so the counterexample names a path.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

namespace sublet {

/// Whether a plan is valid: true, or the first read on some path that finds another value than its own.
///
/// Successors are alternatives and every path counts, also from nodes that the entry does not reach. A step
/// reads, then writes; what it holds and writes is disjoint, unless the step may write the result over that
/// operand. A phi operand is read where the predecessor ends. A value without a def is given: if the entry
/// reaches a use of it, it is in its slot from the start; it may also have no slot. Contents that are never
/// read do not matter, and a read that no write reaches is not checked.
///
/// Ensures:    the first fault in this order: a plan of another program (number of values, or a slot outside
///             `slots`); the first step that writes a value without a slot; by slot, the first step with two
///             values in it, or the wrong one. If no two values of a slot occupy one step or are both needed
///             at the start, the plan is valid. In strict SSA form where the entry reaches every node and
///             nothing is written in place, no other plan is valid.
/// Complexity: O(V + E + t + n + w) time, t = touches, n = slots; w sums, over the s slots that several
///             values share, the nodes and edges on paths from a write to a read of it: at most s (V + E).
///             O(V + E + t + n) memory.
[[nodiscard]] verdict check_slots(snapshot const& p, slot_plan const& plan);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_slots.ipp>
#endif

#endif
