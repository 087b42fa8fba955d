// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_RESULT_IPP
#define SUBLET_PLACEMENT_IMPL_RESULT_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/result.hpp>

#include <cstddef>

namespace sublet::detail {

SUBLET_DECL void sum_up(placement& all)
{
    all.status = placement_status::optimal;
    all.pool = 0;
    for (std::size_t pool = 0; pool != all.pools.size(); ++pool)
        if (all.pools[pool].status > all.status) {
            all.status = all.pools[pool].status;
            all.pool = static_cast<pool_id>(pool);
        }
}

} // namespace sublet::detail

#endif
