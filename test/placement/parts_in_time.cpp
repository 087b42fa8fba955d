// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/best_packing.hpp>

#include "../dice.hpp"
#include "../random_placements.hpp"
#include "../shapes_of_all.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a part ends where nobody lives on")
{
    auto const shapes =
        shapes_of_all({{{{0, 4}, 1}, {{2, 5}, 2}, {{5, 6}, 3}, {{9, 12}, 4}, {{9, 11}, 5}, {{11, 12}, 6}}});
    CHECK(parts_in_time(shapes) == std::vector<std::uint32_t>{0, 2, 3, 6});
    auto const part = part_of(shapes, 3, 6);
    CHECK(part.positions == std::vector<step_id>{9, 11, 12});
    REQUIRE(part.size() == 3);
    CHECK(part.shapes[2].size == 6);
    CHECK(part.shapes[2].life == live_range{1, 2});
    CHECK(part.pieces_of(1)[0].when == live_range{0, 1});
}

TEST_CASE("nothing has no parts, and who is alive in the gap of another is in its part")
{
    CHECK(parts_in_time(shapes_of_all({})) == std::vector<std::uint32_t>{0});
    placement_problem const problem{{{{0, 9}, 4}, {{3, 4}, 4}}, {}, {{0, {2, 6}, 0, 0}}};
    CHECK(parts_in_time(shapes_of_all(problem)) == std::vector<std::uint32_t>{0, 2});
}

TEST_CASE("random shapes: parts do not meet, cannot be cut, and are what they were")
{
    std::size_t cuts = 0;
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        random_placement_shape kind = draw_placement_shape(roll);
        kind.positions = 4 + roll.below(30);
        auto const shapes = shapes_of_all(draw_placement(roll, kind));
        auto const first = parts_in_time(shapes);
        REQUIRE(first.back() == shapes.size());
        auto is_cut = [&](std::uint32_t at) { // nobody before `at` lives on
            for (std::uint32_t s = 0; s != at; ++s)
                if (shapes.shapes[s].life.last > shapes.shapes[at].life.first) return false;
            return true;
        };
        std::vector<std::uint32_t> expected;
        for (std::uint32_t s = 0; s != shapes.size(); ++s)
            if (is_cut(s)) expected.push_back(s);
        expected.push_back(static_cast<std::uint32_t>(shapes.size()));
        CHECK(first == expected);
        cuts += first.size() > 2;
        for (std::size_t i = 0; i + 1 < first.size(); ++i) {
            auto const part = part_of(shapes, first[i], first[i + 1]);
            for (std::uint32_t s = 0; s != part.size(); ++s) {
                auto const mine = part.pieces_of(s), before = shapes.pieces_of(first[i] + s);
                CHECK(part.shapes[s].size == shapes.shapes[first[i] + s].size);
                REQUIRE(mine.size() == before.size());
                for (std::size_t k = 0; k != mine.size(); ++k) {
                    CHECK(part.positions[mine[k].when.first] == shapes.positions[before[k].when.first]);
                    CHECK(part.positions[mine[k].when.last] == shapes.positions[before[k].when.last]);
                    CHECK(mine[k].begin == before[k].begin);
                    CHECK(mine[k].end == before[k].end);
                }
            }
        }
    }
    CHECK(cuts > 50);
}

} // namespace this_test
