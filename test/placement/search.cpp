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
    std::vector<std::uint32_t> blamed;
};

answer search(placement_shapes const& all, byte_count capacity, search_rule rule, search_techniques with)
{
    auto problem = search_problem_of(scale_down(all));
    problem.set_capacity(capacity);
    stacking_search one(problem, {rule, {widest.keys[0], widest.keys[1], widest.keys[2]}, true}, with);
    auto const outcome = one.run(~std::uint64_t{0}, [](std::uint64_t) { return false; });
    if (outcome != search_outcome::exhausted) return {outcome, {}};
    return {outcome, one.shapes_blamed()};
}

} // namespace

TEST_CASE("a search ends when its budget does")
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

TEST_CASE("nothing is stacked at once")
{
    CHECK(search({}, 0, search_rule::weight, {}).outcome == search_outcome::found);
}

TEST_CASE("jumping back over decisions, and bounds for those that wait, skip no stacking")
{
    dice random{};
    std::uint32_t exhausted = 0;
    for (std::uint32_t i = 0; i != 400; ++i) {
        CAPTURE(i);
        bool const is_plain = random.below(2) == 0;
        auto const problem = random_stacking(random, {11, 9, 9, !is_plain, !is_plain, !is_plain, !is_plain});
        auto const all = shapes_of_all(problem);
        if (all.fault != shape_fault::none) continue;
        byte_count load = 0;
        for (step_id r = 0; r < all.positions.size(); ++r) {
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
                // Those to blame fail on their own, too.
                std::vector<buffer_id> members;
                for (std::uint32_t s : full.blamed)
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

} // namespace this_test
