// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_INTERNAL_KEEP_CONCURRENTLY_HPP
#define SUBLET_PLACEMENT_INTERNAL_KEEP_CONCURRENTLY_HPP

/// Moves buffers of a placement for every schedule back to where they lay before: keep_places() with the
/// conflicts of a partial order.

#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/concurrent.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/internal/keep_places.hpp>
#include <sublet/placement/internal/spacing.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Of one pool: `now` is a packing, `former` the old offsets, `no_offset` for a new buffer. Buffers are fixed
/// where they were, the heaviest first, unless they conflict with one that is; the others are placed around
/// them, and while that is above the limit, more are unfixed, twice as many each time.
///
/// Ensures:    the result ends at `limit` or below, unless `now` does not and nothing else was found. No
///             buffer that lies elsewhere than before could lie there by itself.
/// Complexity: a packing within `visits`, a number of times that is logarithmic in the number of buffers;
///             and O(buffers) conflicts for each that lies elsewhere.
packing keep_concurrently(table<buffer_id, placement_problem::buffer> const& buffers,
                          placement_conflicts const& conflicts, table<buffer_id, byte_count> const& former,
                          byte_count limit, std::uint64_t visits, packing now);

/// Requires:   as keep_places(), and `lives` and `conflicts` as place_concurrently().
/// Ensures:    as keep_places().
template <class Lives>
void keep_concurrently(placement_problem const& problem, Lives const& lives,
                       buffer_range_lists const& conflicts, table<buffer_id, byte_count> const& previous,
                       double share, std::uint64_t visits, placement& placed)
{
    for (pool_id pool = 0; pool != placed.pools.size(); ++pool) {
        placement::pool_result& out = placed.pools[pool];
        if (out.status == placement::outcome::infeasible || out.blocks.size() > 1) continue;
        pool_limits const limits = pool < problem.pools.size() ? problem.pools[pool] : pool_limits{};
        std::vector<buffer_id> members;
        table<buffer_id, placement_problem::buffer> buffers;
        table<buffer_id, byte_count> former;
        packing now;
        now.height = with_guard(out.height, limits.guard);
        for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
            if (problem.buffers[b].pool != pool || problem.buffers[b].size == 0) continue;
            members.push_back(b);
            buffers.push_back(problem.buffers[b]);
            buffers.back().alignment = combine_alignment(buffers.back().alignment, limits.alignment);
            buffers.back().size += limits.guard;
            former.push_back(previous[b]);
            now.origin.push_back(placed.offset[b]);
        }
        byte_count const room = smaller(limits.capacity, limits.largest_block);
        byte_count const limit = with_guard(smaller(grown(out.height, share), room), limits.guard);
        now = keep_concurrently(buffers, conflicts_among(members, lives, conflicts), former, limit, visits,
                                std::move(now));
        for (std::size_t i = 0; i != members.size(); ++i) placed.offset[members[i]] = now.origin[i];
        out.height = now.height - smaller(now.height, limits.guard);
        out.status = status_of(out.height, out.lower_bound, limits.capacity);
        if (!out.blocks.empty()) out.blocks.front().size = out.height;
    }
    set_overall_status(placed);
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/keep_concurrently.ipp>
#endif

#endif
