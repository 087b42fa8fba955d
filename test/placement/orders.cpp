// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/orders.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <utility>
#include <vector>

using namespace sublet;
using buffers = std::vector<placement_buffer>;
using order = std::vector<std::uint32_t>;

static order ordered(placement_order which, buffers const& b)
{
    return order_by(which, b, lower_bound(b).live_bytes);
}

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
    CHECK(ordered(placement_order::load, five) == order{4, 3, 1, 2, 0});       // 80 at 4, 70 at 1, 10 at 0
    CHECK(ordered(placement_order::breadth, five) == order{4, 3, 1, 2, 0});    // positions 4, 1, 2, 3, 0
    CHECK(ordered(placement_order::size_class, five) == order{1, 4, 3, 2, 0}); // 32 to 63, 16 to 31, 8 to 15
}

//     position  0   1   2   3   4   5
//     0: 10     [===============)
//     1: 20         [=======)
//     2: 30             [===============)
//     3: 90     [===)                        the peak is at 2, with 60 bytes more than these
//     4: 60             [===)
//     5: 70                     [===)
static buffers const pyramid{{{0, 4}, 10}, {{1, 3}, 20}, {{2, 5}, 30},
                             {{0, 1}, 90}, {{2, 3}, 60}, {{3, 4}, 70}};

TEST_CASE("who is alive at the peak comes before all others, long lives or late deaths first")
{
    CHECK(lower_bound(pyramid).peak_position == 2);
    CHECK(ordered(placement_order::peak_length, pyramid) == order{0, 2, 1, 4, 3, 5});
    CHECK(ordered(placement_order::peak_death, pyramid) == order{2, 0, 4, 1, 3, 5});
}

TEST_CASE("of two peaks the first counts")
{
    buffers const b{{{0, 1}, 8}, {{1, 3}, 8}, {{2, 3}, 2}, {{0, 1}, 2}};
    CHECK(ordered(placement_order::peak_length, b) == order{0, 3, 1, 2});
    CHECK(ordered(placement_order::peak_death, b) == order{0, 3, 1, 2});
}

TEST_CASE("random buffers: every order is the one that its keys say, by looking at each pair")
{
    for (unsigned seed = 0; seed != 300; ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        buffers b(pick() % 12);
        for (auto& x : b) {
            x.life.first = static_cast<step_id>(pick() % 8);
            x.life.last = static_cast<step_id>(x.life.first + pick() % 5);
            x.size = pick() % 40;
        }
        std::sort(b.begin(), b.end(),
                  [](auto const& x, auto const& y) { return x.life.first < y.life.first; });
        auto const load = lower_bound(b).live_bytes;
        step_id peak = 0;
        for (step_id p = 0; p < load.size(); ++p)
            if (load[p] > load[peak]) peak = p;
        auto is_at_peak = [&](placement_buffer const& x) {
            return x.life.first <= peak && peak < x.life.last;
        };
        auto doublings = [](byte_count size) {
            int count = 0;
            for (; size != 0; size /= 2) ++count;
            return count;
        };
        auto check_falling = [&](placement_order which, auto key) {
            order const o = ordered(which, b);
            order all = o;
            std::sort(all.begin(), all.end());
            for (std::uint32_t i = 0; i != b.size(); ++i) CHECK(all[i] == i);
            for (std::size_t i = 1; i < o.size(); ++i) {
                auto const &before = b[o[i - 1]], &after = b[o[i]];
                CHECK(key(before) >= key(after));
                if (key(before) > key(after)) continue;
                CHECK(before.size >= after.size);
                if (before.size == after.size) CHECK(o[i - 1] < o[i]);
            }
        };
        check_falling(placement_order::size, [](auto const&) { return 0; });
        check_falling(placement_order::area, [](auto const& x) { return x.size * length(x.life); });
        check_falling(placement_order::lifetime, [](auto const& x) { return length(x.life); });
        check_falling(placement_order::birth, [](auto const& x) { return -static_cast<int>(x.life.first); });
        check_falling(placement_order::peak_length,
                      [&](auto const& x) { return is_at_peak(x) ? length(x.life) : 0; });
        check_falling(placement_order::peak_death,
                      [&](auto const& x) { return is_at_peak(x) ? x.life.last : 0; });
        check_falling(placement_order::size_class,
                      [&](auto const& x) { return std::pair(doublings(x.size), length(x.life)); });
    }
}

TEST_CASE("ties go to the larger, then to the earlier")
{
    buffers const b{{{0, 1}, 8}, {{0, 1}, 9}, {{0, 1}, 8}};
    for (auto which : {placement_order::lifetime, placement_order::load, placement_order::breadth,
                       placement_order::birth, placement_order::peak_length, placement_order::peak_death})
        CHECK(ordered(which, b) == order{1, 0, 2});
}

TEST_CASE("of two equally full positions the first comes first, whoever is the larger")
{
    buffers const b{{{0, 1}, 4}, {{0, 1}, 4}, {{1, 2}, 8}};
    CHECK(ordered(placement_order::breadth, b) == order{0, 1, 2});
}

TEST_CASE("areas beyond 64 bits are all the same, and sorted by size")
{
    buffers const b{{{0, 4}, byte_count{1} << 62}, {{0, 2}, byte_count{1} << 63}, {{0, 1}, 5}};
    auto const area = order_by(placement_order::area, b, {0, 0, 0, 0});
    CHECK(area == order{1, 0, 2});
}

TEST_CASE("no buffers have an order too")
{
    for (auto which : {placement_order::size, placement_order::breadth, placement_order::load,
                       placement_order::peak_length, placement_order::size_class})
        CHECK(ordered(which, {}).empty());
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
