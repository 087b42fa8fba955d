// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_PLACEMENT_HPP
#define SUBLET_CHECKING_CHECK_PLACEMENT_HPP

/// Proves offsets, the claim that they are the lowest, and slots; or says what is wrong.

#include <sublet/checking/witness.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <optional>

// --- placement fault -------------------------------------------------------------------------------------

/// What is wrong with a placement, as a counterexample that anyone can look up.
///
///     buffers 3 and 7 are both alive at position 12 and share bytes [4096, 8192) of pool 0

namespace sublet {

struct placement_fault {
    enum class kind : std::uint8_t {
        foreign,       ///< the tables of the placement are not as long as those of the problem ask for
        wrong_pool,    ///< buffer lies in pool, which is none of its own
        unplaced,      ///< buffer needs bytes and has no offset
        needless,      ///< buffer needs no bytes and has an offset, begin
        misaligned,    ///< buffer lies at begin, which is no multiple of `needed`
        off_pin,       ///< buffer lies at begin and is pinned to `needed`
        not_colocated, ///< buffer lies at begin; where other lies, with which it is colocated, asks for `needed`
        wrong_height,  ///< pool ends at end, which is not its height, `needed`
        clash,         ///< buffer and other are solid at position and share bytes [begin, end)
        wrong_bound,   ///< nothing is below `needed` in pool, it is said; but pool ends at end, or its proof
                       ///< there
        wrong_status,  ///< the status is none that heights, bounds and capacities of the pools allow, or not
                       ///< of pool
        wrong_cost,    ///< the pools chosen, or the cheapest that could be, cost end, and not `needed`
        wrong_movement ///< end bytes have moved, and not `needed`
    };

    placement_fault::kind what = placement_fault::kind::clash;
    buffer_id buffer = no_buffer;
    buffer_id other = no_buffer;
    step_id position = 0;
    byte_count begin = 0;
    byte_count end = 0;
    byte_count needed = 0;
    pool_id pool = 0;
    friend bool operator==(placement_fault const&, placement_fault const&) = default;
};

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, placement_fault const& f)
{
    switch (f.what) {
    case placement_fault::kind::foreign: out << "the placement is not one of this problem"; break;
    case placement_fault::kind::wrong_pool:
        out << "buffer " << f.buffer << " lies in pool " << f.pool << ", which is not one of its own";
        break;
    case placement_fault::kind::unplaced:
        out << "buffer " << f.buffer << " needs bytes and has no offset";
        break;
    case placement_fault::kind::needless:
        out << "buffer " << f.buffer << " needs no bytes and has an offset, " << f.begin;
        break;
    case placement_fault::kind::misaligned:
        out << "buffer " << f.buffer << " lies at offset " << f.begin << " of pool " << f.pool
            << ", which is not a multiple of its alignment " << f.needed;
        break;
    case placement_fault::kind::off_pin:
        out << "buffer " << f.buffer << " lies at offset " << f.begin << " of pool " << f.pool
            << " and is pinned to " << f.needed;
        break;
    case placement_fault::kind::not_colocated:
        out << "buffer " << f.buffer << " is colocated with buffer " << f.other
            << " and does not lie where that asks for (offset " << f.begin << ", not " << f.needed << ')';
        break;
    case placement_fault::kind::wrong_height:
        out << "what lies in pool " << f.pool << " ends at " << f.end << " and its height is given as "
            << f.needed;
        break;
    case placement_fault::kind::clash:
        out << "buffers " << f.buffer << " and " << f.other << " are both alive at position " << f.position
            << " and share bytes [" << f.begin << ", " << f.end << ") of pool " << f.pool;
        break;
    case placement_fault::kind::wrong_bound:
        out << "the lower bound of pool " << f.pool << " is given as " << f.needed
            << ", but its placement or its proof ends at " << f.end;
        break;
    case placement_fault::kind::wrong_status:
        out << "the status of the placement is not what the heights, bounds and capacities say (pool "
            << f.pool << ')';
        break;
    case placement_fault::kind::wrong_cost:
        out << "the chosen pools, or the cheapest, cost " << f.end << ", and that is given as " << f.needed;
        break;
    case placement_fault::kind::wrong_movement:
        out << f.end << " bytes have moved, and they are given as " << f.needed;
        break;
    }
    return out;
}

// --- check placement -------------------------------------------------------------------------------------

/// The opponent of whatever places: looks for one thing that a placement gets wrong, or claims and is not so.
///
///     offset 96 |     +-------+              is each where its pin, alignment, pool and ties ask for?
///               |     |   c   |              do two share a byte at a position?
///            64 |---+ +---+---+              are height, status, cost and movement what they are said to be?
///               | a |     | d |
///             0 +---+-----+---+--> position
///
/// Nothing is compared in pairs. Walk the positions: as long as nothing has clashed, what is solid lies
/// apart, hence in one order by offset, and a newborn that overlaps anyone overlaps a neighbour.
///
/// Source: Shamos and Hoey, "Geometric intersection problems", FOCS 1976.

/// Look for a reason why `placed` is not a placement of this problem, or not what it says it is. None: it is
/// proved, but for the proofs of its lower bounds (check_proof).
///
/// Threaded or stacked: what does not share a byte is right.
///
/// Requires:   alignments of at least 1; windows lie within their buffers, gaps of a buffer do not meet.
/// Ensures:    the first fault in this order: tables that are not of this problem; by buffer, a pool that is
///             not among its choices; by buffer, a place that is missing, needless or misaligned, or misses
///             its pin; by buffer, one that is not where its ties ask for; the first position at which two
///             share bytes; by pool, its height; by pool, its bound; status, cost, movement.
///             A pool that cannot be filled, or was not, may have all of its buffers nowhere.
/// Complexity: O((n + k) log (n + k)) time, O(n + k) memory, n = buffers, k = gaps, ties and choices.
/// Throws:     precondition_error if a gap, a tie or a choice is one of no buffer, or a sum exceeds 64 bits.
[[nodiscard]] std::optional<placement_fault> check_placement(placement_problem const& problem,
                                                             placement const& placed,
                                                             placement::question const& question = {});

// --- proof finding ---------------------------------------------------------------------------------------

/// What a second look at a lower bound has shown.
///
///     the proof of pool 0, of 96 bytes, is wrong: 80 are alive there

struct proof_finding {
    enum class outcome : std::uint8_t {
        proved,
        refuted,      ///< it is as `found` says
        wrong_peak,   ///< the first position with the most bytes alive is `found`, and another is given
        not_checkable ///< too many buffers, or somebody's word
    };

    proof_finding::outcome verdict = proof_finding::outcome::proved;
    placement::proof::reason kind = placement::proof::reason::nothing;
    pool_id pool = 0;
    byte_count bytes = 0; ///< below which nothing is, as the proof says
    byte_count found = 0; ///< what is alive at the position, where the buffer may end, how low they stack;
                          ///< `no_limit`: they need not be stacked
    friend bool operator==(proof_finding const&, proof_finding const&) = default;
};

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, proof_finding const& f)
{
    out << "the proof of pool " << f.pool << ", of " << f.bytes << " bytes, ";
    if (f.verdict == proof_finding::outcome::proved) out << "holds";
    else if (f.verdict == proof_finding::outcome::not_checkable) out << "is beyond what can be checked";
    else if (f.verdict == proof_finding::outcome::wrong_peak)
        out << "gives another peak than position " << f.found;
    else if (f.kind == placement::proof::reason::live_bytes)
        out << "is wrong: " << f.found << " are alive there";
    else if (f.kind == placement::proof::reason::top_of_pin)
        out << "is wrong: its buffer may end at " << f.found;
    else if (f.kind == placement::proof::reason::exhausted && f.found == no_limit)
        out << "is wrong: its buffers can be threaded through each other, and that was not tried";
    else if (f.kind == placement::proof::reason::exhausted)
        out << "is wrong: its buffers can be stacked within " << f.found;
    else out << "is wrong: there is no such contradiction";
    return out;
}

// --- check proof -----------------------------------------------------------------------------------------

/// Is nothing lower than it is said? Looks again at what a placement names as the reason.
///
///     "96 bytes are alive at position 4"      add up what is solid there
///     "buffer 3 ends at 128"                  put it as low as its pin, its alignment and its ties allow
///     "these five have no stacking below 80"  try all orders of them, each as low as those before it allow;
///                                             and see that they cannot be placed but in such an order
///
/// What no search found is believed for a few buffers only: so many orders are tried, and of more it is said
/// that they cannot be checked.

/// Look again at why no placement of `pool` is lower than its lower bound.
///
/// Where buffers choose their pools the bound of one that cannot be filled is about those that have no other.
///
/// Requires:   `pool` is one of the placement's, in which check_placement() finds no fault.
/// Ensures:    where the verdict is `proved`, no placement of the pool is lower. A bound by live bytes or by
///             the top of a buffer is to be exact.
/// Complexity: O((n + k) log (n + k)) time, n = buffers, k = gaps and colocations. What a search exhausted
///             takes time that is factorial in the pieces of storage, of which there may be 8.
/// Throws:     precondition_error if sums exceed 64 bits.
[[nodiscard]] proof_finding check_proof(placement_problem const& problem, placement const& placed,
                                        pool_id pool);

// --- check slots -----------------------------------------------------------------------------------------

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
#include <sublet/checking/impl/check_placement.ipp>
#endif

#endif
