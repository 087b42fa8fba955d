// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_PLACEMENT_HPP
#define SUBLET_CHECKING_CHECK_PLACEMENT_HPP

/// Independent checkers of placements and slot plans. Each returns the first counterexample, or none.
///
///     check_placement   offsets, heights, status, cost     sweep over positions, O((n + k) log (n + k))
///     check_proof       the reason for a lower bound       computed again; searches for few groups only
///     check_slots       slots, along every path            which writes reach the reads, slot by slot
///
/// Solid parts, groups and costs are derived apart from the placement algorithms.

#include <sublet/checking/witness.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <optional>

// --- placement fault -------------------------------------------------------------------------------------

/// The first fault of a placement, with the buffers, position and bytes that show it.

namespace sublet {

/// Why a placement is not valid; which members count stands beside the kind.
struct placement_fault {
    /// The rule that is violated.
    enum class kind : std::uint8_t {
        foreign,       ///< a table of the placement has not the length that the problem requires
        wrong_pool,    ///< buffer lies in pool, which it may not choose
        unplaced,      ///< buffer needs bytes and has no offset
        needless,      ///< buffer needs no bytes and has an offset, begin
        misaligned,    ///< buffer lies at begin, which is no multiple of `needed`
        off_pin,       ///< buffer lies at begin and is pinned to `needed`
        not_colocated, ///< buffer lies at begin; its colocation with other requires `needed`
        wrong_height,  ///< pool ends at end, but its height is given as `needed`
        clash,         ///< buffer and other are solid at position and share bytes [begin, end)
        unordered,     ///< of buffer and other neither clock ends before the other's begin; they share these
        wrong_blocks, ///< of pool: a block is larger than `needed`, or they are not in order up to its height
        crosses_block, ///< buffer lies at [begin, end) of pool, which are not in one of its blocks
        wrong_bound,   ///< pool has lower bound `needed`, but it or its proof ends at end
        wrong_status,  ///< the status contradicts heights, bounds and capacities (of pool)
        wrong_cost,    ///< the chosen or the cheapest pools cost end, not `needed`
        wrong_movement ///< end bytes moved, not `needed`
    };

    placement_fault::kind what = placement_fault::kind::clash; ///< the rule that is violated
    buffer_id buffer = no_buffer;                              ///< the buffer that violates it
    buffer_id other = no_buffer;                               ///< a second one
    position_id position = 0;                                  ///< at which both are live
    byte_count begin = 0;                                      ///< an offset: the first byte
    byte_count end = 0;    ///< an offset: behind the last byte; or a number that was found
    byte_count needed = 0; ///< what the rule requires
    pool_id pool = 0;      ///< the pool of the buffer, or the one that is meant
    friend bool operator==(placement_fault const&, placement_fault const&) = default;
};

/// Writes it as a sentence.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, placement_fault const& f)
{
    switch (f.what) {
    case placement_fault::kind::foreign: out << "the placement does not belong to this problem"; break;
    case placement_fault::kind::wrong_pool:
        out << "buffer " << +f.buffer << " lies in pool " << +f.pool << ", which is not one of its own";
        break;
    case placement_fault::kind::unplaced:
        out << "buffer " << +f.buffer << " needs bytes and has no offset";
        break;
    case placement_fault::kind::needless:
        out << "buffer " << +f.buffer << " needs no bytes and has an offset, " << f.begin;
        break;
    case placement_fault::kind::misaligned:
        out << "buffer " << +f.buffer << " lies at offset " << f.begin << " of pool " << +f.pool
            << ", which is not a multiple of its alignment " << f.needed;
        break;
    case placement_fault::kind::off_pin:
        out << "buffer " << +f.buffer << " lies at offset " << f.begin << " of pool " << +f.pool
            << " and is pinned to " << f.needed;
        break;
    case placement_fault::kind::not_colocated:
        out << "buffer " << +f.buffer << " is colocated with buffer " << +f.other
            << " and lies elsewhere (offset " << f.begin << ", not " << f.needed << ')';
        break;
    case placement_fault::kind::wrong_height:
        out << "the buffers of pool " << +f.pool << " end at " << f.end << ", but its height is given as "
            << f.needed;
        break;
    case placement_fault::kind::clash:
        out << "buffers " << +f.buffer << " and " << +f.other << " are both alive at position " << +f.position
            << " and share bytes [" << f.begin << ", " << f.end << ") of pool " << +f.pool;
        break;
    case placement_fault::kind::unordered:
        out << "buffers " << +f.buffer << " and " << +f.other
            << " are not ordered by their clocks and share bytes [" << f.begin << ", " << f.end
            << ") of pool " << +f.pool;
        break;
    case placement_fault::kind::wrong_blocks:
        out << "the blocks of pool " << +f.pool << " are not in order, do not end at its height, or exceed "
            << f.needed << " bytes";
        break;
    case placement_fault::kind::crosses_block:
        out << "buffer " << +f.buffer << " lies at [" << f.begin << ", " << f.end << ") of pool " << +f.pool
            << ", which are not in one of its blocks";
        break;
    case placement_fault::kind::wrong_bound:
        out << "the lower bound of pool " << +f.pool << " is given as " << f.needed
            << ", but its placement or its proof ends at " << f.end;
        break;
    case placement_fault::kind::wrong_status:
        out << "the status of the placement is not what the heights, bounds and capacities say (pool "
            << +f.pool << ')';
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

/// Checks a placement: every constraint of the problem, then every claim of the result.
///
///     offset 96 |     +-------+              are pins, alignments, pools and colocations respected?
///               |     |   c   |              do two buffers share a byte at a position?
///            64 |---+ +---+---+              are height, status, cost and movement correct?
///               | a |     | d |
///             0 +---+-----+---+--> position
///
/// A sweep over positions compares each part with two neighbours only: while no active parts overlap, they
/// are ordered by offset, and a starting part that overlaps an active one overlaps a neighbour. With clocks of
/// several threads a sweep over bytes compares all pairs that share some.
///
/// Source: Shamos and Hoey, "Geometric intersection problems", FOCS 1976.

/// The first fault of `placed`, or none: then it is valid, except for the proofs of its lower bounds
/// (check_proof). Interleaved placements are as valid as stackings.
///
/// Requires:   alignments of at least 1; windows lie within their buffers; gaps of a buffer are disjoint.
/// Ensures:    the first fault in this order: tables of another problem; by buffer, a pool that is not among
///             its choices; by buffer, an offset that is missing, needless, misaligned or off its pin; by
///             buffer, a violated colocation; the first position at which two buffers share bytes (with
///             clocks of several threads the first byte that two unordered ones share); by pool, its height
///             and blocks; by pool, its bound; status, cost, movement. In a pool that cannot be or was
///             not filled, all buffers may be unplaced.
/// Complexity: O((n + k) log (n + k)) time, O(n + k) memory, n = buffers, k = gaps, colocations and choices;
///             with clocks of several threads also O(threads) time for each pair that shares bytes.
/// Throws:     precondition_error if a gap, a colocation or a choice names no buffer, sums exceed 64 bits, or
///             clocks are not those of the buffers.
[[nodiscard]] std::optional<placement_fault> check_placement(placement_problem const& problem,
                                                             placement const& placed,
                                                             placement::question const& question = {});

// --- proof finding ---------------------------------------------------------------------------------------

/// Whether the proof of a lower bound holds.
struct proof_finding {
    /// The verdict on the proof.
    enum class outcome : std::uint8_t {
        proved,       ///< its bound holds
        refuted,      ///< `found` contradicts the proof
        wrong_peak,   ///< the first position with the most live bytes is `found`, not the given one
        not_checkable ///< too many groups, or a bound that the caller gave
    };

    proof_finding::outcome verdict = proof_finding::outcome::proved;   ///< the verdict
    placement::proof::reason kind = placement::proof::reason::nothing; ///< of the proof
    pool_id pool = 0;                                                  ///< the pool with that bound
    byte_count bytes = 0; ///< the lower bound
    byte_count found = 0; ///< live bytes, end of buffer or height of stacking; `no_limit`: interleaved
    friend bool operator==(proof_finding const&, proof_finding const&) = default;
};

/// Writes it as a sentence.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, proof_finding const& f)
{
    out << "the proof of pool " << +f.pool << ", of " << f.bytes << " bytes, ";
    if (f.verdict == proof_finding::outcome::proved) out << "holds";
    else if (f.verdict == proof_finding::outcome::not_checkable) out << "is beyond what can be checked";
    else if (f.verdict == proof_finding::outcome::wrong_peak)
        out << "gives another peak than position " << f.found;
    else if (f.kind == placement::proof::reason::live_bytes)
        out << "is wrong: " << f.found << " are alive there";
    else if (f.kind == placement::proof::reason::antichain)
        out << "is wrong: its buffers are ordered, or have not as many bytes";
    else if (f.kind == placement::proof::reason::top_of_pin)
        out << "is wrong: its buffer may end at " << f.found;
    else if (f.kind == placement::proof::reason::exhausted && f.found == no_limit)
        out << "is wrong: its buffers can interleave, which was not tried";
    else if (f.kind == placement::proof::reason::exhausted)
        out << "is wrong: its buffers can be stacked within " << f.found;
    else out << "is wrong: there is no such contradiction";
    return out;
}

// --- check proof -----------------------------------------------------------------------------------------

/// Checks the reason that a placement gives for a lower bound.
///
///     "96 bytes are alive at position 4"      sums the parts that are solid there
///     "these, of 96 bytes, are unordered"     compares the clocks of each pair
///     "buffer 3 ends at 128"                  its lowest end under its pin, alignment and colocations
///     "these five have no stacking below 80"  enumerates all stackings of up to 8 groups, and shows that no
///                                             placement of them interleaves; of up to 64 that share a
///                                             position those of their sets; more are not checkable

/// Where buffers choose pools, the bound of a pool that cannot be filled covers only those that can be in no
/// other: they have no choice, or alone they do not fit another at their pin.
///
/// Requires:   `pool` is one of the placement's pools; check_placement() finds no fault.
/// Ensures:    if the verdict is `proved`, no placement of the pool is lower. A bound by live bytes or by the
///             top of a buffer has to be exact.
/// Complexity: O((n + k) log (n + k)) time, n = buffers, k = gaps and colocations; for an exhausted search,
///             factorial in its groups, of which there may be 8; of up to 64 that share a position 100 000
///             sets.
/// Throws:     precondition_error if sums exceed 64 bits.
[[nodiscard]] proof_finding check_proof(placement_problem const& problem, placement const& placed,
                                        pool_id pool);

// --- check slots -----------------------------------------------------------------------------------------

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
/// values through registers. Here writes are propagated, so the witness names a path.

/// Why a slot plan is not valid.
struct slot_witness {
    fault what = fault::clash; ///< clash; unplaced: needs a slot; foreign_plan: not one of this program
    value_id value = no_value; ///< the value that is lost, or has no slot
    value_id other = no_value; ///< the content of `slot` when `step` reads `value`, or written with it
    slot_id slot = no_slot;    ///< the slot that `value` has
    step_id step = no_step;    ///< reads, holds or writes `value`
    step_id written = no_step; ///< writes `other`; `no_step`: given
    friend bool operator==(slot_witness const&, slot_witness const&) = default;
};

/// Writes it as a sentence.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, slot_witness const& w)
{
    if (w.what == fault::foreign_plan) {
        out << "the plan is not one of this program";
    } else if (w.what == fault::unplaced) {
        out << "value " << +w.value << " is written at step " << +w.step << " and has no slot";
    } else if (w.written == w.step) {
        out << "values " << +w.value << " and " << +w.other << " are both in slot " << +w.slot << " at step "
            << +w.step;
    } else {
        out << "value " << +w.value << " is read at step " << +w.step << ", and slot " << +w.slot
            << " holds value " << +w.other;
        if (w.written == no_step) out << ", given at the start";
        else out << ", written at step " << +w.written;
    }
    return out;
}

/// The first read on some path that finds another value than its own, or none: the plan is valid.
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
[[nodiscard]] std::optional<slot_witness> check_slots(snapshot const& p, slot_plan const& plan);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_placement.ipp>
#endif

#endif
