// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_POOLS_HPP
#define SUBLET_PLACEMENT_DETAIL_POOLS_HPP

/// The placement of each pool by itself: its members become shapes, something packs these, and the result is
/// one of buffers again.

#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/bound.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/pack_few.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/placement/internal/spacing.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

struct pool_members {
    table<pool_id, std::uint32_t> first; ///< and one more
    std::vector<buffer_id> buffers;      ///< by pool, ascending
    [[nodiscard]] std::vector<buffer_id> of(pool_id pool) const
    {
        return {buffers.begin() + first[pool], buffers.begin() + first[pool + 1]};
    }
    [[nodiscard]] std::span<buffer_id const> span_of(pool_id pool) const
    {
        return {buffers.data() + first[pool], buffers.data() + first[pool + 1]};
    }
};

pool_members members_by_pool(placement_problem const& problem);

/// The cheapest valid placement of the members of a pool, if nothing has been read of them but what others
/// depend on: buffers with pins or parts as shapes, and all others above these, in order.
///
/// Ensures:    the bound is the highest top that a single buffer requires; `peak_position` is 0. The height
///             is `no_limit`, and nothing is placed, if 64 bits do not suffice, or for pins or parts in
///             blocks.
/// Complexity: O(members) if none has a pin and nothing is colocated; otherwise as shapes_of() for these.
/// Throws:     precondition_error as shapes_of(), but not for gaps of other buffers.
[[nodiscard]] placement::pool_result stack_members(placement_problem const& problem,
                                                   std::vector<buffer_id> const& members, pool_limits limits,
                                                   placement::objective objective,
                                                   table<buffer_id, byte_count>& offset);

/// A pool before it is packed.
struct opened_pool {
    placement_shapes shapes;
    placement_bound bound;
    placement::pool_result result;
    bool is_done = false;  ///< it is not packed: it has no placement, or has one already
    std::size_t parts = 0; ///< of the time, to divide among `phases` and the division into blocks
    std::size_t phases = 0;
};

/// The shapes and the bound of a pool. Stopped before the bound is known, places it by stack_members().
[[nodiscard]] opened_pool open_pool(placement_problem const& problem, std::vector<buffer_id> const& members,
                                    pool_limits limits, placement::objective objective,
                                    table<buffer_id, byte_count>& offset, search_control& control,
                                    std::size_t left, std::size_t phases);

/// The result of a pool that is packed as in `best`; divides it into blocks.
[[nodiscard]] placement::pool_result close_pool(opened_pool& pool, pool_limits limits,
                                                placement::objective objective,
                                                table<buffer_id, byte_count>& offset, search_control& control,
                                                packing& best);

/// Places one pool, unless its pins contradict each other. `pack` may raise the bound of the result so far.
/// `left` pools, with this one, share the time; 0: it is not divided. Of the time of a pool each of the
/// `phases` of `pack`, and the division into blocks, gets an equal part; `pack` is told how many parts are
/// left with its first.
template <class Pack>
placement::pool_result pack_pool(placement_problem const& problem, std::vector<buffer_id> const& members,
                                 pool_limits limits, placement::objective objective,
                                 table<buffer_id, byte_count>& offset, search_control& control,
                                 std::size_t left, std::size_t phases, Pack pack)
{
    opened_pool pool = open_pool(problem, members, limits, objective, offset, control, left, phases);
    if (pool.is_done) return std::move(pool.result);
    packing best = pack(pool.shapes, pool.bound, pool.result, pool.parts);
    return close_pool(pool, limits, objective, offset, control, best);
}

/// The same for a pool with reserved ranges. `pack` also gets the capacity.
template <class Pack>
placement::pool_result pack_around(placement_problem const& problem, std::vector<buffer_id> const& members,
                                   pool_id pool, placement::objective objective,
                                   table<buffer_id, byte_count>& offset, search_control& control,
                                   std::size_t left, std::size_t phases, Pack const& pack)
{
    std::size_t const given = problem.buffers.size();
    packed_around known = begin_around(problem.pools[pool]);
    while (!known.is_done) {
        placement_problem const around = around_reserved(problem, pool, known.limit);
        pool_limits limits = around.pools[pool];
        limits.capacity = smaller(limits.capacity, known.limit);
        table<buffer_id, byte_count> at(around.buffers.size(), no_offset);
        placement::pool_result now = pack_pool(
            around, with_reserved(members, given, around), limits, objective, at, control, left, phases,
            [&](placement_shapes const& shapes, placement_bound const& bound, placement::pool_result& out,
                std::size_t parts) { return pack(shapes, bound, limits.capacity, out, parts); });
        known.take(problem, around, pool, objective, std::move(now), at, offset);
    }
    return std::move(known.result);
}

/// The same for a pool with banks, region by region. Nothing if there are no regions.
template <class Pack>
void pack_in_regions(placement_problem const& problem, std::vector<buffer_id> const& members, pool_id pool,
                     placement::objective objective, table<buffer_id, byte_count>& offset,
                     search_control& control, std::size_t left, std::size_t phases, Pack const& pack,
                     placement::pool_result& result)
{
    bank_regions const regions = regions_of(problem, pool);
    pool_limits limits = problem.pools[pool];
    table<buffer_id, byte_count> at(problem.buffers.size(), no_offset);
    std::vector<byte_count> height;
    byte_count end = 0;
    for (std::uint32_t r = 0; r != regions.count; ++r) {
        std::vector<buffer_id> some;
        for (buffer_id b : members)
            if (regions.of[b] == r) some.push_back(b);
        if (limits.capacity != no_limit)
            limits.capacity = problem.pools[pool].capacity - smaller(problem.pools[pool].capacity, end);
        placement::pool_result const now = pack_pool(
            problem, some, limits, objective, at, control, left, phases,
            [&](placement_shapes const& shapes, placement_bound const& bound, placement::pool_result& out,
                std::size_t parts) { return pack(shapes, bound, limits.capacity, out, parts); });
        result.packings += now.packings;
        result.nodes += now.nodes;
        if (now.height > no_limit / 8 || end > no_limit / 4) return;
        height.push_back(now.height);
        end += align_up(now.height, regions.unit);
    }
    if (height.empty()) return;
    regions.stack(height, members, at);
    byte_count const top = top_of(problem, pool, at);
    if (top >= result.height) return;
    result.height = top;
    for (buffer_id b : members) offset[b] = at[b];
}

/// The same for a pool with pages and buffers of several kinds, or with banks of `page` bytes and pairs that
/// are kept apart: some buffers are spared, and the others lie in whole pages; or in regions of banks. The
/// bound is that without.
template <class Pack>
placement::pool_result pack_in_pages(placement_problem const& problem, std::vector<buffer_id> const& members,
                                     pool_id pool, byte_count page, placement::objective objective,
                                     table<buffer_id, byte_count>& offset, search_control& control,
                                     std::size_t left, std::size_t phases, Pack const& pack)
{
    constexpr int most_choices = 2;
    table<buffer_id, byte_count> at = offset;
    placement::pool_result result =
        open_pool(problem, members, problem.pools[pool], objective, at, control, 0, phases).result;
    if (result.proof.bytes == no_limit) return result;
    result.height = no_limit;
    result.packings = 0;
    int tried = 0;
    for (spared_buffers const& is_spared : choices_to_spare(problem, pool, page)) {
        if (tried == most_choices || result.height == result.lower_bound) break;
        problem_in_pages const paged = in_pages(problem, pool, page, is_spared);
        pool_limits const limits = paged.problem.pools[pool];
        at.assign(problem.buffers.size(), no_offset);
        placement::pool_result const now = pack_pool(
            paged.problem, members, limits, objective, at, control, left, phases,
            [&](placement_shapes const& shapes, placement_bound const& bound, placement::pool_result& out,
                std::size_t parts) { return pack(shapes, bound, limits.capacity, out, parts); });
        result.packings += now.packings;
        result.nodes += now.nodes;
        if (now.proof.bytes == no_limit) continue; // pins share pages, which may be fine
        ++tried;
        for (buffer_id b : members) at[b] = paged.offset(b, at[b]);
        byte_count const height = top_of(problem, pool, at);
        if (height >= result.height) continue;
        result.height = height;
        for (buffer_id b : members) offset[b] = at[b];
    }
    if (tried == 0 && !members.empty()) refuse_pins(problem, pool);
    if (result.height != result.lower_bound)
        pack_in_regions(problem, members, pool, objective, offset, control, left, phases, pack, result);
    result.status = status_of(result.height, result.lower_bound, problem.pools[pool].capacity, objective);
    return result;
}

/// `takes_few`: `pack` would begin with first_packing(), and nothing is told of that or stops it.
// NOLINTNEXTLINE(misc-no-recursion): once, without rules between neighbours
template <class Pack>
placement pack_pools(placement_problem const& problem, placement::objective objective,
                     search_control& control, std::size_t phases, Pack pack, bool takes_few = false)
{
    if (has_spacing(problem))
        return without_spacing(problem,
                               pack_pools(spaced(problem), objective, control, phases, pack, takes_few));
    pool_members const members = members_by_pool(problem);
    placement result;
    result.offset.assign(problem.buffers.size(), no_offset);
    std::size_t left = 0;
    for (pool_id pool = 0; pool + std::size_t{1} != members.first.size(); ++pool)
        left += members.first[pool] != members.first[pool + 1];
    for (pool_id pool = 0; pool + std::size_t{1} != members.first.size(); ++pool) {
        bool const is_empty = members.first[pool] == members.first[pool + 1];
        pool_limits const limits = limits_of(problem, pool);
        std::size_t const share = is_empty ? 0 : left--;
        byte_count const page = pages_of(problem, pool);
        if (!limits.reserved.empty()) {
            result.pools.push_back(pack_around(problem, members.of(pool), pool, objective, result.offset,
                                               control, share, phases, pack));
            continue;
        }
        if (page != 1) {
            result.pools.push_back(pack_in_pages(problem, members.of(pool), pool, page, objective,
                                                 result.offset, control, share, phases, pack));
            continue;
        }
        if (takes_few) {
            placement::pool_result few;
            if (pack_few(problem, members.span_of(pool), limits, objective, result.offset, few)) {
                result.pools.push_back(std::move(few));
                continue;
            }
        }
        result.pools.push_back(pack_pool(
            problem, members.of(pool), limits, objective, result.offset, control, share, phases,
            [&](placement_shapes const& shapes, placement_bound const& bound, placement::pool_result& out,
                std::size_t parts) { return pack(shapes, bound, limits.capacity, out, parts); }));
        for (memory_plan::block& block : result.pools.back().blocks) block.pool = pool;
    }
    set_overall_status(result);
    return result;
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/pools.ipp>
#endif

#endif
