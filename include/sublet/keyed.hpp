// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_KEYED_HPP
#define SUBLET_KEYED_HPP

/// Ids sorted by what they are sorted for.
///
///     {first: 4, size: 64, who: 2}, {first: 0, size: 8, who: 7} ...   by first, then size, then who
///
/// What planner and checker sort are 32-bit ids with one or two keys, and no two ids are equal, so the order
/// is the same on every platform whatever the sort.

#include <cstdint>
#include <vector>

namespace sublet {

struct keyed {
    std::uint64_t key;
    std::uint64_t tie;
    std::uint32_t who;

    friend constexpr bool operator<(keyed const& a, keyed const& b) noexcept
    {
        if (a.key != b.key) return a.key < b.key;
        return a.tie != b.tie ? a.tie < b.tie : a.who < b.who;
    }
};

/// Ascending by key, then tie, then id.  O(n log n)
void sort_keyed(std::vector<keyed>& items);

/// The key that sorts the largest first.
[[nodiscard]] constexpr std::uint64_t falling(std::uint64_t key) noexcept { return ~key; }

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/keyed.ipp>
#endif

#endif
