// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/shapes.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace sublet;

TEST_CASE("a buffer with nothing special is one rectangle")
{
    placement_problem const problem{{{{4, 9}, 64}}};
    auto const shapes = shapes_of(problem, {0});
    REQUIRE(shapes.size() == 1);
    CHECK(shapes.is_plain(0));
    CHECK(shapes.positions == std::vector<step_id>{4, 9});
}
