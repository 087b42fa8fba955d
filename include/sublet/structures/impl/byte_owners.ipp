// SPDX-License-Identifier: BSL-1.0

/// byte_owners: the borders are sorted once; a range is found by binary search, and then walked.

#include <sublet/impl/config.hpp>
#include <sublet/structures/internal/byte_owners.hpp>

#include <algorithm>
#include <utility>

namespace sublet::detail {

SUBLET_DECL byte_owners::byte_owners(std::vector<sort_key> borders, byte_count end)
    : borders_(std::move(borders))
{
    borders_.push_back({0, 0, 0});
    borders_.push_back({end, 0, 0});
    sort_by_key(borders_);
    auto const is_same = [](sort_key const& a, sort_key const& b) { return a.key == b.key; };
    borders_.erase(std::unique(borders_.begin(), borders_.end(), is_same), borders_.end());
    owner_.assign(borders_.size(), no_buffer);
}

SUBLET_DECL void byte_owners::claim(byte_count begin, byte_count end, buffer_id id)
{
    for (std::size_t i = segment_at(begin); borders_[i].key < end; ++i) owner_[i] = id;
}

SUBLET_DECL std::size_t byte_owners::segment_at(byte_count begin) const
{
    auto const at = std::lower_bound(borders_.begin(), borders_.end(), begin,
                                     [](sort_key const& border, byte_count b) { return border.key < b; });
    return static_cast<std::size_t>(at - borders_.begin());
}

} // namespace sublet::detail
