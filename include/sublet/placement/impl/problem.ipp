// SPDX-License-Identifier: BSL-1.0
#include <sublet/impl/config.hpp>
#include <sublet/placement/problem.hpp>

// --- problem ---------------------------------------------------------------------------------------------

namespace sublet {

namespace detail {

SUBLET_DECL std::size_t pool_count(placement_problem const& problem)
{
    std::size_t pools = problem.pools.size();
    for (placement_problem::buffer const& b : problem.buffers) {
        if (b.pool < pools) continue;
        SUBLET_EXPECTS(b.pool < 65536,
                       "sublet: buffer % names pool %, which is out of range (pools are numbered from 0)",
                       &b - problem.buffers.data(), b.pool);
        pools = std::size_t{b.pool} + 1;
    }
    return pools;
}

} // namespace detail

} // namespace sublet

// --- result ----------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL void set_overall_status(placement& all)
{
    all.status = placement::outcome::optimal;
    all.pool = 0;
    for (pool_id pool = 0; pool != all.pools.size(); ++pool)
        if (all.pools[pool].status > all.status) {
            all.status = all.pools[pool].status;
            all.pool = pool;
        }
}

} // namespace sublet::detail
