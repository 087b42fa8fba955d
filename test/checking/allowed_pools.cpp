// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/stackings.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("who has no choice is in its own pool, for nothing")
{
    placement_problem const problem{{{{0, 1}, 8}, {{0, 1}, 8, 1, 3}}};
    auto const allowed = allowed_pools_of(problem, {0, 1});
    CHECK(allowed.cost(0, 0) == 0);
    CHECK(allowed.cost(0, 3) == no_limit);
    CHECK(allowed.cost(1, 3) == 0);
    CHECK(allowed.cost(1, 0) == no_limit);
    CHECK(allowed.count(1) == 1);
}

TEST_CASE("who has a choice is nowhere else, and pays the lower of two prices")
{
    placement_problem const problem{{{{0, 1}, 8}}, {}, {}, {}, {{0, 2, 7}, {0, 1, 4}, {0, 2, 3}}};
    auto const allowed = allowed_pools_of(problem, {0});
    CHECK(allowed.cost(0, 0) == no_limit);
    CHECK(allowed.cost(0, 1) == 4);
    CHECK(allowed.cost(0, 2) == 3);
    CHECK(allowed.least_cost(0) == 3);
    CHECK(allowed.count(0) == 2);
}

TEST_CASE("tied buffers are where all of their anchors may be")
{
    placement_problem problem{{{{0, 1}, 8}, {{0, 1}, 8}, {{0, 1}, 8}}, {}, {}, {{2, 0, 0}, {2, 1, 0}}};
    problem.choices = {{0, 0, 3}, {0, 1, 5}, {1, 1, 2}, {1, 2, 0}, {2, 0, 99}}; // 2 is anchored
    auto allowed = allowed_pools_of(problem, {0, 0, 0});
    CHECK(allowed.cost(0, 1) == 7);
    CHECK(allowed.cost(0, 0) == no_limit);
    CHECK(allowed.cost(0, 2) == no_limit);
    CHECK(allowed.count(0) == 1);
    problem.choices.resize(2);
    CHECK(allowed_pools_of(problem, {0, 0, 0}).least_cost(0) == 3);
    problem.choices = {{0, 4, 3}};
    CHECK(allowed_pools_of(problem, {0, 0, 0}).least_cost(0) == no_limit);
    problem.colocated = {{0, 1, 0}, {1, 2, 0}, {2, 0, 0}}; // all are anchored: all choose
    problem.choices = {{0, 1, 3}, {1, 1, 4}, {2, 1, 5}};
    CHECK(allowed_pools_of(problem, {0, 0, 0}).cost(0, 1) == 12);
}

TEST_CASE("a choice of nobody is refused")
{
    placement_problem const problem{{{{0, 1}, 8}}, {}, {}, {}, {{1, 0, 0}}};
    CHECK_THROWS_AS((void)allowed_pools_of(problem, {0}), precondition_error);
}

TEST_CASE("random choices are what a search through all lists says")
{
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        dice roll{std::mt19937{seed}};
        CAPTURE(seed);
        unsigned const n = 1 + roll.below(6);
        placement_problem problem;
        std::vector<buffer_id> root;
        for (buffer_id b = 0; b != n; ++b) {
            problem.buffers.push_back({{0, 1}, 8, 1, roll.below(3)});
            root.push_back(b);
        }
        for (buffer_id b = 1; b < n; ++b) {
            if (roll.below(2) == 0) continue;
            buffer_id const other = roll.below(b);
            if (roll.below(2) == 0) problem.colocated.push_back({b, other, 0});
            else problem.colocated.push_back({other, b, 0});
            buffer_id const from = std::max(root[b], root[other]), to = std::min(root[b], root[other]);
            std::replace(root.begin(), root.end(), from, to);
        }
        for (unsigned i = roll.below(12); i != 0; --i) {
            buffer_id const b = roll.below(n);
            pool_id const pool = roll.below(3);
            problem.choices.push_back({b, pool, roll.below(5)});
        }
        auto const allowed = allowed_pools_of(problem, root);
        for (buffer_id r = 0; r != n; ++r) {
            if (root[r] != r) continue;
            byte_count least = no_limit;
            for (pool_id pool = 0; pool != 3; ++pool) {
                byte_count sum = 0;
                for (buffer_id b = 0; b != n; ++b) {
                    if (root[b] != r) continue;
                    bool is_anchored = false, has_choice = false;
                    for (placement_problem::colocation const& c : problem.colocated)
                        is_anchored = is_anchored || c.buffer == b;
                    if (is_anchored) continue;
                    byte_count cost = no_limit;
                    for (placement_problem::choice const& c : problem.choices) {
                        if (c.buffer != b) continue;
                        has_choice = true;
                        if (c.pool == pool) cost = std::min(cost, c.cost);
                    }
                    if (!has_choice && problem.buffers[b].pool == pool) cost = 0;
                    sum = sum == no_limit || cost == no_limit ? no_limit : sum + cost;
                }
                CHECK(allowed.cost(r, pool) == sum);
                least = std::min(least, sum);
            }
            CHECK(allowed.least_cost(r) == least);
        }
    }
}

} // namespace this_test
