// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_PENALTIES_HPP
#define SUBLET_PLACEMENT_DETAIL_PENALTIES_HPP

/// Places the pools in which pairs of buffers pay for bytes that they share one after the other.
///
///     pairs ─► graph: live together, or never: hard; with a cost: soft
///           ─► insertion ─► short search ─► bound: which pairs have to be paid? ─► long search
///           ─► lower, at no more cost
///
/// If insertion finds nothing within the capacity, the pool is packed as if there were no penalties: that
/// finds a start for the search, or proves that nothing fits. It stops as soon as what is paid is the bound.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/internal/pack_options.hpp>

#include <vector>

namespace sublet::detail {

/// The pools that penalties name, and what is left of the problem without their buffers.
struct penalised_pools {
    placement_problem others;                         ///< has no penalties
    std::vector<pool_id> pools = {};                  ///< ascending
    std::vector<placement::pool_result> results = {}; ///< of these
    table<buffer_id, byte_count> offset = {};         ///< of their buffers

    /// Enters them into the placement of the others.
    void enter(placement& result) const;
};

/// Refuses what penalties cannot be combined with, but for old places.
///
/// Throws: precondition_error.
void expect_plain(placement_problem const& problem);

/// Places these pools, each with its share of the time of all.
///
/// Requires:   expect_plain() has accepted the problem.
/// Complexity: O((n + p) log (n + p)) to find the pairs, n = buffers and penalties, p = pairs that are live
///             together, and what the options allow.
/// Throws:     precondition_error as shapes_of(), for pins that contradict a penalty, and with more than 4
///             million pairs of a pool.
[[nodiscard]] penalised_pools place_penalised(placement_problem const& problem, pack_options const& options,
                                              search_control& control);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/penalties.ipp>
#endif

#endif
