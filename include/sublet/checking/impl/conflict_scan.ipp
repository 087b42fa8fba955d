// SPDX-License-Identifier: BSL-1.0

/// Borders of accesses are sorted once and numbered, so that bytes are small integers; a segment is a
/// border in a rank_set, with the history of the bytes up to the next one, and is split where an access
/// begins or ends.

#include <sublet/checking/internal/conflict_scan.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

SUBLET_DECL conflict_scan::conflict_scan(std::vector<byte_access> const& list)
    : list_(list), begin_(list.size()), end_(list.size()), segment_(number_borders()),
      segments_(segment_.size())
{
    for (byte_access const& a : list_) {
        SUBLET_EXPECTS(a.at != no_step, "sublet: an access has no place in the order");
        if (last_visitor_.size() <= a.at) last_visitor_.resize(a.at + std::size_t{1}, no_step);
    }
}

SUBLET_DECL std::size_t conflict_scan::number_borders()
{
    std::vector<sort_key> borders; // {space, byte, access}
    for (std::uint32_t i = 0; i != list_.size(); ++i) {
        if (list_[i].begin >= list_[i].end) continue;
        borders.push_back({list_[i].space, list_[i].begin, i});
        borders.push_back({list_[i].space, list_[i].end, i});
    }
    sort_by_key(borders);
    std::uint32_t number = 0;
    for (std::size_t i = 0; i != borders.size(); ++i) {
        sort_key const& b = borders[i];
        if (i == 0 || borders[i - 1].key != b.key || borders[i - 1].tie != b.tie) ++number;
        (list_[b.id].begin == b.tie ? begin_ : end_)[b.id] = number;
    }
    return number + std::size_t{1}; // 0 stays unused, below all
}

SUBLET_DECL void conflict_scan::split_at(std::uint32_t at)
{
    if (segments_.contains(at)) return;
    std::uint32_t const below = segments_.below(at);
    segment_[at] = below == segments_.none ? segment{} : segment_[below];
    segments_.insert(at);
}

} // namespace sublet::detail
