// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_PLACEMENT_HPP
#define SUBLET_CHECKING_CHECK_PLACEMENT_HPP

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

#include <sublet/checking/placement_fault.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/placement/result.hpp>
#include <sublet/units.hpp>

#include <optional>
#include <span>

namespace sublet {

/// What was asked, where it is not in the problem.
struct placement_question {
    placement_objective objective = placement_objective::minimize;
    std::span<byte_count const> previous = {}; ///< by buffer; `no_offset`, or beyond its end: had no place
};

/// Look for a reason why `placed` is not a placement of this problem, or not what it says it is. None: it is
/// proved, but for the proofs of its lower bounds (check_proof.hpp).
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
                                                             placement_question const& question = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_placement.ipp>
#endif

#endif
