// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/planned_buffers.hpp>

#include "../dice.hpp"
#include "../random_program.hpp"

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/sharing/in_place.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::vector<memory_plan::in_place_gain> gains_of(snapshot const& p, plan_options const& options)
{
    auto const steps = steps_in_order(p, options.order);
    auto const lives = lifetimes(p, {.role = options.role, .order = options.order});
    return in_place_gains(take_in_place(p, steps, gather_buffers(lives, options)), steps);
}

byte_count peak_of(buffer_table const& table, pool_id pool, step_id positions)
{
    return pressure(
               table.buffers.size(),
               [&](buffer_id b) {
                   buffer const& its = table.buffers[b];
                   return its.is_planned() && its.pool == pool ? its.life : live_range{};
               },
               [&](buffer_id b) { return table.buffers[b].size; }, larger(positions, step_id{1}))
        .peak;
}

} // namespace

TEST_CASE("a pair saves its result's bytes at its step, and as much of the peak as would rise above it")
{
    // 0: def a    1: b over a    2: c beside b    3: d over c, and e over b
    auto const p = sequence(4, 5, [](auto step, effect_sink& s) {
        if (step == 0) s.def(0);
        if (step == 1) s.use(0), s.def(1), s.may_overwrite(0, 1);
        if (step == 2) s.def(2);
        if (step == 3) s.use(2), s.use(1), s.def(3), s.def(4), s.may_overwrite(2, 3), s.may_overwrite(1, 4);
    });
    auto const gains = gains_of(p, {.bytes = {64, 64, 32, 32, 16}});
    REQUIRE(gains.size() == 3); // the peak is 96: b and c
    CHECK(gains[0] == memory_plan::in_place_gain{{1, 0, 1, 64}, 32, 32});
    CHECK(gains[1] == memory_plan::in_place_gain{{3, 2, 3, 32}, 32, 48});
    CHECK(gains[2] == memory_plan::in_place_gain{{3, 1, 4, 16}, 16, 48});
}

TEST_CASE("without pairs there is nothing to gain")
{
    CHECK(in_place_gains(buffer_table(), {}).empty());
    CHECK(gains_of(sequence(1, 1, [](auto, effect_sink& s) { s.def(0); }), {.bytes = 8}).empty());
}

TEST_CASE("what a pair is said to gain is what is missing without it, in each pool")
{
    std::size_t compared = 0, at_peak = 0, together = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_program const drawn = draw_program(pick, 8);
        plan_options const options = drawn.options();
        snapshot const p = drawn.program();
        auto const steps = steps_in_order(p, options.order);
        auto const lives = lifetimes(p, {.role = options.role, .order = options.order});
        REQUIRE(!lives.violation);
        buffer_table const apart = gather_buffers(lives, options);
        auto const pairs = match_in_place(p, steps, apart);
        auto const gains = in_place_gains(join_in_place(apart, pairs), steps);
        REQUIRE(gains.size() == pairs.size());
        auto peak_without = [&](auto is_left_out, pool_id pool) {
            std::vector<memory_plan::in_place_pair> rest;
            for (memory_plan::in_place_pair const& pair : pairs)
                if (!is_left_out(pair)) rest.push_back(pair);
            return peak_of(join_in_place(apart, rest), pool, lives.positions);
        };
        auto pool_of = [&](memory_plan::in_place_pair const& pair) {
            return apart.buffers[apart.buffer_of[pair.in]].pool;
        };
        for (std::size_t i = 0; i != gains.size(); ++i) {
            memory_plan::in_place_pair const& mine = pairs[i];
            pool_id const pool = pool_of(mine);
            byte_count const peak = peak_without([](auto const&) { return false; }, pool);
            auto is_mine = [&](auto const& pair) { return pair == mine; };
            auto is_of_step = [&](auto const& pair) {
                return pair.step == mine.step && pool_of(pair) == pool;
            };
            CHECK(static_cast<memory_plan::in_place_pair const&>(gains[i]) == mine);
            CHECK(gains[i].peak_bytes == peak_without(is_mine, pool) - peak);
            CHECK(gains[i].step_peak_bytes == peak_without(is_of_step, pool) - peak);
            at_peak += gains[i].peak_bytes != 0;
            together += gains[i].step_peak_bytes != gains[i].peak_bytes;
            ++compared;
        }
    }
    CHECK(compared > rounds(1500) / 4);
    CHECK(at_peak > rounds(1500) / 20);
    CHECK(together > rounds(1500) / 200);
}

} // namespace this_test
