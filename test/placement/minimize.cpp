// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/portfolio.hpp>

#include "../stacking_oracle.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

constexpr packing none{{}, no_limit, 0};

minimized minimize_steadily(placement_shapes const& all, byte_count bound, packing const& incumbent)
{
    steady driver;
    return minimize(all, bound, incumbent, {}, driver);
}

} // namespace

TEST_CASE("a stacking as high as the bound is the lowest")
{
    auto const all = shapes_of_all({{{{0, 2}, 3}, {{1, 4}, 2}, {{3, 5}, 4}}});
    auto const result = minimize_steadily(all, 6, none);
    CHECK(result.is_proved);
    CHECK(result.best.height == 6);
    CHECK(is_placed(all, result.best.origin, 6));
    CHECK(result.blamed.empty());
}

TEST_CASE("an incumbent at the bound stays")
{
    auto const all = shapes_of_all({{{{0, 2}, 3}}});
    auto const result = minimize_steadily(all, 3, {{0}, 3, 7});
    CHECK(result.is_proved);
    CHECK(result.nodes == 0);
    CHECK(result.best.visits == 7);
}

TEST_CASE("no shapes have a height of 0")
{
    auto const result = minimize_steadily({}, 0, none);
    CHECK(result.is_proved);
    CHECK(result.best.height == 0);
}

TEST_CASE("pins that clash have no height")
{
    auto const all = shapes_of_all({{{{0, 2}, 3, 1, 0, 4}, {{1, 4}, 2, 1, 0, 5}, {{0, 4}, 1}}});
    auto const result = minimize_steadily(all, 7, none);
    CHECK(result.is_proved);
    CHECK(result.bound == no_limit);
    CHECK(result.best.height == no_limit);
    CHECK(result.blamed == std::vector<std::uint32_t>{0, 2});
}

TEST_CASE("the lowest stacking is that of all orders, from wherever one starts")
{
    dice random{};
    for (std::uint32_t i = 0; i != 1500; ++i) {
        CAPTURE(i);
        bool const is_plain = random.below(3) == 0;
        auto const problem = random_stacking(random, {6, 6, 9, !is_plain, !is_plain, !is_plain, !is_plain});
        auto const all = shapes_of_all(problem);
        if (all.fault != shape_fault::none) continue;
        auto const lowest = lowest_stacking(all);
        auto const result = minimize_steadily(all, 0, none);
        REQUIRE(result.best.height == lowest.value_or(no_limit));
        REQUIRE(result.least_stacking == result.best.height);
        std::vector<std::uint32_t> shapes(all.size());
        std::iota(shapes.begin(), shapes.end(), 0u);
        if (can_only_be_stacked(all, shapes)) REQUIRE(result.is_proved);
        REQUIRE(result.is_proved == (result.bound == result.best.height));
        if (result.bound != 0) REQUIRE(can_only_be_stacked(all, result.blamed));
        if (!lowest) continue;
        REQUIRE(is_placed(all, result.best.origin, *lowest));
        packing worse = result.best;
        worse.height += random.below(40);
        auto const again =
            minimize_steadily(all, random.below(static_cast<std::uint32_t>(*lowest) + 1), worse);
        REQUIRE(again.least_stacking == *lowest);
        REQUIRE(again.best.height == *lowest);
    }
}

TEST_CASE("nodes are a limit, and what is returned then is still true")
{
    dice random{};
    for (std::uint32_t i = 0; i != 300; ++i) {
        CAPTURE(i);
        auto const all = shapes_of_all(random_stacking(random, {7, 6, 9, true, false, true, false}));
        auto const lowest = lowest_stacking(all);
        steady driver;
        auto const result = minimize(all, 0, none, {.nodes = random.below(40)}, driver);
        REQUIRE(result.bound <= *lowest);
        REQUIRE(result.best.height >= *lowest);
        if (result.best.height != no_limit) REQUIRE(is_placed(all, result.best.origin, result.best.height));
    }
}

TEST_CASE("where shapes can be threaded stackings are exhausted, and the bound stays")
{
    auto const all =
        shapes_of_all({{{{0, 4}, 2}, {{0, 4}, 2}},
                       {},
                       {{0, {0, 2}, 0, 1}, {0, {2, 4}, 1, 2}, {1, {0, 2}, 1, 2}, {1, {2, 4}, 0, 1}}});
    auto const stacked = minimize_steadily(all, 2, none);
    CHECK(stacked.best.height == 4);
    CHECK(stacked.least_stacking == 4);
    CHECK(stacked.bound == 2);
    CHECK(!stacked.is_proved);
    CHECK(stacked.blamed.empty());

    // One that is lower than all stackings is kept; that none is below 2 is proved by one shape alone.
    auto const threaded = minimize_steadily(all, 1, {{0, 0}, 2, 0});
    CHECK(threaded.best.height == 2);
    CHECK(threaded.is_proved);
    CHECK(threaded.blamed.size() == 1);
}

TEST_CASE("the next height is no sum that wraps round")
{
    byte_count const unit = byte_count{1} << 60;
    auto const all = shapes_of_all({{{{0, 3}, 3 * unit, 2 * unit}, {{0, 3}, 1, 2 * unit}}});
    CHECK(detail::next_height(all, 2 * unit, 13 * unit) == 14 * unit + 1);
    CHECK(detail::next_height(all, 2 * unit, 14 * unit + 1) == 15 * unit); // not 16 units and 1, which is 1
    CHECK(detail::next_height(all, 2 * unit, 15 * unit) == no_limit);
}

TEST_CASE("what no height between can change is not tried at each height")
{
    // 7 bytes more than a multiple of 1000 for each of three: heights by the byte would be thousands.
    auto const all = shapes_of_all({{{{0, 1}, 1007, 1000}, {{0, 1}, 1007, 1000}, {{0, 1}, 1007, 1000}}});
    auto const result = minimize_steadily(all, 3021, none);
    CHECK(result.is_proved);
    CHECK(result.best.height == 5007);
    CHECK(result.nodes < 200);
}

} // namespace this_test
