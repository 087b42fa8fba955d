// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_CONCURRENT_BOUNDS_HPP
#define SUBLET_PLANNING_DETAIL_CONCURRENT_BOUNDS_HPP

/// Bytes below which no plan for every schedule goes, in each pool: heaviest antichains of buffers.
///
///     y over x at step 1:  if the step read x early, x and y would be apart for other reasons only; buffers
///     that are
///                          apart then are apart in every plan, whether it takes the pair or not

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// First to last touch of each value in the listed order.
[[nodiscard]] live_ranges touch_ranges(snapshot const& p, table<value_id, value_role> const& role);

inline constexpr std::uint64_t most_conflict_ranges = std::uint64_t{1} << 24;

/// Buffers that are apart in every plan.
struct concurrent_bounds {
    table<pool_id, byte_count> bytes; ///< of them, in each pool
    std::vector<buffer_id> members;   ///< in the order of the pools
    bool is_exact = true;             ///< no others have more bytes
};

/// The heaviest antichain of each pool.
///
/// Complexity: heaviest_antichain() for each pool, with the usual visits scaled by `work`.
[[nodiscard]] concurrent_bounds antichains_of_pools(dependence_graph const& g,
                                                    concurrent_live_ranges const& lives,
                                                    conflict_ranges const& conflicts,
                                                    placement_problem const& problem, effort work);

/// The same for every choice of the declared pairs, with the pins; members are `roots`.
///
/// A result that is written over an operand reuses bytes that the same step reads last. So buffers of which
/// none may reuse another, if each operand of a pair were read early, are apart in every plan.
///
/// Requires: no buffers are joined in place.
[[nodiscard]] concurrent_bounds bounds_with_pairs(snapshot const& p, plan_options const& options,
                                                  std::vector<handoff> const& handoffs,
                                                  table<value_id, value_role> const& role,
                                                  buffer_table const& buffers, std::vector<value_id>& roots);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/concurrent_bounds.ipp>
#endif

#endif
