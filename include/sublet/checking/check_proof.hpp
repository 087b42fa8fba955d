// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_PROOF_HPP
#define SUBLET_CHECKING_CHECK_PROOF_HPP

/// Is nothing lower than it is said? Looks again at what a placement names as the reason.
///
///     "96 bytes are alive at position 4"      add up what is solid there
///     "buffer 3 ends at 128"                  put it as low as its pin, its alignment and its ties allow
///     "these five have no stacking below 80"  try all orders of them, each as low as those before it allow;
///                                             and see that they cannot be placed but in such an order
///
/// What no search found is believed for a few buffers only: so many orders are tried, and of more it is said
/// that they cannot be checked.

#include <sublet/checking/proof_finding.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/placement/result.hpp>
#include <sublet/units.hpp>

namespace sublet {

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

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_proof.ipp>
#endif

#endif
