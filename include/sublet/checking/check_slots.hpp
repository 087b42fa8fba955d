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
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

namespace detail {

class slot_opponent {
public:
    slot_opponent(snapshot const& program, slot_plan const& plan)
        : program_(program), plan_(plan), is_given_(program.values(), 1),
          before_(program.graph().transposed(program.nodes())), leaving_(program.nodes(), none),
          arriving_(program.nodes()), is_awaited_(program.nodes())
    {
    }

    std::optional<slot_witness> first_fault();

private:
    enum class act : std::uint8_t { is_given, reads_early, reads, writes, reads_at_end };
    struct deed {
        step_id step;
        act what;
        value_id value;
        node_id node;
        /// Throughout its step.
        bool stays() const { return what == act::reads || what == act::writes; }
    };
    using indices = std::span<std::uint32_t const>;
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    /// Deeds that put something into the slot and may be the last to do so; of different values.
    struct writers {
        std::uint32_t one = none;
        std::uint32_t another = none;
    };

    bool is_foreign() const;

    /// Finds on the way what is written at all.
    std::optional<slot_witness> unplaced();

    /// Lists every deed, in the order of the steps and as they come there; returns them by slot.
    csr_rows gather();

    bool is_shared(indices deeds) const;

    /// Finds the nodes from whose beginning a read is reached before a write.
    void find_awaited(indices deeds);

    /// Brings every write to the nodes that it reaches and that wait for one.
    void follow(indices deeds);
    void arrive(node_id n, std::uint32_t write);

    std::optional<slot_witness> clash(indices deeds) const;
    slot_witness found(value_id v, deed const& at, deed const& other) const
    {
        step_id const written = other.what == act::is_given ? no_step : other.step;
        return {fault::clash, v, other.value, plan_.slot_of[v], at.step, written};
    }
    bool takes_over(deed const& in, deed const& out) const;

    void forget(indices deeds);

    snapshot const& program_;
    slot_plan const& plan_;
    std::vector<unsigned char> is_given_; // by value: nothing writes it
    std::vector<deed> deeds_;
    csr_rows before_;                       // by node: its predecessors
    std::vector<std::uint32_t> leaving_;    // by node: its last write to the slot
    std::vector<writers> arriving_;         // by node: at its beginning
    std::vector<unsigned char> is_awaited_; // by node: whether a read comes before a write from there on
    std::vector<node_id> awaited_;          // all of these
    std::vector<node_id> open_;
};

} // namespace detail

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
template <program P>
[[nodiscard]] std::optional<slot_witness> check_slots(P const& p, slot_plan const& plan)
{
    return detail::slot_opponent(as_snapshot(p), plan).first_fault();
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_slots.ipp>
#endif

#endif
