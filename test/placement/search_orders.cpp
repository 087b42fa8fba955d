// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/search.hpp>

#include "../stacking_oracle.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

constexpr search_key total = search_key::total, width = search_key::width, area = search_key::area,
                     size = search_key::size;

std::vector<std::uint32_t> ranked(search_key first, search_key second, search_key third)
{
    // The sections have loads of 5, 6 and 13; shapes 2 and 3 meet in the last one.
    auto const all = shapes_of_all({{{{0, 2}, 3}, {{1, 4}, 2}, {{3, 6}, 4}, {{4, 7}, 9}}});
    return rank_by({search_rule::weight, {first, second, third}, false}, search_problem_of(scale_down(all)));
}

} // namespace

TEST_CASE("the largest by the first key comes first, then by the second, the third and the number")
{
    CHECK(ranked(width, total, area) == std::vector<std::uint32_t>{3, 2, 1, 0});
    CHECK(ranked(total, size, width) == std::vector<std::uint32_t>{3, 2, 1, 0});
    CHECK(ranked(size, width, area) == std::vector<std::uint32_t>{3, 2, 0, 1});
    CHECK(ranked(area, width, size) == std::vector<std::uint32_t>{3, 2, 1, 0});
    CHECK(ranked(total, width, width) == std::vector<std::uint32_t>{2, 3, 1, 0});
}

TEST_CASE("orders are drawn of different keys, the same for the same numbers")
{
    bool differ = false;
    for (std::uint32_t lap = 0; lap != 200; ++lap) {
        search_order const one = draw_order(7, lap, 1), same = draw_order(7, lap, 1);
        CHECK(one.rule == same.rule);
        CHECK(one.by_failures == same.by_failures);
        for (int i = 0; i != 3; ++i) {
            CHECK(one.keys[i] == same.keys[i]);
            for (int j = 0; j != i; ++j) CHECK(one.keys[i] != one.keys[j]);
        }
        search_order const other = draw_order(8, lap, 1);
        differ |= one.rule != other.rule || one.keys[0] != other.keys[0];
    }
    CHECK(differ);
}

} // namespace this_test
