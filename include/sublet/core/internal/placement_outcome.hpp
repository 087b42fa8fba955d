// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_PLACEMENT_OUTCOME_HPP
#define SUBLET_CORE_INTERNAL_PLACEMENT_OUTCOME_HPP

/// How good a placement is, from heights, bounds and capacities: of each pool, of all, and why it does not
/// fit.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/placement_problem.hpp>

#include <cstddef>
#include <optional>

namespace sublet::detail {

/// One more than the highest pool id that the problem names.
/// Throws: precondition_error for a pool id beyond 65535: pools are numbered densely.
[[nodiscard]] std::size_t pool_count(placement_problem const& problem);

/// The status that height and bound imply; a pool that cannot be placed at any height is infeasible.
[[nodiscard]] constexpr placement::outcome status_of(byte_count height, byte_count bound, byte_count capacity,
                                                     placement::objective objective = {}) noexcept
{
    if (bound > capacity || bound == no_limit) return placement::outcome::infeasible;
    if (height > capacity) return placement::outcome::limit;
    bool const is_met = height == bound || objective == placement::objective::fit;
    return is_met ? placement::outcome::optimal : placement::outcome::feasible;
}

/// The limits of a pool; none if it is not listed.
[[nodiscard]] inline pool_limits limits_of(placement_problem const& problem, pool_id pool)
{
    return pool < problem.pools.size() ? problem.pools[pool] : pool_limits{};
}

/// Sets the worst status of all pools, and the first pool that has it.
void set_overall_status(placement& all);

/// What does not fit in the first pool with the worst status, in terms of buffers; none if all fit.
[[nodiscard]] std::optional<counterexample> why_not_placed(placement_problem const& problem,
                                                           placement const& placed);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/placement_outcome.ipp>
#endif

#endif
