// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_INTERNAL_CONCURRENT_BLOCKS_HPP
#define SUBLET_PLACEMENT_INTERNAL_CONCURRENT_BLOCKS_HPP

/// Blocks of a placement for every schedule: allocations of limited size, one after the other in the arena.
///
///     height 7, blocks of at most 4:    what ends at or below 4 stays, and is placed alone; the rest is
///     placed
///                                       again without it, from the next block on

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet::detail {

/// Divides each pool that does not fit a block: the buffers that end within a block are placed again without
/// the others, which go to the blocks after it. Greedy, with no guaranteed factor.
///
/// Complexity: two placements a block, each with a sixteenth of the visits.
template <class Lives>
void split_concurrently(placement_problem const& problem, Lives const& lives,
                        buffer_range_lists const& conflicts, std::uint64_t visits, placement& placed)
{
    auto first_over = [&problem](pool_id pool) {
        byte_count const largest = problem.pools[pool].largest_block;
        buffer_id b = 0;
        for (; b != problem.buffers.size(); ++b) {
            placement_problem::buffer const& it = problem.buffers[b];
            byte_count const begin = it.pinned != no_offset ? it.pinned : 0;
            if (it.pool == pool && it.size != 0 && (it.size > largest || begin > largest - it.size)) break;
        }
        return b;
    };
    for (pool_id pool = 0; pool < problem.pools.size() && pool < placed.pools.size(); ++pool) {
        byte_count const largest = problem.pools[pool].largest_block;
        placement::pool_result& out = placed.pools[pool];
        if (out.status == placement::outcome::infeasible || out.height <= largest) continue;
        if (buffer_id const over = first_over(pool); over != problem.buffers.size()) {
            out.proof = {placement::proof::reason::over_block, no_limit, 0, {over}};
            out.status = placement::outcome::infeasible;
            continue;
        }
        placement_problem left = problem; // buffers of 0 bytes are not placed
        byte_count unit = problem.pools[pool].alignment;
        std::size_t count = 0;
        for (placement_problem::buffer& b : left.buffers) {
            if (b.pool != pool) b.size = 0;
            if (b.size == 0) continue;
            unit = combine_alignment(unit, b.alignment);
            ++count;
        }
        out.height = 0;
        while (count != 0) {
            place_concurrently_options how{.visits = visits / 16};
            how.fallback = place_concurrently(left, lives, conflicts, how).offset;
            placement_problem block = left;
            for (buffer_id b = 0; b != left.buffers.size(); ++b) {
                if (left.buffers[b].size == 0) continue;
                bool const is_here = how.fallback[b] <= largest - left.buffers[b].size;
                (is_here ? left : block).buffers[b].size = 0;
                count -= is_here;
            }
            placement const alone = place_concurrently(block, lives, conflicts, how);
            byte_count const guard = out.height == 0 ? 0 : problem.pools[pool].guard;
            byte_count const begin = align_up(checked_add(out.height, guard), unit);
            for (buffer_id b = 0; b != block.buffers.size(); ++b)
                if (block.buffers[b].size != 0) placed.offset[b] = begin + alone.offset[b];
            out.blocks.push_back({pool, begin, alone.pools[pool].height});
            out.height = checked_add(begin, alone.pools[pool].height);
        }
        out.status = status_of(out.height, out.lower_bound, problem.pools[pool].capacity);
    }
    set_overall_status(placed);
}

} // namespace sublet::detail

#endif
