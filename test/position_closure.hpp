// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_POSITION_CLOSURE_HPP
#define SUBLET_TEST_POSITION_CLOSURE_HPP

#include <sublet/analysis/dependences.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

/// The transitive closure of positions: a bit per pair.
struct position_closure {
    std::vector<std::vector<bool>> reaches;

    explicit position_closure(sublet::dependence_graph const& g)
        : reaches(g.positions(), std::vector<bool>(g.positions()))
    {
        for (std::size_t at = g.positions(); at-- != 0;)
            for (sublet::position_id next : g.after[at]) {
                reaches[at][next] = true;
                for (std::size_t x = next; x != g.positions(); ++x)
                    if (reaches[next][x]) reaches[at][x] = true;
            }
    }
    bool before(sublet::position_id a, sublet::position_id b) const { return reaches[a][b]; }
    std::uint64_t ordered_pairs() const
    {
        std::uint64_t count = 0;
        for (auto const& row : reaches)
            for (bool is_reached : row) count += is_reached;
        return count;
    }
};

#endif
