// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_HEIR_FOREST_IPP
#define SUBLET_SHARING_IMPL_HEIR_FOREST_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/heir_forest.hpp>
#include <sublet/units.hpp>

namespace sublet {

SUBLET_DECL std::vector<token_range> heir_forest(dependence_graph const& g)
{
    auto const positions = static_cast<step_id>(g.positions());
    std::vector<step_id> heir(positions, no_step), left(positions, 0);
    for (step_id x = positions; x-- != 0;)
        for (step_id y : g.after[x])
            if (left[x] <= left[y]) { // of equal ones the first
                left[x] = left[y] + 1;
                heir[x] = y;
            }
    std::vector<token_range> subtree(positions);
    for (step_id x = 0; x != positions; ++x) { // its size, for now
        ++subtree[x].last;
        if (heir[x] != no_step) subtree[heir[x]].last += subtree[x].last;
    }
    std::vector<step_id>& next = left; // by position: the first number in its subtree that is not given yet
    std::uint32_t next_root = 0;
    for (step_id x = positions; x-- != 0;) {
        std::uint32_t& first = heir[x] == no_step ? next_root : next[heir[x]];
        std::uint32_t const size = subtree[x].last;
        subtree[x] = {first, first + size};
        next[x] = first + 1;
        first += size;
    }
    return subtree;
}

} // namespace sublet

#endif
