// SPDX-License-Identifier: BSL-1.0

/// The collector: the ranges of each value as a linked list in one vector, the newest and lowest first. A new
/// range swallows those that it touches at the head of its list, so each is removed once: O(1), amortised.

#include <sublet/core/internal/range_lists.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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

SUBLET_DECL live_range_lists range_collector::lists(live_range_lists::source method,
                                                    std::uint32_t positions) const
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
