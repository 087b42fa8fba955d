// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_PLACEMENT_HPP
#define SUBLET_CHECKING_CHECK_PLACEMENT_HPP

/// Checks a placement: every constraint of the problem, then every claim of the result.
///
///     offset 96 |     +-------+              are pins, alignments, pools and colocations respected?
///               |     |   c   |              do two buffers share a byte at a position?
///            64 |---+ +---+---+              are height, status, cost and movement correct?
///               | a |     | d |
///             0 +---+-----+---+--> position
///
/// A sweep over positions compares each part with two neighbours only: while no active parts overlap, they
/// are ordered by offset, and a starting part that overlaps an active one overlaps a neighbour. With clocks
/// of several threads a sweep over bytes compares all pairs that share some.
///
/// Source: Shamos and Hoey, "Geometric intersection problems", FOCS 1976.
///
///     check_placement.hpp   offsets, heights, status, cost     sweep over positions, O((n + k) log (n + k))
///     check_proof.hpp       the reason for a lower bound       computed again; searches for few groups only
///
/// Solid parts, groups and costs are derived apart from the placement algorithms.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/placement_problem.hpp>

namespace sublet {

/// Whether `placed` is valid, except for the proofs of its lower bounds (check_proof): true, or its first
/// fault. Interleaved placements are as valid as stackings.
///
/// Requires:   alignments of at least 1; windows lie within their buffers; gaps of a buffer are disjoint.
/// Ensures:    the first fault in this order: tables of another problem; by buffer, a pool that is not among
///             its choices; by buffer, an offset that is missing, needless, misaligned or off its pin; by
///             buffer, a violated colocation; by part, a reserved range; the first position at which two
///             buffers share bytes, or are closer than a guard (with clocks of several threads the first byte
///             that two unordered ones share); the first penalty without limit on buffers that share bytes;
///             by buffer, a page with another kind; by listed pair, a bank with bytes of both; by pool, its
///             height and blocks; by pool, what its buffers pay and the bound on that (its proof is not
///             checked); by pool, its bound; status, cost, movement. In a pool that cannot be or was not
///             filled, all buffers may be unplaced.
/// Complexity: O((n + k) log (n + k)) time, O(n + k) memory, n = buffers, k = gaps, colocations, choices and
///             penalties; with clocks of several threads also O(threads) time for each pair that shares
///             bytes.
/// Throws:     precondition_error if a gap, a colocation, a choice, a pair or a penalty names no buffer, a
///             pair two parts of one storage, a buffer lives longer than a period or begins behind it, sums
///             exceed 64 bits, or clocks are not those of the buffers.
[[nodiscard]] verdict check_placement(placement_problem const& problem, placement const& placed,
                                      placement::question const& question = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_placement.ipp>
#endif

#endif
