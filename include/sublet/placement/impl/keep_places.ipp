// SPDX-License-Identifier: BSL-1.0

/// Each pool becomes shapes again, which begin where they are placed; move_back() does the rest.

#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/move_back.hpp>
#include <sublet/placement/detail/pools.hpp>
#include <sublet/placement/internal/keep_places.hpp>
#include <sublet/placement/internal/spacing.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_DECL void keep_places(placement_problem const& problem, table<buffer_id, byte_count> const& previous,
                             double share, pack_options const& options, placement& placed)
{
    deterministic_control control;
    pool_members const members = members_by_pool(problem);
    placement_problem const apart = has_spacing(problem) ? spaced(problem) : placement_problem{};
    placement_problem const& own = has_spacing(problem) ? apart : problem;
    for (pool_id pool = 0; pool != placed.pools.size(); ++pool) {
        placement::pool_result& out = placed.pools[pool];
        pool_limits const limits = limits_of(own, pool);
        byte_count const guard = limits_of(problem, pool).guard;
        if (out.status == placement::outcome::infeasible || out.blocks.size() > 1) continue;
        byte_count const room = smaller(limits.capacity, limits.largest_block);
        byte_count const limit = smaller(with_guard(grown(out.height, share), guard), room);
        std::size_t const given = problem.buffers.size();
        placement_problem around;
        if (!limits.reserved.empty()) around = around_reserved(own, pool, limit);
        placement_problem const& here = limits.reserved.empty() ? own : around;
        table<buffer_id, byte_count> at = placed.offset, before = previous;
        at.resize(here.buffers.size(), no_offset);
        before.resize(here.buffers.size(), no_offset);
        for (std::size_t b = given; b != at.size(); ++b)
            at[buffer_id::of(b)] = here.buffers[buffer_id::of(b)].pinned;
        opened_pool opened = open_pool(here, with_reserved(members.of(pool), given, here),
                                       limits_of(here, pool), options.objective, at, control, 0, 1);
        placement_shapes& all = opened.shapes;
        if (opened.is_done || all.size() == 0) continue;
        packing now;
        now.height = out.height + guard;
        now.origin.assign(all.size(), 0);
        for (shape_part const& p : all.parts) now.origin[p.shape] = at[p.buffer] - p.distance;
        for (std::size_t b = given; b != at.size(); ++b) // ranges are below the limit
            now.height = larger(now.height, at[buffer_id::of(b)] + here.buffers[buffer_id::of(b)].size);
        old_placement const former = old_placement_of(all, here, before);
        for (std::size_t s = 0; s != all.size(); ++s)
            if (former.old_origin[s] != no_offset) all.shapes[s].preferred = former.old_origin[s];
        now = move_back(all, former, std::move(now), limit, options, control, out);
        out.height = 0;
        for (shape_part const& p : all.parts) {
            if (p.buffer >= given) continue;
            byte_count& its = placed.offset[p.buffer] = now.origin[p.shape] + p.distance;
            out.height = larger(out.height, its + problem.buffers[p.buffer].size);
        }
        out.status =
            status_of(out.height, out.lower_bound, limits_of(problem, pool).capacity, options.objective);
        if (!out.blocks.empty()) out.blocks.front().size = out.height;
    }
    set_overall_status(placed);
}

} // namespace sublet::detail
