// SPDX-License-Identifier: BSL-1.0
#include "placement_oracle.hpp"
#include "random_placements.hpp"
#include "random_source.hpp"
#include "rounds.hpp"

#include "../printed.hpp"

#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/check_proof.hpp>
#include <sublet/placement/place.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// A problem with a period: some buffers end in the next round, after up to a whole period.
placement_problem draw_periodic(random_source& pick)
{
    random_placement_shape shape = draw_placement_shape(pick);
    shape.buffers = 1 + pick.below(6);
    placement_problem problem = draw_placement(pick, shape);
    problem.period = shape.positions;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
        live_range& life = problem.buffers[b].life;
        if (is_empty(life) || pick.below(2) == 0) continue;
        life.first = pick.below(shape.positions);
        life.last = life.first + 1 + pick.below(shape.positions);
        problem.gaps.erase(std::remove_if(problem.gaps.begin(), problem.gaps.end(),
                                          [b](auto const& gap) { return gap.buffer == b; }),
                           problem.gaps.end());
        if (pick.below(3) == 0) draw_gaps(pick, shape, problem, b);
    }
    return problem;
}

/// Four rounds, one after another: each buffer has a copy in each, all at one offset.
placement_problem unrolled(placement_problem const& problem)
{
    constexpr std::uint32_t rounds = 4;
    placement_problem all = problem;
    all.period = 0;
    auto const buffers = static_cast<std::uint32_t>(problem.buffers.size());
    for (std::uint32_t r = 1; r != rounds; ++r) {
        std::uint32_t const later = r * problem.period;
        for (buffer_id b = 0; b != buffers; ++b) {
            auto copy = problem.buffers[b];
            copy.life = {copy.life.first + later, copy.life.last + later};
            all.buffers.push_back(copy);
            all.colocated.push_back({buffer_id{r * buffers + +b}, b, 0});
        }
        for (auto gap : problem.gaps) {
            gap.buffer = buffer_id{r * buffers + +gap.buffer};
            gap.when = {gap.when.first + later, gap.when.last + later};
            all.gaps.push_back(gap);
        }
    }
    return all;
}

std::vector<byte_count> in_all_rounds(table<buffer_id, byte_count> const& offset)
{
    std::vector<byte_count> all;
    for (unsigned r = 0; r != 4; ++r) all.insert(all.end(), offset.begin(), offset.end());
    return all;
}

std::string why_refused(placement_problem const& problem)
{
    return thrown_by<precondition_error>([&] { (void)place(problem); }, "not refused");
}

} // namespace

TEST_CASE("a placement of one round holds in four rounds, and no oracle of four rounds finds a lower one")
{
    std::size_t wrapped = 0, optimal = 0, above_one_round = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed + first_seed()}};
        placement_problem const problem = draw_periodic(pick);
        placement_problem const four = unrolled(problem);
        placement_oracle const oracle(four);
        placement const placed = place(problem);
        REQUIRE(placed.pools.size() == 1);
        CHECK(printed(check_placement(problem, placed)) == "");
        verdict const proof = check_proof(problem, placed, 0);
        CHECK((proof || proof.error().what == fault::not_checkable));
        placement::pool_result const& pool = placed.pools[0];
        auto const lowest = oracle.lowest_stacking();
        CHECK((placed.status <= placement::outcome::feasible) ==
              (pool.proof.bytes != no_limit && pool.height != no_limit));
        if (placed.status > placement::outcome::feasible) {
            if (!oracle.can_interleave()) CHECK(lowest == placement_oracle::unplaceable);
            continue;
        }
        CHECK(oracle.is_valid(in_all_rounds(placed.offset), pool.height));
        placement const again = place(problem, {.previous = placed.offset}); // planned again, in rounds, too
        CHECK(printed(check_placement(problem, again, {.previous = placed.offset})) == "");
        CHECK(oracle.is_valid(in_all_rounds(again.offset), again.pools[0].height));
        if (placed.status == placement::outcome::optimal) CHECK(again.offset == placed.offset);
        placement_oracle::bytes most = 0;
        for (std::size_t at = problem.period; at != 2 * problem.period; ++at)
            most = std::max(most, oracle.live_bytes(at));
        CHECK(pool.lower_bound >= static_cast<byte_count>(most));
        if (!oracle.can_interleave()) {
            CHECK(pool.lower_bound <= static_cast<byte_count>(lowest));
            if (placed.status == placement::outcome::optimal) {
                ++optimal;
                CHECK(pool.height == static_cast<byte_count>(lowest));
            }
        }
        bool wraps = false;
        for (placement_problem::buffer const& b : problem.buffers)
            wraps = wraps || (b.size != 0 && !is_empty(b.life) && b.life.last > problem.period);
        wrapped += wraps;
        if (!wraps) { // a round by itself
            placement_problem one = problem;
            one.period = 0;
            CHECK(place(one).offset == placed.offset);
        }
        placement_problem cut = problem; // at the end of a round
        cut.period = 0;
        for (placement_problem::buffer& b : cut.buffers)
            b.life.last = std::min(b.life.last, position_id{problem.period});
        above_one_round += pool.height > place(cut).pools[0].height;
    }
    CHECK(wrapped > rounds(1500) / 3);
    CHECK(optimal > rounds(1500) / 2);
    CHECK(above_one_round > rounds(1500) / 20);
    MESSAGE(wrapped << " with buffers that the next round needs, " << optimal << " optimal, "
                    << above_one_round << " higher than without the next round");
}

TEST_CASE("a placement that another round makes wrong is found, and no other")
{
    std::size_t wrong = 0, right = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed + first_seed()}};
        placement_problem const problem = draw_periodic(pick);
        placement_problem const four = unrolled(problem);
        placement_oracle const oracle(four);
        placement placed = place(problem);
        if (placed.status > placement::outcome::feasible || placed.offset.empty()) continue;
        if (!move_one(pick, problem, placed)) continue;
        byte_count const height = placed.pools[0].height;
        bool const is_valid = oracle.is_valid(in_all_rounds(placed.offset), height);
        verdict const found = check_placement(problem, placed);
        CHECK(is_misplaced(found) != is_valid);
        ++(is_valid ? right : wrong);
    }
    CHECK(wrong > rounds(1500) / 10);
    CHECK(right > rounds(1500) / 10);
}

TEST_CASE("a buffer that the next round needs keeps its bytes from those at the begin of a round")
{
    placement_problem problem{.buffers = {{{0, 3}, 32}, {{5, 8}, 32}}, .period = 6};
    CHECK(place(problem).pools[0].height == 64); // both live at 0 and 1 of each round but the first
    problem.period = 8;
    CHECK(place(problem).pools[0].height == 32);
}

TEST_CASE(
    "each buffer conflicts with both others, two at a time: the bytes live are no exact bound of a round")
{
    placement_problem const problem{.buffers = {{{0, 3}, 32}, {{2, 6}, 32}, {{5, 8}, 32}}, .period = 6};
    placement const placed = place(problem);
    CHECK(placed.pools[0].height == 96);
    CHECK(placed.pools[0].lower_bound == 96);
    CHECK(placed.pools[0].proof.kind == placement::proof::reason::exhausted);
    CHECK(check_proof(problem, placed, 0));
}

TEST_CASE("what lives for a whole round has its bytes for itself")
{
    placement_problem const problem{.buffers = {{{4, 10}, 8}, {{0, 2}, 8}, {{3, 5}, 8}}, .period = 6};
    placement const placed = place(problem);
    CHECK(placed.pools[0].height == 16);
    CHECK(placed.offset[1] == placed.offset[2]);
    CHECK(check_placement(problem, placed));
}

TEST_CASE("longer lives than a round, begins behind it, and clocks are refused, with the buffer")
{
    CHECK(
        why_refused({.buffers = {{{0, 1}, 8}, {{4, 11}, 8}}, .period = 6}) ==
        "sublet: buffer 1 lives for 7 positions, but a round has only 6: such a value needs several buffers, "
        "one for each round that it lives in");
    CHECK(
        why_refused({.buffers = {{{6, 7}, 8}}, .period = 6}) ==
        "sublet: buffer 0 begins at position 6, but a round has only 6: positions of the next round are for "
        "ends");
    CHECK(why_refused({.buffers = {{{9, 9}, 8}, {{9, 30}, 0}}, .period = 6}) ==
          "not refused"); // need no bytes
    CHECK(why_refused({.buffers = {{{0, 1}, 8}}, .clocks = {1, {0}, {1}}, .period = 6}) ==
          "sublet: a problem with clocks has no period");
    placement placed = place({.buffers = {{{0, 1}, 8}}});
    CHECK(thrown_by<precondition_error>(
              [&] { (void)check_placement({.buffers = {{{4, 11}, 8}}, .period = 6}, placed); },
              "not refused") ==
          "sublet: buffer 0 of a problem of period 6 begins after a round, or lives longer");
}

} // namespace this_test
