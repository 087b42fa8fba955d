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

/// Whether pins keep two buffers in different banks.
SUBLET_COLD_DECL bool are_apart_by_pins(placement_problem::buffer const& a,
                                        placement_problem::buffer const& b, byte_count bank)
{
    constexpr byte_count too_large = byte_count{1} << 62;
    if (a.pinned == no_offset || b.pinned == no_offset) return false;
    if (larger(a.pinned, b.pinned) >= too_large || larger(a.size, b.size) >= too_large) return false;
    return (a.pinned + a.size - 1) / bank < b.pinned / bank ||
           (b.pinned + b.size - 1) / bank < a.pinned / bank;
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
    std::erase_if(result.apart, [&problem](auto const& pair) { // a guard has no bytes in any bank
        placement_problem::buffer const &a = problem.buffers[pair.first], &b = problem.buffers[pair.second];
        byte_count const bank = limits_of(problem, a.pool).bank;
        return a.pool == b.pool && bank != 0 && are_apart_by_pins(a, b, bank);
    });
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

/// By buffer: the first of what is colocated with it in the pool, itself if there is nothing.
SUBLET_COLD_DECL table<buffer_id, buffer_id> leaders_of(placement_problem const& problem, pool_id pool)
{
    std::size_t const n = problem.buffers.size();
    table<buffer_id, buffer_id> leader(n);
    for (buffer_id b = 0; b != n; ++b) leader[b] = b;
    auto find = [&leader](buffer_id b) {
        while (leader[b] != b) b = leader[b] = leader[leader[b]];
        return b;
    };
    for (placement_problem::colocation const& c : problem.colocated)
        if (c.buffer < n && c.anchor < n && problem.buffers[c.buffer].pool == pool)
            leader[find(c.buffer)] = find(c.anchor);
    for (buffer_id b = 0; b != n; ++b) leader[b] = find(b);
    return leader;
}

/// The pairs that a placement in a pool might break: both have bytes there, at one position, and no pins that
/// keep them apart.
SUBLET_COLD_DECL std::vector<std::pair<buffer_id, buffer_id>> open_pairs(placement_problem const& problem,
                                                                         pool_id pool)
{
    std::vector<std::pair<buffer_id, buffer_id>> pairs;
    byte_count const bank = limits_of(problem, pool).bank;
    for (auto const& pair : problem.apart) {
        placement_problem::buffer const &a = problem.buffers[pair.first], &b = problem.buffers[pair.second];
        bool const are_there = a.pool == pool && b.pool == pool && a.size != 0 && b.size != 0;
        if (!are_there || !overlaps(a.life, b.life) || are_apart_by_pins(a, b, bank)) continue;
        pairs.push_back(pair);
    }
    return pairs;
}

SUBLET_DECL byte_count pages_of(placement_problem const& problem, pool_id pool)
{
    pool_limits const limits = limits_of(problem, pool);
    SUBLET_EXPECTS(limits.page != 0, "sublet: the pages of pool % have 0 bytes", pool);
    SUBLET_EXPECTS(limits.bank != 0, "sublet: the banks of pool % have 0 bytes", pool);
    bool const has_banks = limits.bank != 1 && !problem.apart.empty() && !open_pairs(problem, pool).empty();
    if (limits.page == 1 && !has_banks) return 1;
    SUBLET_EXPECTS(limits.page == 1 || !has_banks, "sublet: pool % has pages and banks: one of these, please",
                   pool);
    SUBLET_EXPECTS(limits.largest_block == no_limit && limits.reserved.empty(),
                   "sublet: pool % has %, and a largest block or reserved bytes: one of these, please", pool,
                   has_banks ? "banks" : "pages");
    if (has_banks) return limits.bank;
    buffer_id first = no_buffer;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
        if (problem.buffers[b].pool != pool || problem.buffers[b].size == 0) continue;
        if (first == no_buffer) first = b;
        if (problem.buffers[b].kind != problem.buffers[first].kind) return limits.page;
    }
    return 1;
}

SUBLET_COLD_DECL void expect_apart(placement_problem const& problem)
{
    constexpr byte_count too_large = byte_count{1} << 62;
    if (problem.apart.empty()) return;
    std::size_t const n = problem.buffers.size();
    table<buffer_id, unsigned char> may_choose(n, 0);
    for (placement_problem::choice const& c : problem.choices)
        if (c.buffer < n) may_choose[c.buffer] = 1;
    for (auto const& pair : problem.apart) {
        buffer_id const a = pair.first, b = pair.second;
        SUBLET_EXPECTS(a < n && b < n, "sublet: buffers % and % are kept apart, but there are only % buffers",
                       a, b, n);
        SUBLET_EXPECTS(a != b, "sublet: buffer % is kept apart from itself", a);
        placement_problem::buffer const &one = problem.buffers[a], &other = problem.buffers[b];
        SUBLET_EXPECTS(one.pool == other.pool || may_choose[a] != 0 || may_choose[b] != 0,
                       "sublet: buffer % is in pool %, and is kept apart from buffer %, which is in pool %",
                       a, one.pool, b, other.pool);
        for (buffer_id its : {a, b}) {
            placement_problem::buffer const& buffer = problem.buffers[its];
            byte_count const bank = limits_of(problem, buffer.pool).bank;
            SUBLET_EXPECTS(
                bank < too_large && (buffer.size >= too_large || buffer.size <= too_large - bank),
                "sublet: buffer % has % bytes, and whole banks of % bytes hold it only beyond 62 bits", its,
                buffer.size, bank);
        }
    }
    if (problem.colocated.empty()) return;
    placement_problem together{.buffers = problem.buffers, .colocated = problem.colocated};
    for (placement_problem::buffer& b : together.buffers) b.pool = 0;
    table<buffer_id, buffer_id> const leader = leaders_of(together, 0);
    for (auto const& pair : problem.apart)
        SUBLET_EXPECTS(leader[pair.first] != leader[pair.second],
                       "sublet: buffers % and % are kept apart, and are parts of one storage", pair.first,
                       pair.second);
}

SUBLET_COLD_DECL problem_in_pages in_pages(placement_problem const& problem, pool_id pool, byte_count page,
                                           spared_buffers const& is_spared)
{
    std::size_t const n = problem.buffers.size();
    problem_in_pages result{problem, table<buffer_id, byte_count>(n, 0)};
    table<buffer_id, buffer_id> const leader = leaders_of(problem, pool);
    auto is_padded = [&](buffer_id b) {
        return problem.buffers[b].pool == pool && is_spared[b] == 0 &&
               problem.buffers[b].size < byte_count{1} << 62;
    };
    table<buffer_id, byte_count> shift_of(n, 0); // by leader: a pin need not begin a page
    for (buffer_id b = 0; b != n; ++b)
        if (is_padded(b) && problem.buffers[b].pinned != no_offset)
            shift_of[leader[b]] = problem.buffers[b].pinned % page;
    auto page_begin = [page](byte_count at) { return at - at % page; };
    auto page_end = [page](byte_count at) { return align_up(at, page); };
    for (placement_problem::gap& gap : result.problem.gaps)
        if (gap.buffer < n && is_padded(gap.buffer) && gap.begin < gap.end) {
            gap.begin = page_begin(gap.begin + shift_of[leader[gap.buffer]]);
            gap.end = page_end(gap.end + shift_of[leader[gap.buffer]]);
        }
    for (buffer_id b = 0; b != n; ++b) {
        if (!is_padded(b)) continue;
        placement_problem::buffer& its = result.problem.buffers[b];
        byte_count const shift = result.shift[b] = shift_of[leader[b]];
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
    limits.page = limits.bank = 1;
    return result;
}

/// Each kind by itself; the first few if there are many.
SUBLET_COLD_DECL std::vector<spared_buffers> kinds_to_spare(placement_problem const& problem, pool_id pool,
                                                            byte_count page)
{
    constexpr std::size_t most = 8;
    std::size_t const n = problem.buffers.size();
    for (placement_problem::colocation const& c : problem.colocated) {
        if (c.buffer >= n || c.anchor >= n || problem.buffers[c.buffer].pool != pool) continue;
        SUBLET_EXPECTS(
            problem.buffers[c.buffer].kind == problem.buffers[c.anchor].kind && c.distance % page == 0,
            "sublet: buffers % and % are colocated in pool %, which has pages: they need one kind, "
            "and a distance of whole pages",
            c.buffer, c.anchor, pool);
    }
    std::vector<std::uint32_t> kinds;
    for (placement_problem::buffer const& its : problem.buffers)
        if (its.pool == pool && its.size != 0) kinds.push_back(its.kind);
    sort_ascending(kinds);
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    if (kinds.size() > most) kinds.resize(most);
    std::vector<spared_buffers> choices;
    for (std::uint32_t kind : kinds) {
        spared_buffers& is_spared = choices.emplace_back(n, 0);
        for (buffer_id b = 0; b != n; ++b) is_spared[b] = problem.buffers[b].kind == kind;
    }
    return choices;
}

/// Storage of which no two are kept apart, taken in several orders: pinned storage comes first, as it lies
/// where it lies. The other end of each pair is in whole banks then.
SUBLET_COLD_DECL std::vector<spared_buffers> storage_to_spare(placement_problem const& problem, pool_id pool,
                                                              byte_count bank)
{
    std::size_t const n = problem.buffers.size();
    table<buffer_id, buffer_id> const leader = leaders_of(problem, pool);
    table<buffer_id, byte_count> unused(n, 0), pairs_of(n, 0); // by leader
    table<buffer_id, unsigned char> is_pinned(n, 0);
    for (buffer_id b = 0; b != n; ++b) {
        placement_problem::buffer const& its = problem.buffers[b];
        if (its.pool != pool || its.size >= byte_count{1} << 62) continue;
        unused[leader[b]] += align_up(its.size, bank) - its.size;
        if (its.pinned != no_offset) is_pinned[leader[b]] = 1;
    }
    std::vector<std::pair<buffer_id, buffer_id>> pairs; // of leaders
    for (auto const& pair : open_pairs(problem, pool)) {
        buffer_id const a = leader[pair.first], b = leader[pair.second];
        if (a == b) continue;
        pairs.push_back({a, b});
        pairs.push_back({b, a});
    }
    sort_ascending(pairs);
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    for (auto const& pair : pairs) ++pairs_of[pair.first];
    for (placement_problem::colocation const& c : problem.colocated) {
        if (c.buffer >= n || c.anchor >= n || pairs_of[leader[c.buffer]] == 0) continue;
        SUBLET_EXPECTS(
            problem.buffers[c.buffer].pool != pool || c.distance % bank == 0,
            "sublet: buffers % and % are colocated in pool %, and kept apart from others: they need "
            "a distance of whole banks",
            c.buffer, c.anchor, pool);
    }
    std::vector<spared_buffers> choices;
    for (bool by_pairs : {false, true}) {
        std::vector<sort_key> order;
        for (buffer_id b = 0; b != n; ++b) {
            if (pairs_of[b] == 0) continue;
            byte_count const turn = by_pairs ? pairs_of[b] : 1;
            order.push_back({is_pinned[b] != 0 ? 0 : turn, descending(unused[b]), b});
        }
        sort_by_key(order);
        spared_buffers is_taken(n, 1);
        for (sort_key const& o : order) is_taken[buffer_id{o.id}] = 0;
        for (sort_key const& o : order) {
            bool is_free = true;
            std::size_t i =
                partition_point(pairs.size(), [&](std::size_t k) { return pairs[k].first >= o.id; });
            for (; i != pairs.size() && pairs[i].first == o.id; ++i)
                is_free = is_free && is_taken[pairs[i].second] == 0;
            is_taken[buffer_id{o.id}] = is_free;
        }
        spared_buffers& is_spared = choices.emplace_back(n, 0);
        for (buffer_id b = 0; b != n; ++b) is_spared[b] = is_taken[leader[b]];
    }
    if (choices[0] == choices[1]) choices.pop_back();
    return choices;
}

SUBLET_COLD_DECL bank_regions regions_of(placement_problem const& problem, pool_id pool)
{
    std::size_t const n = problem.buffers.size();
    pool_limits const limits = limits_of(problem, pool);
    bank_regions result{.of = table<buffer_id, std::uint32_t>(n, 0)};
    if (limits.page != 1) return result;
    result.unit = limits.bank;
    auto takes = [&unit = result.unit](byte_count alignment) { // one is a multiple of the other
        bool const is_larger = alignment > unit;
        if (is_larger ? alignment % unit != 0 : alignment == 0 || unit % alignment != 0) return false;
        if (is_larger) unit = alignment;
        return true;
    };
    if (!takes(limits.alignment)) return result;
    table<buffer_id, buffer_id> const leader = leaders_of(problem, pool);
    table<buffer_id, byte_count> size(n, 0); // by leader
    for (buffer_id b = 0; b != n; ++b) {
        placement_problem::buffer const& its = problem.buffers[b];
        if (its.pool != pool || its.size == 0) continue;
        if (its.pinned != no_offset || !takes(its.alignment)) return result;
        size[leader[b]] = larger(size[leader[b]], its.size);
    }
    std::vector<std::pair<buffer_id, buffer_id>> pairs; // of leaders
    for (auto const& pair : open_pairs(problem, pool)) {
        pairs.push_back({leader[pair.first], leader[pair.second]});
        pairs.push_back({leader[pair.second], leader[pair.first]});
    }
    sort_ascending(pairs);
    std::vector<sort_key> order;
    for (buffer_id b = 0; b != n; ++b)
        if (leader[b] == b) order.push_back({descending(size[b]), 0, b});
    sort_by_key(order);
    table<buffer_id, std::uint32_t> region(n, 0); // from 1
    std::vector<buffer_id> taken_by;              // by region: the last that could not be there
    for (sort_key const& o : order) {
        buffer_id const b{o.id};
        taken_by.resize(std::size_t{result.count} + 2, no_buffer);
        std::size_t i = partition_point(pairs.size(), [&](std::size_t k) { return pairs[k].first >= b; });
        for (; i != pairs.size() && pairs[i].first == b; ++i) taken_by[region[pairs[i].second]] = b;
        std::uint32_t free = 1;
        while (taken_by[free] == b) ++free;
        region[b] = free;
        result.count = larger(result.count, free);
    }
    for (buffer_id b = 0; b != n; ++b) result.of[b] = region[leader[b]] - 1;
    return result;
}

SUBLET_COLD_DECL void bank_regions::stack(std::vector<byte_count> const& height,
                                          std::vector<buffer_id> const& members,
                                          table<buffer_id, byte_count>& offset) const
{
    auto unused = [&](std::size_t r) { return align_up(height[r], unit) - height[r]; };
    std::size_t highest = 0;
    for (std::size_t r = 1; r != height.size(); ++r)
        if (unused(r) > unused(highest)) highest = r;
    std::vector<byte_count> base(height.size());
    byte_count end = 0;
    for (std::size_t r = 0; r != height.size(); ++r)
        if (r != highest) end = (base[r] = end) + align_up(height[r], unit);
    base[highest] = end;
    for (buffer_id b : members)
        if (offset[b] != no_offset) offset[b] += base[of[b]];
}

SUBLET_COLD_DECL std::vector<spared_buffers> choices_to_spare(placement_problem const& problem, pool_id pool,
                                                              byte_count page)
{
    bool const has_banks = limits_of(problem, pool).page == 1;
    std::vector<spared_buffers> choices =
        has_banks ? storage_to_spare(problem, pool, page) : kinds_to_spare(problem, pool, page);
    std::vector<sort_key> events; // {position, 0: an end, 1: a begin; buffer}
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
        placement_problem::buffer const& its = problem.buffers[b];
        if (its.pool != pool || its.size == 0 || is_empty(its.life)) continue;
        events.push_back({its.life.first, 1, b});
        events.push_back({its.life.last, 0, b});
    }
    sort_by_key(events);
    std::vector<sort_key> by_peak;
    for (std::uint32_t i = 0; i != choices.size(); ++i) {
        byte_count live = 0, peak = 0;
        for (sort_key const& e : events) {
            buffer_id const b{e.id};
            byte_count const size = problem.buffers[b].size;
            byte_count const bytes = choices[i][b] != 0 ? size : align_up(size, page);
            live = e.tie == 0 ? live - bytes : checked_add(live, bytes);
            peak = larger(peak, live);
        }
        by_peak.push_back({peak, 0, i});
    }
    sort_by_key(by_peak);
    std::vector<spared_buffers> sorted;
    for (sort_key const& its : by_peak) sorted.push_back(std::move(choices[its.id]));
    return sorted;
}

SUBLET_COLD_DECL void refuse_pins(placement_problem const& problem, pool_id pool)
{
    bool const has_banks = limits_of(problem, pool).page == 1;
    SUBLET_EXPECTS(has_banks,
                   "sublet: in pool %, which has pages, buffers of several kinds are pinned so that no kind "
                   "can be kept in whole pages",
                   pool);
    table<buffer_id, buffer_id> const leader = leaders_of(problem, pool);
    table<buffer_id, unsigned char> is_pinned(problem.buffers.size(), 0); // by leader
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        if (problem.buffers[b].pinned != no_offset) is_pinned[leader[b]] = 1;
    for (auto const& pair : open_pairs(problem, pool))
        SUBLET_EXPECTS(
            is_pinned[leader[pair.first]] == 0 || is_pinned[leader[pair.second]] == 0,
            "sublet: buffers % and % of pool % are kept apart, and neither can be in whole banks of "
            "% bytes where it is pinned",
            pair.first, pair.second, pool, limits_of(problem, pool).bank);
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
