// SPDX-License-Identifier: BSL-1.0

/// The ranges of all values lie in one vector, those of a value from first[v] on. The most values alive at
/// once are counted by the numbers of begins and ends at each position.

#include <sublet/core/units.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL live_range_lists::live_range_lists(live_range_lists::source method, std::uint32_t positions,
                                               std::vector<std::uint32_t> first,
                                               std::vector<live_range> ranges)
    : method_(method), positions_(positions), first_(std::move(first)), ranges_(std::move(ranges))
{
}

SUBLET_DECL std::size_t live_range_lists::max_overlap(std::vector<live_range> const& ranges,
                                                      std::uint32_t positions)
{
    std::vector<std::size_t> begins(std::size_t{positions} + 1), ends = begins;
    for (live_range r : ranges) ++begins[r.first], ++ends[r.last];
    std::size_t live = 0, most = 0;
    for (std::size_t at = 0; at != begins.size(); ++at) {
        live = live + begins[at] - ends[at];
        if (most < live) most = live;
    }
    return most;
}

} // namespace sublet
