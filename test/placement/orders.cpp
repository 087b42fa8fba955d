// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/orders.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <vector>

using namespace sublet;
using buffers = std::vector<placement_buffer>;
using order = std::vector<std::uint32_t>;

static order ordered(placement_order which, buffers const& b) { return order_by(which, b, lower_bound(b).live_bytes); }

//     position  0   1   2   3   4   5
//     0: 10     [===)
//     1: 40         [=======)
//     2: 30         [===)
//     3: 20                 [=======)
//     4: 60                     [===)
static buffers const five{{{0, 1}, 10}, {{1, 3}, 40}, {{1, 2}, 30}, {{3, 5}, 20}, {{4, 5}, 60}};

TEST_CASE("each order is what its name says")
{
    CHECK(ordered(placement_order::size, five) == order{4, 1, 2, 3, 0});
    CHECK(ordered(placement_order::area, five) == order{1, 4, 3, 2, 0});
    CHECK(ordered(placement_order::lifetime, five) == order{1, 3, 4, 2, 0});
    CHECK(ordered(placement_order::birth, five) == order{0, 1, 2, 3, 4});
    CHECK(ordered(placement_order::load, five) == order{4, 3, 1, 2, 0});    // 80 at 4, 70 at 1, 10 at 0
    CHECK(ordered(placement_order::breadth, five) == order{4, 3, 1, 2, 0}); // positions 4, 1, 2, 3, 0
}

TEST_CASE("ties go to the larger, then to the earlier")
{
    buffers const b{{{0, 1}, 8}, {{0, 1}, 9}, {{0, 1}, 8}};
    for (auto which : {placement_order::lifetime, placement_order::load, placement_order::breadth, placement_order::birth})
        CHECK(ordered(which, b) == order{1, 0, 2});
}

TEST_CASE("areas beyond 64 bits are all the same, and sorted by size")
{
    buffers const b{{{0, 4}, byte_count{1} << 62}, {{0, 2}, byte_count{1} << 63}, {{0, 1}, 5}};
    auto const area = order_by(placement_order::area, b, {0, 0, 0, 0});
    CHECK(area == order{1, 0, 2});
}

TEST_CASE("no buffers have an order too")
{
    for (auto which : {placement_order::size, placement_order::breadth, placement_order::load}) CHECK(ordered(which, {}).empty());
}

TEST_CASE("the largest of a range is the one that a look at all of it finds")
{
    for (unsigned seed = 0; seed != 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        std::vector<byte_count> table(1 + pick() % 17);
        for (auto& x : table) x = pick() % 30;
        detail::range_maximum const maximum(table);
        for (step_id a = 0; a <= table.size(); ++a)
            for (step_id b = a; b <= table.size(); ++b) {
                byte_count expected = 0;
                for (step_id x = a; x != b; ++x) expected = std::max(expected, table[x]);
                CHECK(maximum.over({a, b}) == expected);
            }
    }
}
