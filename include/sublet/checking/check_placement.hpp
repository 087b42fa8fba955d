// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_PLACEMENT_HPP
#define SUBLET_CHECKING_CHECK_PLACEMENT_HPP

/// Independent checkers of placements and slot plans. Each returns true, or the first counterexample.
///
///     check_placement   offsets, heights, status, cost     sweep over positions, O((n + k) log (n + k))
///     check_proof       the reason for a lower bound       computed again; searches for few groups only
///     check_slots       slots, along every path            which writes reach the reads, slot by slot
///
/// Solid parts, groups and costs are derived apart from the placement algorithms.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstdint>
#include <optional>

namespace sublet {

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

/// Whether `placed` is valid, except for the proofs of its lower bounds (check_proof): true, or its first
/// fault. Interleaved placements are as valid as stackings.
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
[[nodiscard]] verdict check_placement(placement_problem const& problem, placement const& placed,
                                      placement::question const& question = {});

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
/// Ensures:    if it holds, no placement of the pool is lower; fault::not_checkable says nothing of it. A
/// bound by live bytes or by the
///             top of a buffer has to be exact.
/// Complexity: O((n + k) log (n + k)) time, n = buffers, k = gaps and colocations; for an exhausted search,
///             factorial in its groups, of which there may be 8; of up to 64 that share a position 100 000
///             sets.
/// Throws:     precondition_error if sums exceed 64 bits.
[[nodiscard]] verdict check_proof(placement_problem const& problem, placement const& placed, pool_id pool);

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
/// values through registers. Here writes are propagated, so the counterexample names a path.

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
#include <sublet/checking/impl/check_placement.ipp>
#endif

#endif
