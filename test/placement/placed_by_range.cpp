// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/concurrent.hpp>

#include "../dice.hpp"
#include "../random_conflicts.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct stay {
    buffer_id who;
    byte_count begin, end;
};

byte_count lowest_by_trial(placement_conflicts const& c, std::vector<stay> const& placed, buffer_id b,
                           byte_count size, byte_count alignment, byte_count ceiling)
{
    for (byte_count at = 0; at + size <= ceiling; at += alignment)
        if (std::none_of(placed.begin(), placed.end(),
                         [&](stay s) { return c.conflict(b, s.who) && s.begin < at + size && at < s.end; }))
            return at;
    return no_offset;
}

} // namespace

TEST_CASE("the first gap that is wide enough is found, and a ceiling is kept")
{
    placement_conflicts c;
    c.begin = {0, 0, 0};
    c.first_begin = {0, 1, 2, 3};
    c.ranges = {live_range_lists::source::from_liveness, 1, {0, 1, 2, 3}, {{0, 1}, {0, 1}, {0, 1}}};
    placed_by_range placed(c);
    CHECK(placed.lowest_gap(2, 8, 1, 8) == 0);
    placed.insert(0, 4, 8);
    placed.insert(1, 16, 20);
    CHECK(placed.lowest_gap(2, 4, 1, 100) == 0);
    CHECK(placed.lowest_gap(2, 5, 1, 100) == 8);
    CHECK(placed.lowest_gap(2, 5, 3, 100) == 9);
    CHECK(placed.lowest_gap(2, 9, 1, 100) == 20);
    CHECK(placed.lowest_gap(2, 9, 1, 29) == 20);
    CHECK(placed.lowest_gap(2, 9, 1, 28) == no_offset);
    CHECK(placed.lowest_gap(2, 9, 1, 8) == no_offset);
    CHECK(placed.visits() != 0);
}

TEST_CASE("random placements leave the gaps that a trial of every offset finds")
{
    for (std::uint32_t seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        auto const n = 1 + roll.below(25);
        auto const c = draw_conflicts(roll, n, 1 + roll.below(20));
        placed_by_range placed(c);
        std::vector<stay> stays;
        for (buffer_id b = 0; b != n; ++b) {
            byte_count const size = 1 + roll.below(9), alignment = 1 + roll.below(4);
            byte_count const ceiling = roll.below(3) == 0 ? 1 + roll.below(40) : 1000;
            byte_count at = placed.lowest_gap(b, size, alignment, ceiling);
            REQUIRE(at == lowest_by_trial(c, stays, b, size, alignment, ceiling));
            byte_count const begin = roll.below(60), end = begin + 1 + roll.below(9);
            REQUIRE(placed.is_free(b, begin, end) == std::none_of(stays.begin(), stays.end(), [&](stay s) {
                        return c.conflict(b, s.who) && s.begin < end && begin < s.end;
                    }));
            if (at == no_offset) continue;
            if (roll.below(5) == 0) at += roll.below(20); // may lie over others: unions do not mind
            placed.insert(b, at, at + size);
            stays.push_back({b, at, at + size});
        }
    }
}

TEST_CASE("who is in haste finds a gap that is near, and otherwise goes on top of all that are in the way")
{
    placement_conflicts c;
    std::vector<std::uint32_t> first{0};
    std::vector<live_range> ranges;
    for (step_id b = 0; b != 1001; ++b) {
        c.begin.push_back(0);
        c.first_begin.push_back(b + 1);
        ranges.push_back({0, 1});
        first.push_back(b + 1);
    }
    c.ranges = {live_range_lists::source::from_liveness, 1, first, ranges};
    placed_by_range placed(c);
    for (buffer_id b = 0; b != 1000; ++b) placed.insert(b, 10 * byte_count{b}, 10 * byte_count{b} + 8);
    auto lowest = [&](byte_count size, bool in_haste) {
        return placed.lowest_gap(1000, size, 4, 100000, in_haste);
    };
    CHECK(lowest(1, true) == 8);
    CHECK(lowest(3, false) == 10000);
    placed.clear();
    for (buffer_id b = 0; b != 1000; ++b) placed.insert(b, 10 * b + (b > 500), 10 * b + 8);
    CHECK(lowest(3, false) == 5008); // from 5008 to 5011
    CHECK(lowest(3, true) == 10000);
    CHECK(placed.lowest_gap(1000, byte_count{3}, byte_count{4}, byte_count{10002}, true) == no_offset);
    auto const before = placed.visits();
    (void)lowest(3, true);
    CHECK(placed.visits() - before < 500);
}

TEST_CASE("buffers that lie next to each other are walked past as one")
{
    placement_conflicts c;
    c.begin = {0, 0, 0, 0};
    c.first_begin = {0, 1, 2, 3, 4};
    c.ranges = {
        live_range_lists::source::from_liveness, 1, {0, 1, 2, 3, 4}, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}};
    placed_by_range placed(c);
    auto visits = [&placed] {
        auto const before = placed.visits();
        (void)placed.lowest_gap(3, 8, 1, 100);
        return placed.visits() - before;
    };
    placed.insert(0, 0, 8);
    auto const of_one = visits();
    placed.insert(1, 8, 16);
    CHECK(visits() == of_one);
    placed.insert(2, 20, 24);
    CHECK(visits() > of_one);
    placed.insert(2, 15, 20);
    CHECK(visits() == of_one);
}

TEST_CASE("what is cleared is as new")
{
    dice roll{std::mt19937(7)};
    auto const c = draw_conflicts(roll, 30, 10);
    placed_by_range placed(c);
    for (buffer_id b = 0; b != 29; ++b) placed.insert(b, b, b + 5);
    placed.clear();
    CHECK(placed.visits() == 0);
    CHECK(placed.lowest_gap(29, byte_count{9}, byte_count{1}, byte_count{9}) == 0);
}

} // namespace this_test
