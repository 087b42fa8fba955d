// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_ALLOWED_POOLS_IPP
#define SUBLET_CHECKING_IMPL_ALLOWED_POOLS_IPP

#include <sublet/checking/allowed_pools.hpp>
#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sorting.hpp>

namespace sublet {

SUBLET_DECL std::uint64_t allowed_pools::key(buffer_id root, pool_id pool)
{
    return std::uint64_t{root} << 32 | pool;
}

SUBLET_DECL byte_count allowed_pools::cost(buffer_id root, pool_id pool) const
{
    std::size_t const at = from(root, pool);
    bool const is_there = at != pools.size() && pools[at].key == key(root, pool);
    return is_there && pools[at].who == choosers[root] ? pools[at].tie : no_limit;
}

SUBLET_DECL byte_count allowed_pools::least_cost(buffer_id root) const
{
    byte_count least = no_limit;
    for (std::size_t at = from(root, 0); at != pools.size() && pools[at].key >> 32 == root; ++at)
        if (pools[at].who == choosers[root]) least = smaller(least, pools[at].tie);
    return least;
}

SUBLET_DECL std::uint32_t allowed_pools::count(buffer_id root) const
{
    std::uint32_t all = 0;
    for (std::size_t at = from(root, 0); at != pools.size() && pools[at].key >> 32 == root; ++at)
        all += pools[at].who == choosers[root];
    return all;
}

SUBLET_DECL std::size_t allowed_pools::from(buffer_id root, pool_id pool) const
{
    return first_that(pools.size(), [&](std::size_t i) { return pools[i].key >= key(root, pool); });
}

SUBLET_DECL allowed_pools allowed_pools_of(placement_problem const& problem,
                                           std::vector<buffer_id> const& root)
{
    std::size_t const n = problem.buffers.size();
    std::vector<unsigned char> is_anchored(n, 0), has_free(n, 0), has_choice(n, 0);
    for (colocation const& c : problem.colocated) is_anchored[c.buffer] = 1;
    for (buffer_id b = 0; b != n; ++b)
        if (!is_anchored[b]) has_free[root[b]] = 1;
    auto chooses = [&](buffer_id b) { return !is_anchored[b] || !has_free[root[b]]; };

    std::vector<keyed> wishes; // {chooser and pool, cost, }
    for (pool_choice const& c : problem.choices) {
        SUBLET_EXPECTS(c.buffer < n, "sublet: a choice is one of no buffer");
        has_choice[c.buffer] = 1;
        if (chooses(c.buffer)) wishes.push_back({allowed_pools::key(c.buffer, c.pool), c.cost, 0});
    }
    allowed_pools result;
    result.choosers.assign(n, 0);
    for (buffer_id b = 0; b != n; ++b) {
        if (!chooses(b)) continue;
        ++result.choosers[root[b]];
        if (!has_choice[b]) wishes.push_back({allowed_pools::key(b, problem.buffers[b].pool), 0, 0});
    }
    sort_keyed(wishes); // of the same chooser and pool the cheapest first
    std::vector<keyed> by_root;
    for (std::size_t i = 0; i != wishes.size(); ++i) {
        if (i != 0 && wishes[i - 1].key == wishes[i].key) continue;
        auto const chooser = static_cast<buffer_id>(wishes[i].key >> 32);
        auto const pool = static_cast<pool_id>(wishes[i].key);
        by_root.push_back({allowed_pools::key(root[chooser], pool), wishes[i].tie, chooser});
    }
    sort_keyed(by_root);
    for (keyed const& wish : by_root) {
        if (result.pools.empty() || result.pools.back().key != wish.key)
            result.pools.push_back({wish.key, 0, 0});
        result.pools.back().tie = checked_add(result.pools.back().tie, wish.tie);
        ++result.pools.back().who;
    }
    return result;
}

} // namespace sublet

#endif
