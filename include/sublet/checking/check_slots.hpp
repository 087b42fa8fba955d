// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_SLOTS_HPP
#define SUBLET_CHECKING_CHECK_SLOTS_HPP

/// The opponent of every colouring: follows what lies in each slot along the edges of the program, and looks
/// for a step that reads one value and would find another.
///
///        0: def a             a and b share slot 0. The way over node 2 is good; over node 1 it is not: the
///        /      \             witness is "value a is read at step 3, and slot 0 holds b, written at step 1",
///     1: def b   2:           and anybody can walk from there to here without meeting another write.
///        \      /
///        3: use a
///
/// Who is live where, or interferes with whom, is not asked: a plan is right iff every read finds its own.
/// Each slot is a small question of its own: which writes arrive at its reads? Two of different values prove
/// the place spoilt for anybody, so no node remembers more, and none is visited more than twice a slot. Nodes
/// from which no read of the slot can be reached without another write are not visited at all.
///
/// Source: Fallin, "Cranelift, part 3: correctness in register allocation", 2021, whose checker follows
/// symbolic values through registers. Here the writes themselves are followed, so that what is found is a
/// path.

#include <sublet/checking/witness.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <optional>

namespace sublet {

/// A counterexample to a slot_plan, and where to look.
struct slot_witness {
    fault what = fault::clash; ///< clash; unplaced: needs a slot; foreign_plan: not one of this program
    value_id value = no_value;
    value_id other = no_value; ///< what lies in `slot` when `step` reads `value`, or goes there with it
    slot_id slot = no_slot;
    step_id step = no_step;    ///< which reads, holds or writes `value`
    step_id written = no_step; ///< which writes `other`; `no_step`: nothing does, it is given
    friend bool operator==(slot_witness const&, slot_witness const&) = default;
};

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, slot_witness const& w)
{
    if (w.what == fault::foreign_plan) {
        out << "the plan is not one of this program";
    } else if (w.what == fault::unplaced) {
        out << "value " << w.value << " is written at step " << w.step << " and has no slot";
    } else if (w.written == w.step) {
        out << "values " << w.value << " and " << w.other << " are both in slot " << w.slot << " at step "
            << w.step;
    } else {
        out << "value " << w.value << " is read at step " << w.step << ", and slot " << w.slot
            << " holds value " << w.other;
        if (w.written == no_step) out << ", as from the start";
        else out << ", written at step " << w.written;
    }
    return out;
}

/// Look for a path on which `plan` lets a step read another value than its own. None: it is proved.
///
/// Successors are alternatives and every path counts, also those from nodes that the entry does not reach. A
/// step reads, then writes; what it holds or writes lies apart, unless the step may write its result over
/// that operand; a phi operand is read where the predecessor ends. A value that nothing defines is given: if
/// the entry reaches a use of it, it lies in its slot from the start; it may also have no slot and lie
/// elsewhere. What a slot holds when nobody reads it does not matter, and a read that no write reaches is the
/// program's own affair.
///
/// Ensures:    the first fault in this order: a plan of another program (by the number of values, or a slot
///             that is none of `slots`); the first step that writes a value without a slot; by slot, the
///             first step at which two values lie there, or the wrong one. If no two values that share a slot
///             occupy one step, nor are both needed at the start, the plan is proved. In strict SSA form
///             where the entry reaches every node and nothing is written in place, no other plan is.
/// Complexity: O(V + E + t + n + w) time, t = touches, n = slots; w sums, for each slot that several values
///             share, the nodes and edges on paths from a write to a read of it, at most s (V + E) for s such
///             slots. O(V + E + t + n) memory.
[[nodiscard]] std::optional<slot_witness> check_slots(snapshot const& p, slot_plan const& plan);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_slots.ipp>
#endif

#endif
