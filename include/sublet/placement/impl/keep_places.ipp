// SPDX-License-Identifier: BSL-1.0

/// Each pool becomes shapes again, which begin where they are placed; move_back() does the rest.

#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/move_back.hpp>
#include <sublet/placement/detail/pools.hpp>
#include <sublet/placement/internal/keep_places.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_DECL void keep_places(placement_problem const& problem, table<buffer_id, byte_count> const& previous,
                             double share, pack_options const& options, placement& placed)
{
    deterministic_control control;
    pool_members const members = members_by_pool(problem);
    for (pool_id pool = 0; pool != placed.pools.size(); ++pool) {
        placement::pool_result& out = placed.pools[pool];
        pool_limits const limits = limits_of(problem, pool);
        if (out.status == placement::outcome::infeasible || out.blocks.size() > 1) continue;
        opened_pool opened =
            open_pool(problem, members.of(pool), limits, options.objective, placed.offset, control, 0, 1);
        placement_shapes& all = opened.shapes;
        if (opened.is_done || all.size() == 0) continue;
        packing now;
        now.height = out.height;
        now.origin.assign(all.size(), 0);
        for (shape_part const& p : all.parts) now.origin[p.shape] = placed.offset[p.buffer] - p.distance;
        old_placement const former = old_placement_of(all, problem, previous);
        for (std::size_t s = 0; s != all.size(); ++s)
            if (former.old_origin[s] != no_offset) all.shapes[s].preferred = former.old_origin[s];
        byte_count const room = smaller(limits.capacity, limits.largest_block);
        byte_count const limit = smaller(grown(out.height, share), room);
        now = move_back(all, former, std::move(now), limit, options, control, out);
        for (shape_part const& p : all.parts) placed.offset[p.buffer] = now.origin[p.shape] + p.distance;
        out.height = now.height;
        out.status = status_of(out.height, out.lower_bound, limits.capacity, options.objective);
        if (!out.blocks.empty()) out.blocks.front().size = out.height;
    }
    set_overall_status(placed);
}

} // namespace sublet::detail
