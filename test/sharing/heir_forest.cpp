// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/token_sets.hpp>

#include "dice.hpp"
#include "random_tasks.hpp"
#include "task_families.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

dependence_graph graph_of(std::vector<std::vector<int>> const& operands)
{
    auto const p = sequence(
        operands.size(), operands.size(), [&](auto s) -> auto& { return operands[s]; },
        [](auto s) { return std::vector{s}; });
    return dependences(p, {.order = dependence_options::position_order::as_listed});
}

} // namespace

TEST_CASE("the picture: two branches of equal length, the heir of their fork is in the first")
{
    CHECK(heir_forest(graph_of({{}, {0}, {1}, {0}, {3}, {2, 4}})) ==
          std::vector<token_range>{{5, 6}, {4, 6}, {3, 6}, {2, 3}, {1, 3}, {0, 6}});
}

TEST_CASE("the heir has the longest way left")
{
    // 0 leads to 1, which ends there, and to 2, which leads to 3
    CHECK(heir_forest(graph_of({{}, {0}, {0}, {2}})) ==
          std::vector<token_range>{{2, 3}, {3, 4}, {1, 3}, {0, 3}});
}

TEST_CASE("nothing, and one alone")
{
    CHECK(heir_forest(graph_of({})).empty());
    CHECK(heir_forest(graph_of({{}})) == std::vector<token_range>{{0, 1}});
}

TEST_CASE("random graphs: the subtree of a position is who leads there from heir to heir")
{
    for (unsigned seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        auto const tasks = draw_tasks(roll, {.tasks = 1 + roll.below(40), .back = roll.below(10)});
        auto const g = dependences(tasks.program(), {.role = tasks.role});
        std::size_t const n = g.positions();
        std::vector<step_id> left(n, 0), heir(n, no_step);
        for (std::size_t x = n; x-- != 0;)
            for (step_id y : g.after[x])
                if (heir[x] == no_step || left[y] > left[heir[x]]) {
                    heir[x] = y;
                    left[x] = left[y] + 1;
                }
        auto const forest = heir_forest(g);
        std::vector<bool> given(n);
        for (std::size_t x = 0; x != n; ++x) {
            REQUIRE(forest[x].first < n);
            REQUIRE(!given[forest[x].first]);
            given[forest[x].first] = true;
        }
        for (std::size_t y = 0; y != n; ++y)
            for (step_id x = 0; x != n; ++x) {
                step_id at = x;
                while (at != y && heir[at] != no_step) at = heir[at];
                bool const is_in = forest[y].first <= forest[x].first && forest[x].first < forest[y].last;
                REQUIRE(is_in == (at == y));
            }
    }
}

} // namespace this_test
