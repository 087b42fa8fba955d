// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/units.hpp>
#include <sublet/impl/config.hpp>

// --- live range lists ------------------------------------------------------------------------------------

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

namespace sublet::detail {

SUBLET_DECL void range_collector::add(value_id v, live_range range)
{
    if (is_empty(range)) return;
    std::uint32_t next = first_[v];
    for (; next != none && found_[next].range.first <= range.last; next = found_[next].next)
        range = hull(range, found_[next].range);
    if (next != first_[v]) {
        found_[first_[v]] = {range, next};
    } else {
        first_[v] = static_cast<std::uint32_t>(found_.size());
        found_.push_back({range, next});
    }
}

SUBLET_DECL live_range_lists range_collector::lists(live_range_lists::source method, std::uint32_t positions) const
{
    SUBLET_EXPECTS(found_.size() < none, "sublet: more live ranges than 32-bit ids");
    std::vector<std::uint32_t> begin{0};
    std::vector<live_range> ranges;
    begin.reserve(first_.size() + 1);
    ranges.reserve(found_.size());
    for (std::uint32_t first : first_) {
        for (std::uint32_t i = first; i != none; i = found_[i].next) ranges.push_back(found_[i].range);
        begin.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    return {method, positions, std::move(begin), std::move(ranges)};
}

} // namespace sublet::detail
