// SPDX-License-Identifier: BSL-1.0

/// Sorting by keys: a radix sort that takes the bytes from the lowest on and skips those in which all keys
/// agree; or std::sort where there are few items, or many bytes differ.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace sublet::detail {

SUBLET_DECL void sort_ascending(std::vector<value_id>& values) { std::sort(values.begin(), values.end()); }

/// Sorts by one byte of a member, and keeps the order of items with the same byte.
template <class Member>
void sort_by_byte(std::vector<sort_key>& items, std::vector<sort_key>& sorted, Member member, unsigned shift)
{
    std::size_t next[256] = {};
    for (sort_key const& item : items) ++next[item.*member >> shift & 255];
    std::size_t begin = 0;
    for (std::size_t& n : next) begin += std::exchange(n, begin);
    for (sort_key const& item : items) sorted[next[item.*member >> shift & 255]++] = item;
    items.swap(sorted);
}

/// Byte by byte where few bytes differ: positions, sizes of a few kinds.
SUBLET_DECL void sort_by_key(std::vector<sort_key>& items)
{
    std::size_t const n = items.size();
    std::uint64_t in_key = 0, in_tie = 0, in_id = 0; // the bits that differ
    bool is_sorted = true, has_ascending_ids = true;
    for (std::size_t i = 1; i < n; ++i) {
        in_key |= items[i].key ^ items[0].key;
        in_tie |= items[i].tie ^ items[0].tie;
        in_id |= items[i].id ^ items[0].id;
        is_sorted = is_sorted && !(items[i] < items[i - 1]);
        has_ascending_ids = has_ascending_ids && items[i - 1].id <= items[i].id;
    }
    if (is_sorted) return;
    if (has_ascending_ids) in_id = 0;
    unsigned passes = 0;
    for (unsigned shift = 0; shift != 64; shift += 8)
        for (std::uint64_t bits : {in_key, in_tie, in_id}) passes += (bits >> shift & 255) != 0;
    if (n < 256 || 3 * passes > static_cast<unsigned>(std::bit_width(n))) {
        std::sort(items.begin(), items.end());
        return;
    }
    std::vector<sort_key> sorted(n);
    for (unsigned shift = 0; shift != 32; shift += 8)
        if ((in_id >> shift & 255) != 0) sort_by_byte(items, sorted, &sort_key::id, shift);
    for (unsigned shift = 0; shift != 64; shift += 8)
        if ((in_tie >> shift & 255) != 0) sort_by_byte(items, sorted, &sort_key::tie, shift);
    for (unsigned shift = 0; shift != 64; shift += 8)
        if ((in_key >> shift & 255) != 0) sort_by_byte(items, sorted, &sort_key::key, shift);
}

SUBLET_DECL void sort_unique(std::vector<sort_key>& items)
{
    sort_by_key(items);
    std::size_t kept = 0;
    for (std::size_t i = 0; i != items.size(); ++i)
        if (kept == 0 || items[kept - 1] < items[i]) items[kept++] = items[i];
    while (items.size() != kept) items.pop_back();
}

} // namespace sublet::detail
