// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/fit.hpp>

#include "../dice.hpp"

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using buffers = std::vector<placement_problem::buffer>;
using order = std::vector<std::uint32_t>;

static placement_shapes shapes_of_all(buffers const& b)
{
    std::vector<buffer_id> members(b.size());
    std::iota(members.begin(), members.end(), 0u);
    return shapes_of(placement_problem{b}, members);
}

/// Here buffers are sorted by birth, so a shape has the number of its buffer.
static order ordered(placement_order which, buffers const& b)
{
    auto const shapes = shapes_of_all(b);
    return order_by(which, shapes, lower_bound(shapes));
}

/// Walk outwards, ring by ring.
static int ring_by_hand(int distance, int steps)
{
    int ring = 0;
    for (int begin = 1, width; begin + (width = std::max(1, begin / steps)) <= distance + 1; begin += width)
        ++ring;
    return ring;
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
//     1: 90     [===)                        the peak is at 2, with 60 bytes more than 0, 2 and 3
//     2: 20         [=======)
//     3: 30             [===============)
//     4: 60             [===)
//     5: 70                     [===)
static buffers const pyramid{{{0, 4}, 10}, {{0, 1}, 90}, {{1, 3}, 20},
                             {{2, 5}, 30}, {{2, 3}, 60}, {{3, 4}, 70}};

TEST_CASE("who is alive at the peak comes before all others, early births, long lives or late deaths first")
{
    CHECK(lower_bound(shapes_of_all(pyramid)).peak_position == 2);
    CHECK(ordered(placement_order::peak_birth, pyramid) == order{0, 2, 4, 3, 1, 5});
    CHECK(ordered(placement_order::peak_length, pyramid) == order{0, 3, 2, 4, 1, 5});
    CHECK(ordered(placement_order::peak_death, pyramid) == order{3, 0, 4, 2, 1, 5});
}

TEST_CASE("of two peaks the first counts")
{
    buffers const b{{{0, 1}, 8}, {{0, 1}, 2}, {{1, 3}, 8}, {{2, 3}, 2}};
    for (auto which : {placement_order::peak_birth, placement_order::peak_length, placement_order::peak_death,
                       placement_order::rings})
        CHECK(ordered(which, b) == order{0, 1, 2, 3});
}

TEST_CASE("random buffers: every order is the one that its keys say, by looking at each pair")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        buffers b(pick() % 12);
        for (auto& x : b) {
            x.life.first = static_cast<step_id>(pick() % 8);
            x.life.last = static_cast<step_id>(x.life.first + 1 + pick() % 5);
            x.size = 1 + pick() % 40;
        }
        std::sort(b.begin(), b.end(),
                  [](auto const& x, auto const& y) { return x.life.first < y.life.first; });
        auto const shapes = shapes_of_all(b);
        for (std::size_t i = 0; i != b.size(); ++i) b[i].life = shapes.shapes[i].life; // in ranks
        auto const load = lower_bound(shapes).live_bytes;
        step_id peak = 0;
        for (step_id p = 0; p < load.size(); ++p)
            if (load[p] > load[peak]) peak = p;
        auto is_at_peak = [&](placement_problem::buffer const& x) {
            return x.life.first <= peak && peak < x.life.last;
        };
        auto doublings = [](byte_count size) {
            int count = 0;
            for (; size != 0; size /= 2) ++count;
            return count;
        };
        auto check_falling = [&](placement_order which, auto key) {
            order const o = order_by(which, shapes, lower_bound(shapes));
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
        auto most = [&](auto const& x) {
            return *std::max_element(load.begin() + x.life.first, load.begin() + x.life.last);
        };
        check_falling(placement_order::load_area, [&](auto const& x) {
            return std::tuple(most(x), x.size * length(x.life), length(x.life));
        });
        check_falling(placement_order::load_length, [&](auto const& x) {
            return std::tuple(most(x), length(x.life), x.size * length(x.life));
        });
        check_falling(placement_order::load_death,
                      [&](auto const& x) { return std::pair(most(x), x.life.last); });
        check_falling(placement_order::peak_birth, [&](auto const& x) {
            return is_at_peak(x) ? 100 - static_cast<int>(x.life.first) : 0;
        });
        check_falling(placement_order::load, most);
        check_falling(placement_order::wide_rings, [&](auto const& x) {
            int nearest = 100;
            for (step_id p = x.life.first; p != x.life.last; ++p)
                nearest = std::min(nearest, std::abs(static_cast<int>(p) - static_cast<int>(peak)));
            return -ring_by_hand(nearest, 2);
        });
        check_falling(placement_order::rings, [&](auto const& x) {
            int nearest = 100;
            for (step_id p = x.life.first; p != x.life.last; ++p)
                nearest = std::min(nearest, std::abs(static_cast<int>(p) - static_cast<int>(peak)));
            return -ring_by_hand(nearest, 5);
        });
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
    buffers b{{{0, 8}, byte_count{1} << 61}, {{0, 6}, (byte_count{1} << 62) - 1}, {{0, 1}, 5}};
    for (step_id p = 1; p != 8; ++p) b.push_back({{p, p + 1}, p});
    CHECK(ordered(placement_order::area, b) == order{1, 0, 9, 8, 2, 7, 6, 5, 4, 3});
}

TEST_CASE("no buffers have an order too")
{
    for (auto which : {placement_order::size, placement_order::breadth, placement_order::load,
                       placement_order::peak_length, placement_order::size_class, placement_order::rings,
                       placement_order::load_area})
        CHECK(ordered(which, {}).empty());
}

TEST_CASE("the largest of a range is the one that a look at all of it finds")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
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

TEST_CASE("ids are sorted as by any stable sort, whatever digits the keys have")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        std::vector<byte_count> key(roll.below(40));
        bool const is_small = roll.below(2) == 0;
        for (auto& k : key) k = is_small ? roll.below(4) : roll.wide();
        std::vector<std::uint32_t> ids, expected;
        for (std::uint32_t i = 0; i != key.size(); ++i)
            if (roll.below(8) != 0) ids.insert(roll.below(2) == 0 ? ids.begin() : ids.end(), i);
        expected = ids;
        std::vector<std::size_t> place(key.size());
        for (std::size_t i = 0; i != ids.size(); ++i) place[ids[i]] = i;
        std::sort(expected.begin(), expected.end(),
                  [&](auto a, auto b) { return key[a] != key[b] ? key[a] > key[b] : place[a] < place[b]; });
        detail::sort_by_falling(ids, key);
        CHECK(ids == expected);
    }
}

} // namespace this_test
