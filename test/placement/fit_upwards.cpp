// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/best_packing.hpp>

#include "../dice.hpp"
#include "../random_placements.hpp"
#include "../shapes_of_all.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <numeric>
#include <optional>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;
using buffers = std::vector<placement_problem::buffer>;

packing upwards(placement_shapes const& shapes, byte_count ceiling = no_limit - 1)
{
    std::vector<std::uint32_t> order(shapes.size());
    std::iota(order.begin(), order.end(), 0u);
    return fit_upwards(shapes, order, lower_bound(shapes), ceiling);
}

} // namespace

TEST_CASE("who can lie lowest is next, of equals who lives where most is to come, then the first")
{
    //     position  0   1   2   3
    //     0: 2      [===)
    //     1: 5      [=======)            9 at 1: of 1, 2 and 3, which are alive there, 1 is the first;
    //     2: 1          [===)            then 4 can lie at 0, too, and it is the only one; then 0, 2 and 3
    //     3: 3          [=======)        can lie at 5, and at 1 there is more to come
    //     4: 4              [===)
    auto const shapes = shapes_of_all({{{{0, 1}, 2}, {{0, 2}, 5}, {{1, 2}, 1}, {{1, 3}, 3}, {{2, 3}, 4}}});
    auto const p = upwards(shapes);
    CHECK(p.origin == std::vector<byte_count>{5, 0, 5, 6, 0});
    CHECK(p.height == 9);
}

TEST_CASE("nothing is placed upwards from nothing")
{
    CHECK(upwards(shapes_of_all({})).height == 0);
    CHECK(upwards(shapes_of_all({{{{5, 6}, 8, 64}}})).origin == std::vector<byte_count>{0});
}

TEST_CASE("what ends above the ceiling is given up")
{
    auto const shapes = shapes_of_all({{{{0, 2}, 8}, {{1, 3}, 8}}});
    CHECK(upwards(shapes, 16).height == 16);
    CHECK(upwards(shapes, 15).height == no_limit);
    CHECK(upwards(shapes, 7).height == no_limit);
}

TEST_CASE("what windows leave free is used by those that come later")
{
    // 1 has only its upper half at first, and 0 fits under it; but nobody is put under who lies already.
    placement_problem const problem{{{{0, 1}, 4}, {{0, 2}, 8}}, {}, {{1, {0, 1}, 4, 8}}};
    auto const shapes = shapes_of_all(problem);
    CHECK(fit_upwards(shapes, {0, 1}, lower_bound(shapes)).height == 8);
    CHECK(fit_upwards(shapes, {1, 0}, lower_bound(shapes)).height == 12);
}

TEST_CASE("a pinned shape is not placed upwards")
{
    CHECK_THROWS_AS((void)upwards(shapes_of_all({{{{0, 1}, 8, 1, 0, 8}}})), precondition_error);
}

TEST_CASE("sums that leave 64 bits are above the ceiling")
{
    byte_count const most = (byte_count{1} << 62) - 1;
    buffers b(4, placement_problem::buffer{{0, 2}, most});
    CHECK(upwards(shapes_of_all({b})).height == 4 * most);
    b.push_back({{0, 2}, 1});
    CHECK(upwards(shapes_of_all({b})).height == 4 * most + 1);
    b[4].size = most;
    CHECK_THROWS_AS((void)upwards(shapes_of_all({b})), precondition_error); // the bound leaves 64 bits
}

TEST_CASE("random shapes: each step is the one that its definition names")
{
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        random_placement_shape kind = draw_placement_shape(roll);
        kind.pinned = kind.preferred = 0;
        if (seed % 3 == 0) kind.buffers = 5 + roll.below(20), kind.positions = 5 + roll.below(20);
        auto const problem = draw_placement(roll, kind);
        CAPTURE(problem);
        auto const shapes = shapes_of_all(problem);
        if (shapes.fault != shape_fault::none) continue;
        std::vector<std::uint32_t> order(shapes.size());
        std::iota(order.begin(), order.end(), 0u);
        for (std::size_t i = order.size(); i > 1; --i)
            std::swap(order[i - 1], order[roll.below(static_cast<std::uint32_t>(i))]);
        auto const p = fit_upwards(shapes, order, lower_bound(shapes));

        std::vector<byte_count> origin(shapes.size(), no_offset);
        byte_count height = 0;
        auto lowest = [&](std::uint32_t s) {
            std::int64_t at = 0;
            for (std::uint32_t t = 0; t != shapes.size(); ++t)
                if (shape_reach const apart = reach(shapes, t, s); origin[t] != no_offset && apart.meets)
                    at = std::max(at, static_cast<std::int64_t>(origin[t]) + apart.distance);
            return align_up(static_cast<byte_count>(at), shapes.shapes[s]);
        };
        for (std::size_t step = 0; step != shapes.size(); ++step) {
            byte_count least = no_offset;
            for (std::uint32_t s : order)
                if (origin[s] == no_offset) least = std::min(least, lowest(s));
            std::optional<std::uint32_t> next;
            byte_count most = 0;
            for (step_id at = 0; at != shapes.positions.size(); ++at) {
                byte_count to_come = 0;
                std::optional<std::uint32_t> first;
                for (std::uint32_t s : order) {
                    if (origin[s] != no_offset) continue;
                    for (shape_piece const& piece : shapes.pieces_of(s))
                        if (contains(piece.when, at)) to_come += piece.end - piece.begin;
                    if (!first && lowest(s) == least && contains(shapes.shapes[s].life, at)) first = s;
                }
                if (!first || (next && to_come <= most)) continue;
                next = first;
                most = to_come;
            }
            origin[*next] = least;
            height = std::max(height, least + shapes.shapes[*next].size);
        }
        REQUIRE(p.origin == origin);
        REQUIRE(p.height == height);
    }
}

} // namespace this_test
