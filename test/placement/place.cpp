// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/place.hpp>

#include "random_source.hpp"

#include <sublet/placement/pack.hpp>

#include <doctest/doctest.h>

#include <stop_token>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

placement_problem draw(std::uint32_t seed)
{
    random_source pick{std::mt19937(seed)};
    placement_problem problem;
    for (std::uint32_t i = 0, n = 1 + pick.below(14); i != n; ++i) {
        step_id const first = pick.below(10), last = first + 1 + pick.below(6);
        byte_count const size = 1 + pick.below(12), alignment = 1 + pick.below(4);
        problem.buffers.push_back({{first, last}, size, alignment, pick.below(2)});
    }
    return problem;
}

} // namespace

TEST_CASE("by default place() gives the result of pack() for any number of threads")
{
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        auto const problem = draw(seed);
        auto const packed = pack(problem), placed = place(problem);
        CHECK(placed.offset == packed.offset);
        CHECK(placed.status == packed.status);
        CHECK(!placed.is_timed_out);
        CHECK(placed.pool_of.empty());
        CHECK(placed.moved_bytes == 0);
        if (seed % 10 == 0) CHECK(place(problem, {.threads = 3}).offset == packed.offset);
    }
}

TEST_CASE("a stop request returns the best so far and sets is_timed_out")
{
    std::stop_source source;
    source.request_stop();
    placement_problem const problem{{{{0, 2}, 3, 4}, {{0, 2}, 3, 4}, {{1, 3}, 5}}};
    auto const p = place(problem, {.stop = source.get_token()});
    CHECK(p.is_timed_out);
    CHECK(p.status == placement::outcome::feasible);
    CHECK(p.pools[0].packings == 1);
    CHECK(place(problem, {.time_limit = 1e-9}).is_timed_out);
    CHECK(!place(problem).is_timed_out);
    // A proof is valid however little time there was.
    CHECK(!place(placement_problem{{{{0, 2}, 8}}}, {.stop = source.get_token()}).is_timed_out);
}

TEST_CASE("the listener gets the first placement, even if it is the last")
{
    byte_count reported_best = no_limit, bound = 0;
    auto const p = place(placement_problem{{{{0, 2}, 64}, {{1, 3}, 32}}},
                         {.progress = [&](byte_count best, byte_count below, std::uint64_t) {
                             reported_best = best;
                             bound = below;
                         }});
    CHECK(reported_best == 96);
    CHECK(bound == 96);
    CHECK(p.pools[0].height == 96);
}

TEST_CASE("options are values that may be kept, copied and reused")
{
    auto const options = [] {
        place_options o;
        o.previous = std::vector<byte_count>{32, 0};
        o.keep = [](value_id b) { return b == 1; };
        return o;
    }();
    place_options const copy = options;
    placement_problem const problem{{{{0, 2}, 64}, {{1, 3}, 32}}};
    CHECK(place(problem, copy).offset == std::vector<byte_count>{32, 0});
    CHECK(place(problem, options).moved_bytes == 0);
}

TEST_CASE("a buffer with choices is placed in one of its pools, and the cost is reported")
{
    placement_problem problem{{{{0, 2}, 64}, {{1, 3}, 32}, {{2, 4}, 64}}, {{80, 1}, {}}};
    for (buffer_id b = 0; b != 3; ++b) {
        problem.choices.push_back({b, 0, 0});
        problem.choices.push_back({b, 1, 10});
    }
    auto const p = place(problem);
    CHECK(p.pool_of == std::vector<pool_id>{0, 1, 0});
    CHECK(p.cost == 10);
    CHECK(p.cost_bound == 0);
    CHECK(p.status == placement::outcome::feasible); // no proof that 10 is the least
    CHECK(p.offset == std::vector<byte_count>{0, 0, 0});
    problem.pools[0].capacity = 96;
    auto const wide = place(problem);
    CHECK(wide.cost == 0);
    CHECK(wide.status == placement::outcome::optimal);
    CHECK(wide.pool_of == std::vector<pool_id>{0, 0, 0});
}

TEST_CASE("a problem is infeasible only if no choice of pools can help, else it is a limit")
{
    placement_problem problem{{{{0, 2}, 64}, {{1, 3}, 32}, {{1, 4}, 64}}, {{80, 1}, {40, 1}}};
    problem.choices = {{1, 0, 0}, {1, 1, 5}};
    auto const forced = place(problem); // 0 and 2 have no choice
    CHECK(forced.status == placement::outcome::infeasible);
    CHECK(forced.pool == 0);
    CHECK(forced.pools[0].proof.bytes == 128);
    problem.choices.push_back({2, 0, 0});
    problem.choices.push_back({2, 1, 0});
    auto const stuck = place(problem); // 64 bytes fit nowhere
    CHECK(stuck.status == placement::outcome::limit);
}

TEST_CASE("violated preconditions are refused")
{
    placement_problem const problem{{{{0, 2}, 64}, {{1, 3}, 32}}};
    CHECK_THROWS_AS((void)place(problem, {.time_limit = -1}), precondition_error);
    CHECK_THROWS_AS((void)place(problem, {.previous = std::vector<byte_count>{1}}), precondition_error);
    CHECK_THROWS_AS((void)place(problem, {.keep = true}), precondition_error);
    CHECK_THROWS_AS((void)place(placement_problem{{{{0, 1}, 8, 0}}}), precondition_error);
}

} // namespace this_test
