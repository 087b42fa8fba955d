// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_CONFLICTS_HPP
#define SUBLET_TEST_RANDOM_CONFLICTS_HPP

#include "random_source.hpp"

#include <sublet/placement/detail/concurrent.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// Random begins and ranges: the conflicts need not be those of a program. `more` percent of the buffers
/// begin at a further position.
inline sublet::detail::placement_conflicts draw_conflicts(random_source& pick, std::size_t buffers,
                                                          std::uint32_t positions, unsigned more = 25)
{
    using sublet::position_id;
    sublet::detail::placement_conflicts drawn;
    std::vector<std::uint32_t> first{0};
    std::vector<sublet::live_range> ranges;
    for (std::size_t b = 0; b != buffers; ++b) {
        position_id const at = pick.below(positions);
        drawn.begin.push_back(at);
        for (position_id again = at; pick.below(100) < more && (again += 1 + pick.below(3)) < positions;)
            drawn.begin.push_back(again);
        drawn.first_begin.push_back(static_cast<std::uint32_t>(drawn.begin.size()));
        for (position_id from = at; from < positions; from += 1 + pick.below(4)) {
            position_id const to = sublet::detail::smaller(positions, from + 1 + pick.below(4));
            ranges.push_back({from, to});
            from = to;
            if (pick.below(2) == 0) break;
        }
        first.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    drawn.ranges = {sublet::live_range_lists::source::from_liveness, positions, std::move(first),
                    std::move(ranges)};
    return drawn;
}

#endif
