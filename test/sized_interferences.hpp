// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_SIZED_INTERFERENCES_HPP
#define SUBLET_TEST_SIZED_INTERFERENCES_HPP

#include "interference_graphs.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

/// Values with overlapping live ranges: by `spread`, short ones, longer ones, long ones, or short ones and
/// some that span nearly all positions.
inline interferences range_interferences(random_source& pick, std::size_t values, unsigned spread)
{
    auto const n = static_cast<std::uint32_t>(values);
    std::uint32_t const longest[]{6, 12, 25, 8};
    std::vector<std::uint32_t> first, last;
    for (std::size_t v = 0; v != values; ++v) {
        first.push_back(pick.below(n));
        bool const is_long = spread == 3 && pick.below(4) == 0;
        last.push_back(first[v] + 1 + pick.below(is_long ? n : longest[spread]));
    }
    interferences all(values);
    for (std::size_t v = 0; v != values; ++v)
        for (std::size_t w = 0; w != v; ++w)
            if (first[v] < last[w] && first[w] < last[v]) all.add(v, w);
    return all;
}

/// Values of a task graph under every schedule: two interfere if neither comes before the other. By `spread`,
/// few edges, more, many, or many between neighbours only.
inline interferences order_interferences(random_source& pick, std::size_t values, unsigned spread)
{
    std::uint32_t const percent[]{3, 6, 10, 20};
    std::vector<std::vector<char>> before(values, std::vector<char>(values, 0));
    for (std::size_t b = 0; b != values; ++b)
        for (std::size_t a = 0; a != b; ++a) {
            if (pick.below(100) >= percent[spread] || (spread == 3 && b - a >= 12)) continue;
            before[a][b] = 1;
            for (std::size_t c = 0; c != a; ++c) before[c][b] |= before[c][a];
        }
    interferences all(values);
    for (std::size_t b = 0; b != values; ++b)
        for (std::size_t a = 0; a != b; ++a)
            if (!before[a][b]) all.add(a, b);
    return all;
}

struct sized_interferences {
    interferences all;
    std::vector<sublet::byte_count> bytes;
};

/// By number, one of 16 kinds: ranges or orders, arbitrary sizes or one of five, and four spreads.
inline sized_interferences draw_interferences(unsigned number, std::size_t values)
{
    random_source pick{std::mt19937{number}};
    unsigned const spread = number / 4 % 4;
    sized_interferences drawn{number % 2 == 0 ? range_interferences(pick, values, spread)
                                              : order_interferences(pick, values, spread),
                              {}};
    for (std::size_t v = 0; v != values; ++v)
        drawn.bytes.push_back(number / 2 % 2 == 0 ? 1 + pick.below(1000)
                                                  : std::uint64_t{16} << pick.below(5));
    return drawn;
}

#endif
