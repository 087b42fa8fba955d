// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_DETAIL_SORTING_HPP
#define SUBLET_DETAIL_SORTING_HPP

/// Sorting and searching tables. Included by all stages.

#include <cstddef>
#include <cstdint>
#include <vector>

// --- sorting ---------------------------------------------------------------------------------------------

/// Sorting a table, and finding a place in one that is sorted.
///
///     1 wide    7 | 4 | 9 | 2 | 5       neighbours are merged,
///     2 wide    4 7 | 2 9 | 5           and stretches twice as wide each time,
///     4 wide    2 4 7 9 | 5             until one stretch is left
///               2 4 5 7 9
///
/// For what has to stand in headers: <algorithm> brings std::ranges with it, which would cost every user of
/// this library more compile time than <span> or <optional>. Definitions (impl/*.ipp) call std::sort. This
/// sort keeps equal items in order, so it gives the same on every platform.

namespace sublet::detail {

/// Sort `items` so that none stands after another that it is `before`.
///
/// Requires:   `before` is a strict weak order.
/// Ensures:    equal items keep their order.
/// Complexity: O(n log n) time, O(n) memory.
template <class Item, class Before>
void sort_by(std::vector<Item>& items, Before before)
{
    std::size_t const n = items.size();
    std::vector<Item> merged(n);
    for (std::size_t width = 1; width < n; width *= 2) {
        for (std::size_t begin = 0, end = 0; end != n; begin = end) {
            std::size_t const middle = width < n - begin ? begin + width : n;
            end = width < n - middle ? middle + width : n;
            std::size_t a = begin, b = middle;
            for (std::size_t to = begin; to != end; ++to)
                merged[to] =
                    b == end || (a != middle && !before(items[b], items[a])) ? items[a++] : items[b++];
        }
        items.swap(merged);
    }
}

/// Smallest first.
template <class Item>
void sort_ascending(std::vector<Item>& items)
{
    sort_by(items, [](Item const& a, Item const& b) { return a < b; });
}

/// The lowest number below `count` for which `holds` is true; `count` if there is none.
///
/// Requires:   where `holds` is true for a number, it is true for all above.
/// Complexity: O(log count) calls.
template <class Holds>
[[nodiscard]] constexpr std::size_t partition_point(std::size_t count, Holds holds)
{
    std::size_t first = 0;
    while (first != count) {
        std::size_t const middle = first + (count - first) / 2;
        if (holds(middle)) count = middle;
        else first = middle + 1;
    }
    return first;
}

/// Whether a table that ascends holds `item`.  O(log of its size)
template <class Table, class Item>
[[nodiscard]] constexpr bool is_listed(Table const& ascending, Item const& item)
{
    std::size_t const n = ascending.size();
    std::size_t const at = partition_point(n, [&](std::size_t i) { return !(ascending[i] < item); });
    return at != n && !(item < ascending[at]);
}

// --- keyed -----------------------------------------------------------------------------------------------

/// Ids sorted by what they are sorted for.
///
///     {first: 4, size: 64, who: 2}, {first: 0, size: 8, who: 7} ...   by first, then size, then who
///
/// What planner and checker sort are 32-bit ids with one or two keys, and no two ids are equal, so the order
/// is the same on every platform whatever the sort.

struct sort_key {
    std::uint64_t key;
    std::uint64_t tie;
    std::uint32_t id;

    friend constexpr bool operator<(sort_key const& a, sort_key const& b) noexcept
    {
        if (a.key != b.key) return a.key < b.key;
        return a.tie != b.tie ? a.tie < b.tie : a.id < b.id;
    }
};

/// Ascending by key, then tie, then id.  O(n log n)
void sort_by_key(std::vector<sort_key>& items);

/// Ascending.
void sort_unique(std::vector<sort_key>& items);

/// The key that sorts the largest first.
[[nodiscard]] constexpr std::uint64_t descending(std::uint64_t key) noexcept { return ~key; }

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/sorting.ipp>
#endif

#endif
