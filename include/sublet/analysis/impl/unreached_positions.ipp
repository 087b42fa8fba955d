// SPDX-License-Identifier: BSL-1.0

/// The intersection of two ascending lists of ranges from one position on, merged in one pass; what lies
/// below stays.

#include <sublet/analysis/internal/unreached_positions.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace sublet::detail {

SUBLET_DECL void intersect_from(std::vector<live_range>& ranges, position_id from,
                                std::span<live_range const> others, std::vector<live_range>& old)
{
    std::size_t to = partition_point(ranges.size(), [&](std::size_t i) { return from < ranges[i].last; });
    if (to == ranges.size()) return;
    old.assign(ranges.begin() + static_cast<std::ptrdiff_t>(to), ranges.end());
    ranges.resize(to + old.size() + others.size() + 1);
    std::size_t i = 0, j = 0;
    live_range a = old[0], b{0, from};
    if (!others.empty() && others[0].first == from) b.last = others[j++].last;
    while (true) {
        ranges[to] = {larger(a.first, b.first), smaller(a.last, b.last)};
        if (!is_empty(ranges[to])) ++to;
        if (a.last <= b.last) {
            if (++i == old.size()) break;
            a = old[i];
        } else {
            if (j == others.size()) break;
            b = others[j++];
        }
    }
    ranges.resize(to);
}

} // namespace sublet::detail
