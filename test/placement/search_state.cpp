// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/search_state.hpp>

#include "../stacking_oracle.hpp"

#include <sublet/placement/detail/search.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct prepared {
    search_problem problem;
    search_state state;
    prepared(placement_shapes const& all, byte_count capacity) : problem(search_problem_of(scale_down(all)))
    {
        problem.set_capacity(capacity);
        state.set_problem(problem);
        state.weight.assign(problem.sections + problem.shapes, 0);
    }
};

} // namespace

TEST_CASE("a placed shape raises the min_origin of its neighbours")
{
    prepared p(shapes_of_all({{{{0, 2}, 3}, {{1, 4}, 2}, {{3, 5}, 4}}}), 9);
    REQUIRE(p.state.reset());
    REQUIRE(p.state.place(0, 1));
    CHECK(p.state.min_origin == std::vector<search_number>{0, 3, 0});
    CHECK(p.state.unplaced_height == std::vector<search_number>{2, 6});
    REQUIRE(p.state.place(1, 2));
    CHECK(p.state.min_origin[2] == 5);
}

TEST_CASE("a postponed shape is not below the lowest neighbour that it could wait for")
{
    prepared p(shapes_of_all({{{{0, 2}, 3}, {{0, 2}, 2}, {{0, 2}, 4}}}), 20);
    REQUIRE(p.state.reset());
    REQUIRE(p.state.postpone(0, 1));
    CHECK(p.state.lb[0] == 2);
    CHECK(p.state.postponed_at[0] == 0);
    REQUIRE(p.state.place(1, 2));
    CHECK(p.state.postponed_at[0] == -1);
    CHECK(p.state.lb[0] == 2);
}

TEST_CASE("postponing a shape without lower neighbours is a conflict")
{
    prepared p(shapes_of_all({{{{0, 2}, 3}, {{3, 5}, 2}}}), 20);
    REQUIRE(p.state.reset());
    CHECK_FALSE(p.state.postpone(0, 1));
    CHECK(p.state.conflict.needs_decision(0));
    CHECK_FALSE(p.state.conflict.needs_decision(1));
}

TEST_CASE("undo restores the earlier state")
{
    for_random_stackings(300, {8, 8, 6, true, true, true, true}, [](auto& random, auto&, auto& all) {
        prepared p(all, 20 + random.below(60));
        auto& s = p.state;
        if (p.problem.shapes == 0 || !s.reset()) return;
        struct step {
            std::uint32_t shape;
            bool is_postponed;
            std::size_t mark;
            std::vector<search_number> min_origin, lb, postponed_at, unplaced_height;
            std::vector<std::uint32_t> cut;
        };
        std::vector<step> steps;
        for (std::uint32_t depth = 1; depth != 30; ++depth) {
            std::uint32_t const k = random.below(p.problem.shapes);
            if (s.lb[k] == s.placed_bound || s.postponed_at[k] >= 0) continue;
            bool const is_postponed = random.below(3) == 0;
            steps.push_back({k, is_postponed, s.trail.size(), s.min_origin, s.lb, s.postponed_at,
                             s.unplaced_height, s.cut});
            if (!(is_postponed ? s.postpone(k, depth) : s.place(k, depth))) break;
        }
        for (; !steps.empty(); steps.pop_back()) {
            step const& before = steps.back();
            s.undo(before.mark);
            if (before.is_postponed) s.undo_postpone();
            else s.undo_place(before.shape);
            REQUIRE(s.min_origin == before.min_origin);
            REQUIRE(s.lb == before.lb);
            REQUIRE(s.postponed_at == before.postponed_at);
            REQUIRE(s.unplaced_height == before.unplaced_height);
            REQUIRE(s.cut == before.cut);
        }
    });
}

// --- search conflict ---------------------------------------------------------------------------------------

namespace {

std::vector<std::uint32_t> core_of(placement_problem const& problem, byte_count capacity)
{
    auto of = search_problem_of(scale_down(shapes_of_all(problem)));
    of.set_capacity(capacity);
    stacking_search search(of, search_orders[0], {});
    REQUIRE(search.run(100, [](std::uint64_t) { return false; }) == search_outcome::exhausted);
    return search.core_shapes();
}

} // namespace

TEST_CASE("the conflict of a shape that is too large contains only that shape")
{
    CHECK(core_of({{{{0, 2}, 3}, {{1, 4}, 20}}}, 10) == std::vector<std::uint32_t>{1});
}

TEST_CASE("the conflict of an overfull section contains no shapes of earlier and later sections")
{
    CHECK(core_of({{{{0, 2}, 3}, {{1, 3}, 4}, {{2, 4}, 4}, {{2, 4}, 3}, {{4, 5}, 9}}}, 10) ==
          std::vector<std::uint32_t>{1, 2, 3});
}

TEST_CASE("pins that leave too little room are in the conflict with the shape that does not fit")
{
    CHECK(core_of({{{{0, 4}, 2, 1, 0, 3}, {{0, 4}, 4, 1, 0, 8}, {{1, 2}, 4}, {{4, 6}, 5}}}, 12) ==
          std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("the reasons of an origin include those of the shape that raised it")
{
    auto of =
        search_problem_of(scale_down(shapes_of_all({{{{0, 2}, 3}, {{0, 4}, 2}, {{3, 5}, 6}, {{8, 9}, 1}}})));
    of.set_capacity(10);
    search_state state;
    state.set_problem(of);
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
