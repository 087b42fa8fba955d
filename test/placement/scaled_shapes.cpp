// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/sections.hpp>

#include "../stacking_oracle.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

scaled_shapes scaled(placement_problem const& problem) { return scale_down(shapes_of_all(problem)); }

} // namespace

TEST_CASE("numbers are counted in the greatest unit that divides all that matters")
{
    CHECK(scaled({{{{0, 2}, 48}, {{1, 3}, 80}}}).unit == 16);
    CHECK(scaled({{{{0, 2}, 48, 4}, {{1, 3}, 80, 8}}}).unit == 16);
    CHECK(scaled({{{{0, 2}, 48}, {{1, 3}, 80}}, {}, {{0, {1, 2}, 8, 16}}}).unit == 8);
    CHECK(scaled({{{{0, 2}, 48}, {{1, 3}, 80, 1, 0, 4}}}).unit == 4);
}

TEST_CASE("where all origins are multiples of an alignment, ends are rounded up to it")
{
    auto const result = scaled({{{{0, 2}, 50, 64}, {{1, 3}, 80, 64}}});
    CHECK(result.unit == 64);
    CHECK(result.shapes.pieces[0].end == 1);
    CHECK(result.shapes.pieces[1].end == 2);
    CHECK(result.shapes.shapes[0].size == 50);
    // One byte that need not be aligned, and nothing can be rounded.
    CHECK(scaled({{{{0, 2}, 50, 64}, {{1, 3}, 80, 64}, {{0, 1}, 1}}}).unit == 1);
}

TEST_CASE("an alignment that does not divide the unit is a multiple of it")
{
    auto const result = scaled({{{{0, 2}, 48, 24}, {{1, 3}, 80}}});
    CHECK(result.unit == 8);
    CHECK(result.shapes.shapes[0].alignment == 3);
    CHECK(result.shapes.shapes[1].alignment == 1);
}

TEST_CASE("no shapes are counted in bytes")
{
    CHECK(scaled({}).unit == 1);
    CHECK(scaled({}).enough == 0);
}

TEST_CASE("in whatever order shapes are stacked, they end within enough")
{
    dice random{};
    for (std::uint32_t i = 0; i != 300; ++i) {
        CAPTURE(i);
        auto const all = shapes_of_all(random_stacking(random, {5, 6, 6, true, true, true, true}));
        if (all.fault != shape_fault::none) continue;
        auto const lowest = lowest_stacking(all);
        scaled_shapes const result = scale_down(all);
        if (lowest) CHECK(*lowest <= result.enough * result.unit);
    }
}

} // namespace this_test
