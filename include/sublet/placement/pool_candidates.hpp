// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_POOL_CANDIDATES_HPP
#define SUBLET_PLACEMENT_POOL_CANDIDATES_HPP

/// Where each buffer may be, the cheapest pool first.
///
///     choices      a: pool 0 for 9, pool 1 for 2      b: none, its pool is 1     c: lies 8 above a
///     candidates   a and c: 1 (2), 0 (9)              b: 1 (0)
///
/// Colocated buffers are one piece of storage, so they have one pool. Those of them that are anchored to
/// nobody choose, and if they are several, all have to agree: their costs are added up.

#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

struct pool_candidate {
    pool_id pool = 0;
    byte_count cost = 0;
};

/// For each piece of storage, that is, for each buffer or group of colocated ones, the pools it may be in.
struct pool_candidates {
    std::vector<std::uint32_t> storage_of; ///< by buffer; numbered by their first buffers
    std::vector<std::uint32_t> first{0};   ///< by storage, and one more
    std::vector<pool_candidate> of;        ///< by storage, ascending by cost, then by pool

    [[nodiscard]] std::size_t size() const { return first.size() - 1; }
    [[nodiscard]] std::uint32_t count(std::uint32_t storage) const
    {
        return first[storage + 1] - first[storage];
    }
    [[nodiscard]] pool_candidate const& at(std::uint32_t storage, std::uint32_t choice) const
    {
        return of[first[storage] + choice];
    }
};

/// Complexity: O(n log n), n = buffers, choices and colocations.
/// Throws:     precondition_error for buffers that do not exist, colocated ones without a pool in common, and
///             costs that exceed 64 bits.
[[nodiscard]] pool_candidates candidates_of(placement_problem const& problem);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/pool_candidates.ipp>
#endif

#endif
