// SPDX-License-Identifier: BSL-1.0
#include <sublet/planning/detail/pack_in_place.hpp>

#include "../random_program.hpp"
#include "../random_source.hpp"

#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/sharing/in_place.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

// --- in-place selection ------------------------------------------------------------------------------------

namespace {

buffer sized(value_id root, live_range life, byte_count size)
{
    buffer b;
    b.root = root;
    b.life = life;
    b.size = size;
    return b;
}

} // namespace

TEST_CASE("pairs that save bytes at the peak are used, and the arena is the peak of bytes live")
{
    buffer_table table;
    table.buffers = {sized(0, {0, 2}, 8), sized(1, {1, 3}, 8)};
    table.buffer_of = {0, 1};
    auto const found = pack_in_place(table, {{1, 0, 1, 8}}, {0, 1, 2}, {});
    CHECK(found.placed.pools[0].height == 8);
    CHECK(found.gains == std::vector<memory_plan::in_place_gain>{{{1, 0, 1, 8}, 8, 8}});
    CHECK(found.plan.buffers.size() == 1);
}

TEST_CASE("a smaller result has the offset of its operand, and the rest is used again")
{
    // 0: 16 bytes; 1: 8 over them; 2: 8 more, above those
    buffer_table table;
    table.buffers = {sized(0, {0, 2}, 16), sized(1, {1, 4}, 8), sized(2, {2, 4}, 8)};
    table.buffer_of = {0, 1, 2};
    auto const found = pack_in_place(table, {{1, 0, 1, 8}}, {0, 1, 2, 3}, {});
    CHECK(found.placed.pools[0].height == 16);
    REQUIRE(found.plan.buffers.size() == 3);
    CHECK(found.plan.buffers[1].over == 0);
    CHECK(found.plan.buffers[1].life == live_range{2, 4});
    CHECK(found.plan.buffers[1].slot_life() == live_range{1, 4});
    CHECK(found.placed.offset == std::vector<byte_count>{0, 0, 8});
}

TEST_CASE("without buffers or pairs there is nothing to choose")
{
    CHECK(pack_in_place(buffer_table(), {}, {}, {}).plan.buffers.empty());
    buffer_table table;
    table.buffers = {sized(0, {0, 1}, 8)};
    table.buffer_of = {0};
    CHECK(pack_in_place(table, {}, {0}, {}).placed.pools[0].height == 8);
}

TEST_CASE("on random programs in-place pairs make no pool higher, and every plan is proved")
{
    std::size_t lower = 0, shrinking = 0, left_out = 0, above = 0;
    for (unsigned seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program drawn = draw_program(pick, 12);
        shrink_results(drawn, pick);
        snapshot const p = drawn.program();
        planned_memory const planned = plan_memory(p, drawn.options());
        planned_memory const apart = plan_memory(p, drawn.options(false));
        REQUIRE(planned);
        REQUIRE(planned.report().is_checked);
        REQUIRE(apart);
        CHECK(apart.in_place.empty());
        REQUIRE(planned.report().pools.size() == apart.report().pools.size());
        for (std::size_t pool = 0; pool != apart.report().pools.size(); ++pool) {
            pool_report const &its = planned.report().pools[pool], &other = apart.report().pools[pool];
            CHECK(its.arena_bytes <= other.arena_bytes);
            CHECK(its.lower_bound_bytes <= its.arena_bytes);
            lower += its.arena_bytes < other.arena_bytes;
            above += its.lower_bound_bytes < its.arena_bytes;
        }
        for (memory_plan::placed_buffer const& b : planned.plan.buffers) shrinking += b.over != no_buffer;
        for (memory_plan::placed_buffer const& a :
             planned.plan.buffers) // as drawn and listed: no rectangles overlap
            for (memory_plan::placed_buffer const& b : planned.plan.buffers)
                if (&a < &b && a.pool == b.pool && overlaps(a.life, b.life))
                    CHECK((a.offset + a.size <= b.offset || b.offset + b.size <= a.offset));
        for (memory_plan::in_place_gain const& gain : planned.in_place)
            CHECK(planned.plan.offset_of(gain.in) == planned.plan.offset_of(gain.out));
        auto const steps = steps_in_order(p, drawn.order);
        auto const table =
            gather_buffers(lifetimes(p, {.role = drawn.role, .order = drawn.order}), drawn.options());
        auto const pairs = match_in_place(p, steps, table);
        left_out += pairs.size() - planned.in_place.size();

        // The bound holds for any choice of pairs.
        std::vector<memory_plan::in_place_pair> some;
        for (memory_plan::in_place_pair const& pair : pairs)
            if (pick.below(2) == 0) some.push_back(pair);
        packed_in_place other;
        REQUIRE(!detail::list_planned(join_in_place(table, some), other.plan, other.problem));
        other.placed = pack(other.problem);
        for (std::size_t pool = 0; pool != planned.report().pools.size(); ++pool)
            CHECK(planned.report().pools[pool].lower_bound_bytes <= other.placed.pools[pool].height);
    }
    CHECK(lower > rounds(400) / 20);
    CHECK(shrinking > rounds(400) / 20);
    CHECK(above < rounds(400) / 2);
    CAPTURE(left_out);
}

// --- in place gains ----------------------------------------------------------------------------------------

namespace {

std::vector<memory_plan::in_place_gain> gains_of(snapshot const& p, plan_options const& options)
{
    auto const steps = steps_in_order(p, options.order);
    auto const lives = lifetimes(p, {.role = options.role, .order = options.order});
    return in_place_gains(take_in_place(p, steps, gather_buffers(lives, options)), steps);
}

byte_count peak_of(buffer_table const& table, pool_id pool, std::uint32_t positions)
{
    return pressure(
               table.buffers.size(),
               [&](buffer_id b) {
                   buffer const& its = table.buffers[b];
                   return its.is_planned() && its.pool == pool ? its.life : live_range{};
               },
               [&](buffer_id b) { return table.buffers[b].size; }, larger(positions, 1u))
        .peak;
}

} // namespace

TEST_CASE("a balanced planner searches in proportion to the buffers, and never more than a placement does")
{
    pack_options const all = pack_budgets(effort::balanced);
    auto of = [](std::size_t buffers) { return planner_budgets(effort::balanced, buffers); };
    CHECK(of(10).nodes == 2000);
    CHECK(of(10).visits == 200'000);
    CHECK(of(1000).nodes == 4000);
    CHECK(of(1000).visits == 3'000'000);
    CHECK(of(1000).improve_visits == 3'000'000);
    CHECK(of(1'000'000).nodes == all.nodes);
    CHECK(of(1'000'000).visits == all.visits);
    CHECK(of(1'000'000).improve_visits == all.improve_visits);
    CHECK(planner_budgets(effort::fast, 10).nodes == 0);
    CHECK(planner_budgets(effort::thorough, 10).nodes == 16 * all.nodes);
    CHECK(planner_budgets(50'000, 10).nodes == 50'000); // a count is what it says
}

TEST_CASE("a pair saves its result's bytes at its step, and of the peak the part that would exceed it")
{
    // 0: def a    1: b over a    2: c together with b    3: d over c, and e over b
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

TEST_CASE("without pairs there are no gains")
{
    CHECK(in_place_gains(buffer_table(), {}).empty());
    CHECK(gains_of(sequence(1, 1, [](auto, effect_sink& s) { s.def(0); }), {.bytes = 8}).empty());
}

TEST_CASE("the gain of a pair is the increase without it, in each pool")
{
    std::size_t compared = 0, at_peak = 0, together = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program const drawn = draw_program(pick, 8);
        plan_options const options = drawn.options();
        snapshot const p = drawn.program();
        auto const steps = steps_in_order(p, options.order);
        auto const lives = lifetimes(p, {.role = options.role, .order = options.order});
        REQUIRE(lives);
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
            memory_plan::in_place_pair const& own = pairs[i];
            pool_id const pool = pool_of(own);
            byte_count const peak = peak_without([](auto const&) { return false; }, pool);
            auto is_mine = [&](auto const& pair) { return pair == own; };
            auto is_of_step = [&](auto const& pair) {
                return pair.step == own.step && pool_of(pair) == pool;
            };
            CHECK(static_cast<memory_plan::in_place_pair const&>(gains[i]) == own);
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
