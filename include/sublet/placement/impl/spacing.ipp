// SPDX-License-Identifier: BSL-1.0

/// Each buffer gets the guard of its pool behind it, and each pool as much more room; afterwards heights,
/// bounds and blocks lose what the last buffer does not need. A pool with reserved ranges is packed around
/// more of them until its height is below the next one.

#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/spacing.hpp>

namespace sublet::detail {

SUBLET_DECL bool has_spacing(placement_problem const& problem) noexcept
{
    for (pool_limits const& pool : problem.pools)
        if (pool.guard != 0) return true;
    return false;
}

SUBLET_COLD_DECL placement_problem spaced(placement_problem const& problem)
{
    constexpr byte_count too_large = byte_count{1} << 62;
    placement_problem result = problem;
    for (pool_id pool = 0; pool != result.pools.size(); ++pool) {
        pool_limits& limits = result.pools[pool];
        SUBLET_EXPECTS(limits.guard < too_large, "sublet: the guard of pool % has 2^62 bytes or more", pool);
        limits.capacity = with_guard(limits.capacity, limits.guard);
        limits.largest_block = with_guard(limits.largest_block, limits.guard);
        for (auto& range : limits.reserved)
            if (range.first < range.second) range.second = with_guard(range.second, limits.guard);
        limits.guard = 0;
    }
    for (placement_problem::gap& gap : result.gaps)
        if (gap.buffer < problem.buffers.size() && gap.begin < gap.end && gap.end < too_large)
            gap.end += limits_of(problem, problem.buffers[gap.buffer].pool).guard;
    for (placement_problem::buffer& b : result.buffers)
        if (b.size != 0 && b.size < too_large) b.size += limits_of(problem, b.pool).guard;
    return result;
}

SUBLET_COLD_DECL void remove_guard(byte_count guard, placement::pool_result& pool)
{
    auto remove = [guard](byte_count& bytes) {
        if (bytes != no_limit) bytes -= smaller(bytes, guard);
    };
    for (byte_count* bytes : {&pool.height, &pool.lower_bound, &pool.proof.bytes}) remove(*bytes);
    for (memory_plan::block& block : pool.blocks) remove(block.size);
}

SUBLET_COLD_DECL placement without_spacing(placement_problem const& problem, placement placed)
{
    for (pool_id pool = 0; pool != placed.pools.size(); ++pool)
        remove_guard(limits_of(problem, pool).guard, placed.pools[pool]);
    return placed;
}

// --- reserved --------------------------------------------------------------------------------------------

using reserved_ranges = std::vector<std::pair<byte_count, byte_count>>;

/// Ascending, not empty, with bytes between them.
SUBLET_COLD_DECL reserved_ranges merged(pool_limits const& limits)
{
    reserved_ranges ranges = limits.reserved, result;
    sort_ascending(ranges);
    for (auto const& range : ranges) {
        SUBLET_EXPECTS(range.first <= range.second, "sublet: a reserved range ends before it begins");
        SUBLET_EXPECTS(range.second < byte_count{1} << 62, "sublet: a reserved range ends beyond 62 bits");
        if (range.first == range.second) continue;
        if (!result.empty() && range.first <= result.back().second)
            result.back().second = larger(result.back().second, range.second);
        else result.push_back(range);
    }
    return result;
}

SUBLET_COLD_DECL placement_problem around_reserved(placement_problem problem, pool_id pool, byte_count limit)
{
    pool_limits& limits = problem.pools[pool];
    SUBLET_EXPECTS(limits.largest_block == no_limit,
                   "sublet: pool % has reserved bytes, and a largest block: it is one allocation then", pool);
    SUBLET_EXPECTS(limits.alignment >= 1, "sublet: the alignment of a pool is 0, but has to be at least 1");
    position_id last = 1;
    for (placement_problem::buffer& b : problem.buffers) {
        if (b.pool != pool) continue;
        last = larger(last, b.life.last);
        if (b.alignment != 0) b.alignment = combine_alignment(b.alignment, limits.alignment);
    }
    limits.alignment = 1;
    for (auto const& range : merged(limits))
        if (range.first < limit)
            problem.buffers.push_back({.life = {0, last},
                                       .size = smaller(range.second, limit) - range.first,
                                       .pool = pool,
                                       .pinned = range.first});
    limits.reserved.clear();
    return problem;
}

SUBLET_COLD_DECL std::vector<buffer_id> with_reserved(std::vector<buffer_id> members, std::size_t given,
                                                      placement_problem const& around)
{
    for (std::size_t b = given; b != around.buffers.size(); ++b) members.push_back(buffer_id::of(b));
    return members;
}

SUBLET_COLD_DECL std::vector<buffer_id> without_reserved(std::vector<buffer_id> const& some,
                                                         std::size_t given)
{
    std::vector<buffer_id> result;
    for (buffer_id b : some)
        if (b < given) result.push_back(b);
    return result;
}

/// The least end of so many bytes outside of the ranges.
SUBLET_COLD_DECL byte_count lifted(byte_count bytes, reserved_ranges const& ranges)
{
    byte_count from = 0;
    for (auto const& range : ranges) {
        if (bytes <= range.first - from) break;
        bytes -= range.first - from;
        from = range.second;
    }
    return bytes == 0 ? 0 : checked_add(from, bytes);
}

SUBLET_COLD_DECL byte_count least_height(pool_limits const& limits, byte_count live)
{
    if (live == 0) return 0;
    pool_limits grown = limits;
    for (auto& range : grown.reserved) range.second = with_guard(range.second, limits.guard);
    return lifted(live, merged(grown)) - limits.guard;
}

SUBLET_COLD_DECL packed_around begin_around(pool_limits const& limits)
{
    packed_around result;
    reserved_ranges const ranges = merged(limits);
    if (!ranges.empty()) result.limit = ranges.front().first;
    return result;
}

SUBLET_COLD_DECL void packed_around::take(placement_problem const& problem, placement_problem const& around,
                                          pool_id pool, placement::objective objective,
                                          placement::pool_result now, table<buffer_id, byte_count> const& at,
                                          table<buffer_id, byte_count>& offset)
{
    std::size_t const given = problem.buffers.size();
    pool_limits const& limits = problem.pools[pool];
    reserved_ranges const ranges = merged(limits);
    result.packings += now.packings;
    result.nodes += now.nodes;
    result.peak_position = now.peak_position;
    placement::proof& proof = now.proof;
    std::size_t const named = proof.buffers.size();
    proof.buffers = without_reserved(proof.buffers, given);
    if (proof.bytes == no_limit) {
        if (proof.buffers.size() != named) proof.kind = placement::proof::reason::pin_reserved;
        result.proof = std::move(proof);
        result.status = placement::outcome::infeasible;
        is_done = is_impossible = true;
        return;
    }
    if (proof.kind == placement::proof::reason::live_bytes) {
        for (std::size_t b = given; b != around.buffers.size(); ++b)
            proof.bytes -= around.buffers[buffer_id::of(b)].size;
        proof.bytes = lifted(proof.bytes, ranges);
    }
    bool const is_of_range = proof.kind == placement::proof::reason::top_of_pin && proof.buffers.empty();
    if (!is_of_range && proof.bytes > result.proof.bytes) result.proof = std::move(proof);
    byte_count height = 0;
    for (buffer_id b = 0; b != given; ++b)
        if (at[b] != no_offset) height = larger(height, at[b] + problem.buffers[b].size);
    if (height > limit) {
        byte_count next = no_limit;
        for (auto const& range : ranges)
            if (range.first >= height) next = smaller(next, range.first);
        limit = next;
        return;
    }
    for (buffer_id b = 0; b != given; ++b)
        if (at[b] != no_offset) offset[b] = at[b];
    result.height = height;
    result.lower_bound = result.proof.bytes;
    result.status = status_of(height, result.lower_bound, limits.capacity, objective);
    is_done = true;
}

} // namespace sublet::detail
