// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_POOL_CANDIDATES_IPP
#define SUBLET_PLACEMENT_IMPL_POOL_CANDIDATES_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/placement/pool_candidates.hpp>

namespace sublet {

SUBLET_DECL pool_candidates candidates_of(placement_problem const& problem)
{
    std::size_t const n = problem.buffers.size();
    std::vector<buffer_id> leader(n); // of those colocated, the lowest
    for (buffer_id b = 0; b != n; ++b) leader[b] = b;
    auto find = [&leader](buffer_id b) {
        while (leader[b] != b) b = leader[b] = leader[leader[b]];
        return b;
    };
    std::vector<unsigned char> is_anchored(n, 0), has_choice(n, 0), has_chooser(n, 0);
    for (colocation const& c : problem.colocated) {
        SUBLET_EXPECTS(c.buffer < n && c.anchor < n, "sublet: a colocated buffer does not exist");
        is_anchored[c.buffer] = 1;
        buffer_id const a = find(c.buffer), b = find(c.anchor);
        leader[larger(a, b)] = smaller(a, b);
    }
    for (pool_choice const& c : problem.choices) {
        SUBLET_EXPECTS(c.buffer < n, "sublet: a choice is one of no buffer");
        has_choice[c.buffer] = 1;
    }
    for (buffer_id b = 0; b != n; ++b)
        if (is_anchored[b] == 0) has_chooser[find(b)] = 1;
    auto chooses = [&](buffer_id b) { return is_anchored[b] == 0 || has_chooser[find(b)] == 0; };

    // One entry for each chooser and pool, in the order of storage, pool, chooser, cost.
    std::vector<keyed> wishes; // {storage and pool, chooser, cost's index}
    std::vector<byte_count> cost;
    std::vector<std::uint32_t> choosers(n, 0); // by leader
    auto wish = [&](buffer_id b, pool_id pool, byte_count price) {
        wishes.push_back({byte_count{find(b)} << 32 | pool, b, static_cast<std::uint32_t>(cost.size())});
        cost.push_back(price);
    };
    for (buffer_id b = 0; b != n; ++b) {
        if (!chooses(b)) continue;
        ++choosers[find(b)];
        if (has_choice[b] == 0) wish(b, problem.buffers[b].pool, 0);
    }
    for (pool_choice const& c : problem.choices)
        if (chooses(c.buffer)) wish(c.buffer, c.pool, c.cost);
    sort_keyed(wishes);

    pool_candidates result;
    std::vector<keyed> agreed; // {cost, , pool}
    std::size_t next = 0;
    for (buffer_id b = 0; b != n; ++b) {
        buffer_id const l = find(b);
        result.storage_of.push_back(l == b ? static_cast<std::uint32_t>(result.size())
                                           : result.storage_of[l]);
        if (l != b) continue;
        agreed.clear();
        while (next != wishes.size() && wishes[next].key >> 32 == b) {
            std::uint64_t const storage_and_pool = wishes[next].key;
            std::uint32_t agree = 0;
            byte_count sum = 0;
            while (next != wishes.size() && wishes[next].key == storage_and_pool) {
                std::uint64_t const who = wishes[next].tie;
                byte_count cheapest = cost[wishes[next].who];
                for (;
                     next != wishes.size() && wishes[next].key == storage_and_pool && wishes[next].tie == who;
                     ++next)
                    cheapest = smaller(cheapest, cost[wishes[next].who]);
                sum = checked_add(sum, cheapest);
                ++agree;
            }
            if (agree == choosers[b]) agreed.push_back({sum, 0, static_cast<pool_id>(storage_and_pool)});
        }
        SUBLET_EXPECTS(!agreed.empty(), "sublet: colocated buffers have no pool in common");
        sort_keyed(agreed);
        for (keyed const& a : agreed) result.of.push_back({a.who, a.key});
        result.first.push_back(static_cast<std::uint32_t>(result.of.size()));
    }
    return result;
}

} // namespace sublet

#endif
