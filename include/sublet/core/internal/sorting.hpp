// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_SORTING_HPP
#define SUBLET_CORE_INTERNAL_SORTING_HPP

/// Sorts in O(n log n) time, and searches ascending tables in O(log n), without <algorithm> in a header: with
/// a use it adds 60 ms to the 220 ms of a file that includes three standard headers (cmake -DONLY=std -P
/// bench/build_cost.cmake).
///
///     sort_by        std::stable_sort, which clang 19 refuses with libstdc++ 12: it is deprecated inside
///     sort_by_key    std::sort, or byte by byte where that is faster: 0.6 of its time for the ends of 100
///     000
///                    live ranges (bench_genericity, sort)

#include <sublet/core/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- sorting ---------------------------------------------------------------------------------------------

/// Stable merge sort, and binary search.
///
///     width 1   7 | 4 | 9 | 2 | 5       neighbouring runs are merged,
///     width 2   4 7 | 2 9 | 5           and the width doubles
///     width 4   2 4 7 9 | 5             until one run is left
///               2 4 5 7 9

namespace sublet::detail {

/// Requires:   `before` is a strict weak order.
/// Ensures:    the order of equal items is kept.
/// Complexity: O(n log n) time, O(n) memory.
template <class Item, class Before>
void sort_by(std::vector<Item>& items, Before before)
{
    std::size_t const n = items.size();
    if (n < 2) return;
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

template <class Item>
void sort_ascending(std::vector<Item>& items)
{
    sort_by(items, [](Item const& a, Item const& b) { return a < b; });
}
/// In O(n log n) time, without more memory.
void sort_ascending(std::vector<value_id>& values);

/// The lowest number below `count` for which `holds` is true, in O(log count) calls; or `count`.
/// Requires: where `holds` is true for a number, it is true for all above.
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

/// Whether an ascending table contains `item`.  O(log size)
template <class Table, class Item>
[[nodiscard]] constexpr bool is_listed(Table const& ascending, Item const& item)
{
    std::size_t const n = ascending.size();
    std::size_t const at = partition_point(n, [&](std::size_t i) { return !(ascending[i] < item); });
    return at != n && !(item < ascending[at]);
}

/// The index of the row of v among rows that ascend by value, or their number.  O(log rows)
template <class Rows>
[[nodiscard]] std::size_t find_value(Rows const& rows, value_id v)
{
    std::size_t const at = partition_point(rows.size(), [&](std::size_t i) { return rows[i].value >= v; });
    return at != rows.size() && rows[at].value == v ? at : rows.size();
}

// --- sort key --------------------------------------------------------------------------------------------

/// 32-bit ids with one or two sort keys.
///
///     {key: 4, tie: 64, id: 2}, {key: 0, tie: 8, id: 7} ...   by key, then tie, then id
///
/// No two ids are equal, so the sorted order is the same on every platform and for every sort.

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

/// Ascending by key, then tie, then id.  O(n log n) time, O(n) memory
void sort_by_key(std::vector<sort_key>& items);

/// Sorts ascending and removes duplicates.
void sort_unique(std::vector<sort_key>& items);

/// The key that sorts the largest first.
[[nodiscard]] constexpr std::uint64_t descending(std::uint64_t key) noexcept { return ~key; }

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/sorting.ipp>
#endif

#endif
