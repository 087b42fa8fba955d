// SPDX-License-Identifier: BSL-1.0

/// Conflicts are rows of bits. A buffer is above those below it in the order that conflict with it, but for
/// those that conflict with one of these that lies between.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>
#include <sublet/planning/detail/concurrent_bounds.hpp>
#include <sublet/planning/detail/in_every_schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sublet::detail {

SUBLET_DECL in_every_schedule::in_every_schedule(snapshot const& p, dependence_graph const& g,
                                                 unsized_buffers const& buffers,
                                                 table<value_id, buffer_id> const& buffer_of,
                                                 table<value_id, value_role> const& role, effort work)
    : g_(g), all_(buffers), work_(work),
      lives_(concurrent_lifetimes(p, g, buffers.layers.size(), buffer_of, role)),
      conflicts_(find_conflict_ranges(g, lives_, most_conflict_ranges))
{
    std::size_t const n = buffers.layers.size();
    if (n > few) return;
    words_ = (n + 63) / 64;
    rows_.assign(n * words_, 0);
    auto compare = [&](buffer_id a, buffer_id b) {
        if (a == b || !is_conflict(a, b)) return;
        rows_[a * words_ + b / 64] |= std::uint64_t{1} << b % 64;
        rows_[b * words_ + a / 64] |= std::uint64_t{1} << a % 64;
    };
    // Of two in conflict, the later one begins within the ranges of the other, or both are given.
    auto const beginning = lives_.begins.transposed(lives_.positions);
    std::vector<buffer_id> given;
    for (buffer_id b = 0; b != n; ++b) {
        if (lives_.begins[b].empty()) given.push_back(b);
        for (live_range range : conflicts_.of[b])
            for (position_id at = range.first; at != range.last && at < lives_.positions; ++at)
                for (buffer_id other : beginning[at]) compare(b, other);
    }
    for (buffer_id a : given)
        for (buffer_id b : given) compare(a, b);
}

SUBLET_DECL bool in_every_schedule::is_conflict(buffer_id a, buffer_id b) const
{
    return all_.layers[a].pool == all_.layers[b].pool && !reusable_by(conflicts_, lives_, a, b) &&
           !reusable_by(conflicts_, lives_, b, a);
}

SUBLET_DECL bool in_every_schedule::conflict(buffer_id a, buffer_id b) const
{
    return words_ == 0 ? is_conflict(a, b) : (row(a)[b / 64] >> b % 64 & 1) != 0;
}

SUBLET_DECL placement in_every_schedule::place(std::vector<byte_count> const& size)
{
    placement_problem problem;
    for (buffer_id b = 0; b != all_.layers.size(); ++b) {
        stacking::layer const& its = all_.layers[b];
        problem.buffers.push_back({.life = {lives_.first(b), lives_.last(b)},
                                   .size = size[b],
                                   .alignment = its.alignment,
                                   .pool = its.pool,
                                   .pinned = its.pinned});
    }
    problem.pools.resize(all_.pools);
    concurrent_bounds const heaviest = antichains_of_pools(g_, lives_, conflicts_, problem, work_);
    antichains_.push_back(heaviest.members);
    return place_concurrently(
        problem, lives_, conflicts_.of,
        {.bounds = heaviest.bytes, .antichain = heaviest.members, .visits = offset_visits(work_) / 8});
}

SUBLET_DECL byte_count in_every_schedule::least_bytes(pool_id pool, std::vector<byte_count> const& size)
{
    byte_count most = 0;
    for (std::vector<buffer_id> const& members : antichains_) {
        byte_count sum = 0;
        for (buffer_id b : members)
            if (all_.layers[b].pool == pool) sum = checked_add(sum, size[b]);
        most = larger(most, sum);
    }
    return most;
}

SUBLET_DECL void in_every_schedule::stack(std::vector<buffer_id> const& order, stacking& result)
{
    result.pools = all_.pools;
    result.order.clear();
    result.below.clear();
    std::vector<std::uint64_t> lower(words_); // what conflicts with one that lies below the current buffer
    std::vector<buffer_id> below;
    for (std::size_t i = 0; i != order.size(); ++i) {
        stacking::layer its = all_.layers[order[i]];
        its.buffer = order[i];
        its.first_below = static_cast<std::uint32_t>(result.below.size());
        below.clear();
        lower.assign(words_, 0);
        for (std::size_t k = i; k-- != 0;) {
            buffer_id const under = order[k];
            if (!conflict(under, its.buffer)) continue;
            bool follows = words_ != 0 && (lower[under / 64] >> under % 64 & 1) != 0;
            for (buffer_id other : below) follows = follows || (words_ == 0 && conflict(under, other));
            if (follows) continue;
            below.push_back(under);
            if (below.size() > 64) continue; // the nearest ones imply most
            for (std::size_t w = 0; w != words_; ++w) lower[w] |= row(under)[w];
        }
        result.below.insert(result.below.end(), below.rbegin(), below.rend());
        result.order.push_back(its);
    }
}

SUBLET_DECL void in_every_schedule::list_strangers(std::vector<buffer_id> const& path,
                                                   std::vector<byte_count> const& size,
                                                   std::vector<buffer_id>& result) const
{
    std::vector<sort_key> by_size;
    for (buffer_id b : path) by_size.push_back({descending(size[b]), 0, b});
    sort_by_key(by_size);
    std::vector<buffer_id> kept;
    result.clear();
    for (sort_key const& its : by_size) {
        buffer_id const b{its.id};
        bool conflicts = true;
        for (buffer_id other : kept) conflicts = conflicts && conflict(b, other);
        (conflicts ? kept : result).push_back(b);
    }
}

} // namespace sublet::detail
