// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/search_state.hpp>

#include <sublet/placement/detail/search.hpp>

#include "../stacking_oracle.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::vector<std::uint32_t> to_blame(placement_problem const& problem, byte_count capacity)
{
    auto of = search_problem_of(scale_down(shapes_of_all(problem)));
    of.set_capacity(capacity);
    stacking_search search(of, search_orders[0], {});
    REQUIRE(search.run(100, [](std::uint64_t) { return false; }) == search_outcome::exhausted);
    return search.shapes_blamed();
}

} // namespace

TEST_CASE("who is too large is to blame, and nobody else")
{
    CHECK(to_blame({{{{0, 2}, 3}, {{1, 4}, 20}}}, 10) == std::vector<std::uint32_t>{1});
}

TEST_CASE("too much at one time is to blame, and not what lives before and after")
{
    CHECK(to_blame({{{{0, 2}, 3}, {{1, 3}, 4}, {{2, 4}, 4}, {{2, 4}, 3}, {{4, 5}, 9}}}, 10) ==
          std::vector<std::uint32_t>{1, 2, 3});
}

TEST_CASE("pins that leave too little room are to blame with what does not fit between them")
{
    CHECK(to_blame({{{{0, 4}, 2, 1, 0, 3}, {{0, 4}, 4, 1, 0, 8}, {{1, 2}, 4}, {{4, 6}, 5}}}, 12) ==
          std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("the reasons of a place are those of whoever holds it up")
{
    auto of =
        search_problem_of(scale_down(shapes_of_all({{{{0, 2}, 3}, {{0, 4}, 2}, {{3, 5}, 6}, {{8, 9}, 1}}})));
    of.set_capacity(10);
    search_state state;
    state.use(of);
    state.weight.assign(of.sections + of.shapes, 0);
    REQUIRE(state.reset());
    REQUIRE(state.place(3, 1));
    REQUIRE(state.place(0, 2));
    CHECK_FALSE(state.place(1, 3)); // 2 would have to lie above 3 + 2 bytes
    CHECK(state.conflict.needs_decision(0));
    CHECK(state.conflict.needs_decision(1));
    CHECK_FALSE(state.conflict.needs_decision(3));
    CHECK(state.conflict.has_shape(2));
    CHECK_FALSE(state.conflict.has_shape(3));
}

} // namespace this_test
