// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/fewest_that_fail.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a part of the shapes keeps their lives, pieces, parts and positions, under new numbers")
{
    placement_problem problem{{{{0, 4}, 8}, {{1, 9}, 16, 4}, {{2, 5}, 4}, {{3, 7}, 2, 1, 0, 6}}};
    problem.gaps = {{1, {3, 5}, 0, 4}};
    problem.colocated = {{3, 2, 4}};
    placement_shapes const all = shapes_of(problem, {0, 1, 2, 3});
    REQUIRE(all.size() == 3);

    placement_shapes const some = subset_of(all, {1, 2});
    REQUIRE(some.size() == 2);
    CHECK(some.positions == all.positions);
    CHECK(some.first_piece == std::vector<std::uint32_t>{0, 3, 3 + all.first_piece[3] - all.first_piece[2]});
    for (std::uint32_t s : {0u, 1u}) {
        CHECK(some.shapes[s].life == all.shapes[s + 1].life);
        CHECK(some.shapes[s].alignment == all.shapes[s + 1].alignment);
        CHECK(some.shapes[s].pinned == all.shapes[s + 1].pinned);
        REQUIRE(some.pieces_of(s).size() == all.pieces_of(s + 1).size());
        for (std::size_t i = 0; i != some.pieces_of(s).size(); ++i) {
            CHECK(some.pieces_of(s)[i].when == all.pieces_of(s + 1)[i].when);
            CHECK(some.pieces_of(s)[i].begin == all.pieces_of(s + 1)[i].begin);
            CHECK(some.pieces_of(s)[i].end == all.pieces_of(s + 1)[i].end);
        }
    }
    REQUIRE(some.parts.size() == 3);
    CHECK(some.parts[0].shape == 0);
    CHECK(some.parts[0].buffer == 1);
    CHECK(some.parts[1].shape == 1);
    CHECK(some.parts[2].shape == 1);
    CHECK(some.parts[1].buffer + some.parts[2].buffer == 5);
    CHECK(subset_of(all, {}).size() == 0);
}

} // namespace this_test
