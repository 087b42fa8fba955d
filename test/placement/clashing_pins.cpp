// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/fewest_that_fail.hpp>

#include "../shapes_of_all.hpp"
#include "dice.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

/// At each position all pairs.
static bool overlap(placement_shapes const& all, std::uint32_t a, std::uint32_t b)
{
    byte_count const at = all.shapes[a].pinned, bt = all.shapes[b].pinned;
    if (at == no_offset || bt == no_offset) return false;
    for (shape_piece const& x : all.pieces_of(a))
        for (shape_piece const& y : all.pieces_of(b))
            if (overlaps(x.when, y.when) && at + x.begin < bt + y.end && bt + y.begin < at + x.end)
                return true;
    return false;
}

TEST_CASE("two that are pinned onto each other are found, whoever lies between them in the list")
{
    placement_problem problem{{{{0, 4}, 8, 1, 0, 0}, {{0, 9}, 8}, {{3, 5}, 8, 1, 0, 7}}};
    auto found = clashing_pins(shapes_of_all(problem));
    CHECK(found.are);
    CHECK(found.one == 0);
    CHECK(found.other == 2);
    problem.buffers[2].pinned = 8;
    CHECK(!clashing_pins(shapes_of_all(problem)).are);
    problem.buffers[2] = {{4, 5}, 8, 1, 0, 7};
    CHECK(!clashing_pins(shapes_of_all(problem)).are);
}

TEST_CASE("a window lets another be pinned through a shape")
{
    placement_problem problem{{{{0, 9}, 16, 1, 0, 0}, {{3, 5}, 8, 1, 0, 8}}};
    CHECK(clashing_pins(shapes_of_all(problem)).are);
    problem.gaps = {{0, {3, 5}, 0, 8}};
    CHECK(!clashing_pins(shapes_of_all(problem)).are);
    problem.gaps = {{0, {3, 5}, 0, 9}};
    CHECK(clashing_pins(shapes_of_all(problem)).are);
}

TEST_CASE("no pins do not clash")
{
    CHECK(!clashing_pins(placement_shapes{}).are);
    CHECK(!clashing_pins(shapes_of_all({{{{0, 4}, 8}, {{0, 4}, 8, 1, 0, 0}}})).are);
}

TEST_CASE("random pins with gaps clash where a look at all pairs says so")
{
    int clashes = 0, sound = 0;
    for (std::uint32_t seed = 0; seed != rounds(4000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        placement_problem problem;
        for (std::uint32_t i = 0, n = 1 + roll.below(9); i != n; ++i) {
            step_id const first = roll.below(12), last = first + 1 + roll.below(6);
            byte_count const size = 1 + roll.below(6);
            byte_count const pinned = roll.below(8) == 0 ? no_offset : roll.below(40);
            problem.buffers.push_back({{first, last}, size, 1, 0, pinned});
            if (roll.below(2) == 0) continue;
            step_id const from = roll.below(12), to = from + 1 + roll.below(3);
            byte_count const begin = roll.below(static_cast<std::uint32_t>(size)),
                             end = begin + (size - begin) / 2;
            problem.gaps.push_back({i, {from, to}, begin, end});
        }
        placement_shapes const all = shapes_of_all(problem);
        bool clash = false;
        for (std::uint32_t a = 0; a != all.size(); ++a)
            for (std::uint32_t b = 0; b != a; ++b) clash = clash || overlap(all, a, b);
        auto const found = clashing_pins(all);
        REQUIRE(found.are == clash);
        if (found.are) {
            CHECK(found.one < found.other);
            CHECK(overlap(all, found.one, found.other));
        }
        ++(clash ? clashes : sound);
    }
    CHECK(clashes > rounds(500));
    CHECK(sound > rounds(500));
}

} // namespace this_test
