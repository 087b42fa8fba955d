// SPDX-License-Identifier: BSL-1.0

/// Each buffer gets the guard of its pool behind it, and each pool as much more room; afterwards heights,
/// bounds and blocks lose what the last buffer does not need. A pool with reserved ranges is packed around
/// more of them until its height is below the next one.

#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/spacing.hpp>

#include <algorithm>

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

// --- pages -----------------------------------------------------------------------------------------------

SUBLET_DECL bool has_pages(placement_problem const& problem, pool_id pool)
{
    pool_limits const limits = limits_of(problem, pool);
    SUBLET_EXPECTS(limits.page != 0, "sublet: the pages of pool % have 0 bytes", pool);
    if (limits.page == 1) return false;
    SUBLET_EXPECTS(limits.largest_block == no_limit && limits.reserved.empty(),
                   "sublet: pool % has pages, and a largest block or reserved bytes: one of these, please",
                   pool);
    buffer_id first = no_buffer;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
        if (problem.buffers[b].pool != pool || problem.buffers[b].size == 0) continue;
        if (first == no_buffer) first = b;
        if (problem.buffers[b].kind != problem.buffers[first].kind) return true;
    }
    return false;
}

SUBLET_COLD_DECL problem_in_pages in_pages(placement_problem const& problem, pool_id pool,
                                           std::uint32_t spared)
{
    byte_count const page = limits_of(problem, pool).page;
    std::size_t const n = problem.buffers.size();
    problem_in_pages result{problem, table<buffer_id, byte_count>(n, 0)};
    table<buffer_id, buffer_id> leader(n); // of what is colocated
    for (buffer_id b = 0; b != n; ++b) leader[b] = b;
    auto find = [&leader](buffer_id b) {
        while (leader[b] != b) b = leader[b] = leader[leader[b]];
        return b;
    };
    for (placement_problem::colocation const& c : problem.colocated) {
        if (c.buffer >= n || c.anchor >= n || problem.buffers[c.buffer].pool != pool) continue;
        SUBLET_EXPECTS(
            problem.buffers[c.buffer].kind == problem.buffers[c.anchor].kind && c.distance % page == 0,
            "sublet: buffers % and % are colocated in pool %, which has pages: they need one kind, "
            "and a distance of whole pages",
            c.buffer, c.anchor, pool);
        leader[find(c.buffer)] = find(c.anchor);
    }
    auto is_padded = [&](buffer_id b) {
        return problem.buffers[b].pool == pool && problem.buffers[b].kind != spared &&
               problem.buffers[b].size < byte_count{1} << 62;
    };
    table<buffer_id, byte_count> shift_of(n, 0); // by leader: a pin need not begin a page
    for (buffer_id b = 0; b != n; ++b)
        if (is_padded(b) && problem.buffers[b].pinned != no_offset)
            shift_of[find(b)] = problem.buffers[b].pinned % page;
    auto page_begin = [page](byte_count at) { return at - at % page; };
    auto page_end = [page](byte_count at) { return align_up(at, page); };
    for (placement_problem::gap& gap : result.problem.gaps)
        if (gap.buffer < n && is_padded(gap.buffer) && gap.begin < gap.end) {
            gap.begin = page_begin(gap.begin + shift_of[find(gap.buffer)]);
            gap.end = page_end(gap.end + shift_of[find(gap.buffer)]);
        }
    for (buffer_id b = 0; b != n; ++b) {
        if (!is_padded(b)) continue;
        placement_problem::buffer& its = result.problem.buffers[b];
        byte_count const shift = result.shift[b] = shift_of[find(b)];
        if (its.pinned != no_offset) its.pinned -= shift;
        its.preferred = no_offset;
        its.alignment = shift != 0 ? page : combine_alignment(its.alignment, page);
        if (its.size != 0) its.size = page_end(its.size + shift);
    }
    pool_limits& limits = result.problem.pools[pool];
    for (buffer_id b = 0; b != n; ++b) // that of a shifted buffer holds for its pin
        if (problem.buffers[b].pool == pool && result.shift[b] == 0 && problem.buffers[b].alignment != 0)
            result.problem.buffers[b].alignment =
                combine_alignment(result.problem.buffers[b].alignment, limits.alignment);
    limits.alignment = 1;
    if (limits.capacity != no_limit) limits.capacity = page_end(limits.capacity);
    limits.page = 1;
    return result;
}

SUBLET_COLD_DECL std::vector<std::uint32_t> kinds_to_spare(placement_problem const& problem, pool_id pool)
{
    constexpr std::size_t most = 8;
    byte_count const page = limits_of(problem, pool).page;
    std::vector<sort_key> events; // {position, 0: an end, 1: a begin; buffer}
    std::vector<std::uint32_t> kinds;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
        placement_problem::buffer const& its = problem.buffers[b];
        if (its.pool != pool || its.size == 0) continue;
        kinds.push_back(its.kind);
        if (is_empty(its.life)) continue;
        events.push_back({its.life.first, 1, b});
        events.push_back({its.life.last, 0, b});
    }
    sort_ascending(kinds);
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    if (kinds.size() > most) kinds.resize(most);
    sort_by_key(events);
    std::vector<sort_key> by_peak;
    for (std::uint32_t kind : kinds) {
        byte_count live = 0, peak = 0;
        for (sort_key const& e : events) {
            placement_problem::buffer const& its = problem.buffers[buffer_id{e.id}];
            byte_count const bytes = its.kind == kind ? its.size : align_up(its.size, page);
            live = e.tie == 0 ? live - bytes : checked_add(live, bytes);
            peak = larger(peak, live);
        }
        by_peak.push_back({peak, 0, kind});
    }
    sort_by_key(by_peak);
    for (std::size_t i = 0; i != kinds.size(); ++i) kinds[i] = by_peak[i].id;
    return kinds;
}

SUBLET_COLD_DECL byte_count top_of(placement_problem const& problem, pool_id pool,
                                   table<buffer_id, byte_count> const& offset)
{
    byte_count top = 0;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        if (problem.buffers[b].pool == pool && offset[b] != no_offset)
            top = larger(top, offset[b] + problem.buffers[b].size);
    return top;
}

} // namespace sublet::detail
