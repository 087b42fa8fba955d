// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_ALLOWED_POOLS_HPP
#define SUBLET_CHECKING_ALLOWED_POOLS_HPP

/// In which pools a piece of storage may be, and what it costs there, derived afresh by those who check.
///
///     a may be in 0 (for 3) or 1 (for 5), b in 1 (for 2) or 2, and both are tied: in 1, for 7
///
/// Of buffers that are tied to each other those choose that are anchored to nobody (all, if none is), each
/// for itself; storage may be where all of them may be.

#include <sublet/contract.hpp>
#include <sublet/keyed.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

struct allowed_pools {
    std::vector<keyed> pools; ///< ascending {root and pool, cost, number of choosers that allow it}
    std::vector<std::uint32_t> choosers; ///< by root

    static std::uint64_t key(buffer_id root, pool_id pool) { return std::uint64_t{root} << 32 | pool; }

    /// The cost of storage in a pool; `no_limit` if it may not be there.
    [[nodiscard]] byte_count cost(buffer_id root, pool_id pool) const
    {
        std::size_t const at = from(root, pool);
        bool const is_there = at != pools.size() && pools[at].key == key(root, pool);
        return is_there && pools[at].who == choosers[root] ? pools[at].tie : no_limit;
    }
    /// The least that it costs anywhere; `no_limit` if it may be nowhere.
    [[nodiscard]] byte_count least_cost(buffer_id root) const
    {
        byte_count least = no_limit;
        for (std::size_t at = from(root, 0); at != pools.size() && pools[at].key >> 32 == root; ++at)
            if (pools[at].who == choosers[root]) least = smaller(least, pools[at].tie);
        return least;
    }
    [[nodiscard]] std::uint32_t count(buffer_id root) const
    {
        std::uint32_t all = 0;
        for (std::size_t at = from(root, 0); at != pools.size() && pools[at].key >> 32 == root; ++at)
            all += pools[at].who == choosers[root];
        return all;
    }

private:
    std::size_t from(buffer_id root, pool_id pool) const
    {
        return first_that(pools.size(), [&](std::size_t i) { return pools[i].key >= key(root, pool); });
    }
};

/// `root` is by buffer: one and the same for all that are tied to each other, and its own.
///
/// Ensures:    of two costs for the same buffer and pool the lower counts.
/// Complexity: O((n + k) log (n + k)) time, n = buffers, k = choices and colocations.
/// Throws:     precondition_error if a choice is one of no buffer, or costs exceed 64 bits.
[[nodiscard]] inline allowed_pools allowed_pools_of(placement_problem const& problem,
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
