// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_PROOF_HPP
#define SUBLET_CHECKING_CHECK_PROOF_HPP

/// Checks the reason that a placement gives for a lower bound.
///
///     "96 bytes are alive at position 4"      sums the parts that are solid there
///     "these, of 96 bytes, are unordered"     compares the clocks of each pair
///     "buffer 3 ends at 128"                  its lowest end under its pin, alignment and colocations
///     "these five have no stacking below 80"  enumerates all stackings of up to 8 groups, and shows that no
///                                             placement of them interleaves; of up to 64 that share a
///                                             position those of their sets; more are not checkable
///
/// Parts and groups are derived apart from the placement algorithms (detail/stackings.hpp).

#include <sublet/core/counterexample.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>

namespace sublet {

/// Whether the proof of a pool holds: true, or why not.
///
/// Where buffers choose pools, the bound of a pool that cannot be filled covers only those that can be in no
/// other: they have no choice, or alone they do not fit another at their pin.
///
/// Requires:   `pool` is one of the placement's pools; check_placement() finds no fault.
/// Ensures:    if it holds, no placement of the pool is lower; fault::not_checkable says nothing of it. A
///             bound by live bytes or by the top of a buffer has to be exact.
/// Complexity: O((n + k) log (n + k)) time, n = buffers, k = gaps and colocations; for an exhausted search,
///             factorial in its groups, of which there may be 8; of up to 64 that share a position 100 000
///             sets.
/// Throws:     precondition_error if sums exceed 64 bits, or a buffer lives longer than a period or begins
///             behind it.
[[nodiscard]] verdict check_proof(placement_problem const& problem, placement const& placed, pool_id pool);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_proof.ipp>
#endif

#endif
