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

search_result decide_steadily(placement_shapes const& all, byte_count capacity, search_options options = {})
{
    deterministic_control control;
    return decide(all, capacity, options, control);
}

/// Compares decide() with the oracle at heights around the lowest one.
void compare_with_oracle(stacking_traits traits, search_techniques techniques, std::uint32_t problems)
{
    for_random_stackings(problems, traits, [&](auto&, auto& problem, auto& all) {
        auto const lowest = lowest_stacking(all);
        byte_count const about = lowest ? *lowest : 60;
        for (byte_count below : {0u, 1u, 2u, 5u}) {
            if (below > about) continue;
            byte_count const capacity = about - below;
            CAPTURE(capacity);
            auto const result = decide_steadily(all, capacity, {.techniques = techniques});
            REQUIRE(result.outcome ==
                    (lowest && capacity >= *lowest ? search_outcome::found : search_outcome::exhausted));
            if (result.outcome == search_outcome::found) {
                REQUIRE(is_placed(all, result.origin, capacity));
                REQUIRE(result.height <= capacity);
                continue;
            }
            REQUIRE(result.height > capacity);
            REQUIRE(result.height <= lowest.value_or(no_limit));
            std::vector<buffer_id> members;
            for (std::uint32_t s : result.core)
                for (shape_part const& p : all.parts)
                    if (p.shape == s) members.push_back(p.buffer);
            auto const without = lowest_stacking(shapes_of(problem, members));
            REQUIRE((!without || *without > capacity));
        }
    });
}

constexpr stacking_traits everything{6, 6, 6, true, true, true, true};

} // namespace

TEST_CASE("plain buffers: decide() agrees with all stacking orders")
{
    compare_with_oracle({6, 8, 6, false, false, false, false}, {}, 1500);
}

TEST_CASE("gaps and windows: decide() agrees with all stacking orders")
{
    compare_with_oracle({6, 6, 6, true, false, false, false}, {}, 1500);
}

TEST_CASE("pins: decide() agrees with all stacking orders")
{
    compare_with_oracle({6, 6, 6, false, true, false, false}, {}, 1500);
}

TEST_CASE("alignments: decide() agrees with all stacking orders")
{
    compare_with_oracle({6, 6, 6, false, false, true, false}, {}, 1500);
}

TEST_CASE("all features together: decide() agrees with all stacking orders")
{
    compare_with_oracle(everything, {}, 2500);
}

TEST_CASE("heights near 2^64 are decided without overflow")
{
    byte_count const unit = byte_count{1} << 60; // at 0, 4 and 8 units
    auto const all = shapes_of_all({std::vector<placement_problem::buffer>(3, {{0, 3}, 3 * unit, 2 * unit})});
    for (byte_count capacity : {11 * unit, 13 * unit, 16 * unit - 1}) {
        auto const result = decide_steadily(all, capacity);
        REQUIRE(result.outcome == search_outcome::found);
        CHECK(result.height == 11 * unit);
    }
    CHECK(decide_steadily(all, 11 * unit - 1).outcome == search_outcome::exhausted);
}

TEST_CASE("each search technique may be switched off")
{
    for (unsigned which = 0; which != 16; ++which) {
        CAPTURE(which);
        search_techniques const techniques{(which & 1) != 0, (which & 2) != 0, (which & 4) != 0,
                                           (which & 8) != 0};
        compare_with_oracle(everything, techniques, 300);
    }
}

namespace {

/// Runs the last task first, as several threads might.
struct backwards : deterministic_control {
    void run(std::size_t tasks, task_ref task) override
    {
        while (tasks-- != 0) task(tasks);
    }
};

struct stops_at_once : deterministic_control {
    std::uint32_t asked = 0;
    bool stop(byte_count, byte_count, std::uint64_t) override { return ++asked > 2; }
};

} // namespace

TEST_CASE("the result does not depend on the order in which searches run")
{
    random_source random{};
    for (std::uint32_t i = 0; i != 200; ++i) {
        CAPTURE(i);
        auto const all = shapes_of_all(random_stacking(random, {30, 20, 20, true, false, true, false}));
        deterministic_control forwards;
        backwards last_first;
        byte_count const capacity = 60 + random.below(60);
        auto const one = decide(all, capacity, {.nodes = 3000}, forwards);
        auto const other = decide(all, capacity, {.nodes = 3000}, last_first);
        REQUIRE(one.outcome == other.outcome);
        REQUIRE(one.origin == other.origin);
        REQUIRE(one.nodes == other.nodes);
        REQUIRE(one.core == other.core);
        REQUIRE(one.height == other.height);
    }
}

TEST_CASE("a control stops a portfolio between searches and within them")
{
    // 124 bytes are live together and fit, but not with their alignments: the proof takes long.
    placement_problem problem;
    for (std::uint32_t i = 0; i != 14; ++i)
        problem.buffers.push_back({{0, 2}, 7 + i % 5, i % 2 == 0 ? 8u : 3u});
    stops_at_once control;
    auto const result = decide(shapes_of_all(problem), 126, {.nodes = 1'000'000}, control);
    CHECK(result.outcome == search_outcome::limit);
    CHECK(control.asked == 6); // before each search, within the first, and after all
    CHECK(result.nodes < 10'000);
}

// --- minimize ----------------------------------------------------------------------------------------------

namespace {

constexpr packing none{{}, no_limit, 0};

minimize_result minimize_deterministic(placement_shapes const& all, byte_count bound,
                                       packing const& incumbent)
{
    deterministic_control control;
    return minimize(all, bound, incumbent, {}, control);
}

} // namespace

TEST_CASE("a stacking at the bound is proved to be lowest")
{
    auto const all = shapes_of_all({{{{0, 2}, 3}, {{1, 4}, 2}, {{3, 5}, 4}}});
    auto const result = minimize_deterministic(all, 6, none);
    CHECK(result.is_proved);
    CHECK(result.best.height == 6);
    CHECK(is_placed(all, result.best.origin, 6));
    CHECK(result.core.empty());
}

TEST_CASE("an incumbent at the bound is returned")
{
    auto const all = shapes_of_all({{{{0, 2}, 3}}});
    auto const result = minimize_deterministic(all, 3, {{0}, 3, 7});
    CHECK(result.is_proved);
    CHECK(result.nodes == 0);
    CHECK(result.best.visits == 7);
}

TEST_CASE("the height without shapes is 0")
{
    auto const result = minimize_deterministic({}, 0, none);
    CHECK(result.is_proved);
    CHECK(result.best.height == 0);
}

TEST_CASE("conflicting pins have no height")
{
    auto const all = shapes_of_all({{{{0, 2}, 3, 1, 0, 4}, {{1, 4}, 2, 1, 0, 5}, {{0, 4}, 1}}});
    auto const result = minimize_deterministic(all, 7, none);
    CHECK(result.is_proved);
    CHECK(result.bound == no_limit);
    CHECK(result.best.height == no_limit);
    CHECK(result.core == std::vector<std::uint32_t>{0, 2});
}

TEST_CASE("the lowest stacking agrees with all orders, for any incumbent")
{
    random_source random{};
    for (std::uint32_t i = 0; i != 1500; ++i) {
        CAPTURE(i);
        bool const is_plain = random.below(3) == 0;
        auto const problem = random_stacking(random, {6, 6, 9, !is_plain, !is_plain, !is_plain, !is_plain});
        auto const all = shapes_of_all(problem);
        if (all.fault != shape_fault::none) continue;
        auto const lowest = lowest_stacking(all);
        auto const result = minimize_deterministic(all, 0, none);
        REQUIRE(result.best.height == lowest.value_or(no_limit));
        REQUIRE(result.least_stacking == result.best.height);
        std::vector<std::uint32_t> shapes(all.size());
        std::iota(shapes.begin(), shapes.end(), 0u);
        if (can_only_be_stacked(all, shapes)) REQUIRE(result.is_proved);
        REQUIRE(result.is_proved == (result.bound == result.best.height));
        if (result.bound != 0) REQUIRE(can_only_be_stacked(all, result.core));
        if (!lowest) continue;
        REQUIRE(is_placed(all, result.best.origin, *lowest));
        packing worse = result.best;
        worse.height += random.below(40);
        auto const again =
            minimize_deterministic(all, random.below(static_cast<std::uint32_t>(*lowest) + 1), worse);
        REQUIRE(again.least_stacking == *lowest);
        REQUIRE(again.best.height == *lowest);
    }
}

TEST_CASE("after the node limit the returned bound and height are still valid")
{
    random_source random{};
    for (std::uint32_t i = 0; i != 300; ++i) {
        CAPTURE(i);
        auto const all = shapes_of_all(random_stacking(random, {7, 6, 9, true, false, true, false}));
        auto const lowest = lowest_stacking(all);
        deterministic_control control;
        auto const result = minimize(all, 0, none, {.nodes = random.below(40)}, control);
        REQUIRE(result.bound <= *lowest);
        REQUIRE(result.best.height >= *lowest);
        if (result.best.height != no_limit) REQUIRE(is_placed(all, result.best.origin, result.best.height));
    }
}

TEST_CASE("if shapes can be threaded, exhausted stackings do not raise the bound")
{
    auto const all =
        shapes_of_all({{{{0, 4}, 2}, {{0, 4}, 2}},
                       {},
                       {{0, {0, 2}, 0, 1}, {0, {2, 4}, 1, 2}, {1, {0, 2}, 1, 2}, {1, {2, 4}, 0, 1}}});
    auto const stacked = minimize_deterministic(all, 2, none);
    CHECK(stacked.best.height == 4);
    CHECK(stacked.least_stacking == 4);
    CHECK(stacked.bound == 2);
    CHECK(!stacked.is_proved);
    CHECK(stacked.core.empty());

    // An incumbent below all stackings is kept; one shape alone proves that nothing is below 2.
    auto const threaded = minimize_deterministic(all, 1, {{0, 0}, 2, 0});
    CHECK(threaded.best.height == 2);
    CHECK(threaded.is_proved);
    CHECK(threaded.core.size() == 1);
}

TEST_CASE("the next height does not overflow")
{
    byte_count const unit = byte_count{1} << 60;
    auto const all = shapes_of_all({{{{0, 3}, 3 * unit, 2 * unit}, {{0, 3}, 1, 2 * unit}}});
    CHECK(detail::next_height(all, 2 * unit, 13 * unit) == 14 * unit + 1);
    CHECK(detail::next_height(all, 2 * unit, 14 * unit + 1) == 15 * unit); // 16 units + 1 wraps round
    CHECK(detail::next_height(all, 2 * unit, 15 * unit) == no_limit);
}

TEST_CASE("heights that no stacking can have are not tried")
{
    // 7 bytes more than a multiple of 1000 for each of three: trying every byte would take thousands of
    // heights.
    auto const all = shapes_of_all({{{{0, 1}, 1007, 1000}, {{0, 1}, 1007, 1000}, {{0, 1}, 1007, 1000}}});
    auto const result = minimize_deterministic(all, 3021, none);
    CHECK(result.is_proved);
    CHECK(result.best.height == 5007);
    CHECK(result.nodes < 200);
}

} // namespace this_test
