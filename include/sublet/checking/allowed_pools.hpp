// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_ALLOWED_POOLS_HPP
#define SUBLET_CHECKING_ALLOWED_POOLS_HPP

/// In which pools a piece of storage may be, and what it costs there, derived afresh by those who check.
///
///     a may be in 0 (for 3) or 1 (for 5), b in 1 (for 2) or 2, and both are tied: in 1, for 7
///
/// Of buffers that are tied to each other those choose that are anchored to nobody (all, if none is), each
/// for itself; storage may be where all of them may be.

#include <sublet/keyed.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

struct allowed_pools {
    std::vector<keyed> pools; ///< ascending {root and pool, cost, number of choosers that allow it}
    std::vector<std::uint32_t> choosers; ///< by root

    static std::uint64_t key(buffer_id root, pool_id pool);

    /// The cost of storage in a pool; `no_limit` if it may not be there.
    [[nodiscard]] byte_count cost(buffer_id root, pool_id pool) const;
    /// The least that it costs anywhere; `no_limit` if it may be nowhere.
    [[nodiscard]] byte_count least_cost(buffer_id root) const;
    [[nodiscard]] std::uint32_t count(buffer_id root) const;

private:
    std::size_t from(buffer_id root, pool_id pool) const;
};

/// `root` is by buffer: one and the same for all that are tied to each other, and its own.
///
/// Ensures:    of two costs for the same buffer and pool the lower counts.
/// Complexity: O((n + k) log (n + k)) time, n = buffers, k = choices and colocations.
/// Throws:     precondition_error if a choice is one of no buffer, or costs exceed 64 bits.
[[nodiscard]] allowed_pools allowed_pools_of(placement_problem const& problem,
                                             std::vector<buffer_id> const& root);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/allowed_pools.ipp>
#endif

#endif
