// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/search.hpp>

#include "../stacking_oracle.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

constexpr search_order widest{
    search_rule::weight, {search_key::width, search_key::total, search_key::area}, false};

struct answer {
    search_outcome outcome;
    std::vector<std::uint32_t> core;
};

answer search(placement_shapes const& all, byte_count capacity, search_rule rule, search_techniques with)
{
    auto problem = search_problem_of(scale_down(all));
    problem.set_capacity(capacity);
    stacking_search one(problem, {rule, {widest.keys[0], widest.keys[1], widest.keys[2]}, true}, with);
    auto const outcome = one.run(~std::uint64_t{0}, [](std::uint64_t) { return false; });
    if (outcome != search_outcome::exhausted) return {outcome, {}};
    return {outcome, one.core_shapes()};
}

} // namespace

TEST_CASE("a search ends with its node budget")
{
    auto problem = search_problem_of(scale_down(shapes_of_all({{{{0, 2}, 3}, {{1, 4}, 2}}})));
    problem.set_capacity(5);
    stacking_search one(problem, widest, {});
    auto never = [](std::uint64_t) { return false; };
    CHECK(one.run(1, never) == search_outcome::limit);
    CHECK(one.nodes == 1);
    CHECK(one.run(2, never) == search_outcome::found);
    CHECK(one.nodes == 2);
}

TEST_CASE("a search without shapes finds the empty stacking")
{
    CHECK(search({}, 0, search_rule::weight, {}).outcome == search_outcome::found);
}

TEST_CASE("backjumping and bounds of postponed shapes skip no stacking")
{
    random_source random{};
    std::uint32_t exhausted = 0;
    for (std::uint32_t i = 0; i != 400; ++i) {
        CAPTURE(i);
        bool const is_plain = random.below(2) == 0;
        auto const problem = random_stacking(random, {11, 9, 9, !is_plain, !is_plain, !is_plain, !is_plain});
        auto const all = shapes_of_all(problem);
        if (all.fault != shape_fault::none) continue;
        byte_count load = 0;
        for (position_id r = 0; r < all.positions.size(); ++r) {
            byte_count alive = 0;
            for (shape_piece const& p : all.pieces)
                if (contains(p.when, r)) alive += p.end - p.begin;
            load = larger(load, alive);
        }
        for (byte_count more : {0u, 1u, 3u}) {
            byte_count const capacity = load + more;
            for (search_rule rule : {search_rule::weight, search_rule::slack, search_rule::lowest}) {
                auto const full = search(all, capacity, rule, {});
                auto const bare = search(all, capacity, rule, {false, false, false, false});
                REQUIRE(full.outcome == bare.outcome);
                if (full.outcome != search_outcome::exhausted) continue;
                ++exhausted;
                // The core is infeasible on its own, too.
                std::vector<buffer_id> members;
                for (std::uint32_t s : full.core)
                    for (shape_part const& p : all.parts)
                        if (p.shape == s) members.push_back(p.buffer);
                auto const few = shapes_of(problem, members);
                REQUIRE(search(few, capacity, rule, {false, false, false, false}).outcome ==
                        search_outcome::exhausted);
            }
        }
    }
    CHECK(exhausted > 200);
}

// --- search orders -----------------------------------------------------------------------------------------

namespace {

constexpr search_key total = search_key::total, width = search_key::width, area = search_key::area,
                     size = search_key::size;

std::vector<std::uint32_t> ranked(search_key first, search_key second, search_key third)
{
    // The sections have loads of 5, 6 and 13; shapes 2 and 3 meet in the last one.
    auto const all = shapes_of_all({{{{0, 2}, 3}, {{1, 4}, 2}, {{3, 6}, 4}, {{4, 7}, 9}}});
    return rank_by({search_rule::weight, {first, second, third}, false}, search_problem_of(scale_down(all)));
}

} // namespace

TEST_CASE("shapes are ranked by three keys, the largest first, then by number")
{
    CHECK(ranked(width, total, area) == std::vector<std::uint32_t>{3, 2, 1, 0});
    CHECK(ranked(total, size, width) == std::vector<std::uint32_t>{3, 2, 1, 0});
    CHECK(ranked(size, width, area) == std::vector<std::uint32_t>{3, 2, 0, 1});
    CHECK(ranked(area, width, size) == std::vector<std::uint32_t>{3, 2, 1, 0});
    CHECK(ranked(total, width, width) == std::vector<std::uint32_t>{2, 3, 1, 0});
}

TEST_CASE("random orders have different keys and are deterministic")
{
    bool differ = false;
    for (std::uint32_t restart = 0; restart != 200; ++restart) {
        search_order const one = draw_order(7, restart, 1), same = draw_order(7, restart, 1);
        CHECK(one.rule == same.rule);
        CHECK(one.by_failures == same.by_failures);
        for (int i = 0; i != 3; ++i) {
            CHECK(one.keys[i] == same.keys[i]);
            for (int j = 0; j != i; ++j) CHECK(one.keys[i] != one.keys[j]);
        }
        search_order const other = draw_order(8, restart, 1);
        differ |= one.rule != other.rule || one.keys[0] != other.keys[0];
    }
    CHECK(differ);
}

} // namespace this_test
