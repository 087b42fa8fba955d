// SPDX-License-Identifier: BSL-1.0

/// The limit is the height that pack_shapes() reaches with kept buffers fixed only; move_back() does the
/// rest.

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/move_back.hpp>
#include <sublet/placement/detail/pack_shapes.hpp>
#include <sublet/placement/detail/pools.hpp>
#include <sublet/placement/detail/replan.hpp>

#include <utility>

// --- replan ----------------------------------------------------------------------------------------------

namespace sublet::detail {

/// As pack_shapes(), moving few bytes of the shapes that have an old origin.
SUBLET_DECL packing pack_near(placement_shapes all, old_placement const& former, placement_bound const& bound,
                              byte_count capacity, pack_options const& options, search_control& control,
                              placement::pool_result& out, std::size_t parts)
{
    for (std::size_t s = 0; s != all.size(); ++s)
        if (former.old_origin[s] != no_offset) all.shapes[s].preferred = former.old_origin[s];
    packing best = pack_shapes(all, bound, capacity, options, control, out);
    if (parts != 0) control.begin(parts - 1);
    if (best.height > capacity) return best;
    byte_count const limit = options.objective == placement::objective::fit ? capacity : best.height;
    return move_back(all, former, std::move(best), limit, options, control, out);
}

SUBLET_DECL placement replan(placement_problem const& problem, table<buffer_id, byte_count> const& previous,
                             table<buffer_id, unsigned char> const& keep, pack_options const& options,
                             search_control& control)
{
    std::size_t const buffers = problem.buffers.size();
    SUBLET_EXPECTS(previous.size() == buffers && keep.size() == buffers,
                   "sublet: a table needs one entry for each buffer");
    placement_problem kept = problem;
    for (buffer_id b = 0; b != buffers; ++b) {
        if (keep[b] == 0) continue;
        byte_count& pinned = kept.buffers[b].pinned;
        SUBLET_EXPECTS(previous[b] != no_offset && (pinned == no_offset || pinned == previous[b]),
                       "sublet: buffer % is kept, but has no previous offset or is pinned elsewhere", b);
        pinned = previous[b];
    }
    std::size_t ranges = 0; // which are buffers behind the others
    for (pool_limits const& pool : problem.pools) ranges = larger(ranges, pool.reserved.size());
    table<buffer_id, byte_count> longer;
    if (ranges != 0) {
        longer = previous;
        longer.resize(buffers + ranges, no_offset);
    }
    table<buffer_id, byte_count> const& former = ranges != 0 ? longer : previous;
    placement result = pack_pools(kept, options.objective, control, 2,
                                  [&](auto const& shapes, auto const& bound, byte_count capacity,
                                      placement::pool_result& out, std::size_t parts) {
                                      return pack_near(shapes, old_placement_of(shapes, kept, former), bound,
                                                       capacity, options, control, out, parts);
                                  });
    for (buffer_id b = 0; b != buffers; ++b)
        if (previous[b] != no_offset && result.offset[b] != no_offset && result.offset[b] != previous[b])
            result.moved_bytes = checked_add(result.moved_bytes, problem.buffers[b].size);
    return result;
}

} // namespace sublet::detail
