// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/planned_buffers.hpp>

#include "dice.hpp"
#include "random_program.hpp"

#include <sublet/placement/pack.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/sharing/in_place.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

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

TEST_CASE("pairs that save bytes at the peak are taken, and the arena is as high as what is alive")
{
    buffer_table table;
    table.buffers = {sized(0, {0, 2}, 8), sized(1, {1, 3}, 8)};
    table.buffer_of = {0, 1};
    auto const found = place_in_place(table, {{1, 0, 1, 8}}, {0, 1, 2}, {});
    CHECK(found.placed.pools[0].height == 8);
    CHECK(found.gains == std::vector<memory_plan::in_place_gain>{{{1, 0, 1, 8}, 8, 8}});
    CHECK(found.plan.buffers.size() == 1);
}

TEST_CASE("a smaller result lies where its operand began, and what it leaves free is used again")
{
    // 0: 16 bytes; 1: 8 over them; 2: 8 more, above those
    buffer_table table;
    table.buffers = {sized(0, {0, 2}, 16), sized(1, {1, 4}, 8), sized(2, {2, 4}, 8)};
    table.buffer_of = {0, 1, 2};
    auto const found = place_in_place(table, {{1, 0, 1, 8}}, {0, 1, 2, 3}, {});
    CHECK(found.placed.pools[0].height == 16);
    REQUIRE(found.plan.buffers.size() == 3);
    CHECK(found.plan.buffers[1].over == 0);
    CHECK(found.plan.buffers[1].life == live_range{2, 4});
    CHECK(found.plan.buffers[1].slot_life() == live_range{1, 4});
    CHECK(found.placed.offset == std::vector<byte_count>{0, 0, 8});
}

TEST_CASE("without buffers or pairs there is nothing to choose")
{
    CHECK(place_in_place(buffer_table(), {}, {}, {}).plan.buffers.empty());
    buffer_table table;
    table.buffers = {sized(0, {0, 1}, 8)};
    table.buffer_of = {0};
    CHECK(place_in_place(table, {}, {0}, {}).placed.pools[0].height == 8);
}

TEST_CASE("random programs: in place no pool is higher than apart, and every plan is proved")
{
    std::size_t lower = 0, shrinking = 0, left_out = 0, above = 0;
    for (unsigned seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_program drawn = draw_program(pick, 12);
        shrink_results(drawn, pick);
        snapshot const p = drawn.program();
        planned_memory const planned = plan_memory(p, drawn.options());
        planned_memory const apart = plan_memory(p, drawn.options(false));
        REQUIRE(planned.is_sound());
        REQUIRE(planned.report.is_checked);
        REQUIRE(apart.is_sound());
        CHECK(apart.in_place.empty());
        REQUIRE(planned.report.pools.size() == apart.report.pools.size());
        for (std::size_t pool = 0; pool != apart.report.pools.size(); ++pool) {
            pool_report const &its = planned.report.pools[pool], &other = apart.report.pools[pool];
            CHECK(its.arena_bytes <= other.arena_bytes);
            CHECK(its.lower_bound_bytes <= its.arena_bytes);
            lower += its.arena_bytes < other.arena_bytes;
            above += its.lower_bound_bytes < its.arena_bytes;
        }
        for (memory_plan::placed_buffer const& b : planned.plan.buffers) shrinking += b.over != no_buffer;
        for (memory_plan::placed_buffer const& a :
             planned.plan.buffers) // what is drawn and listed: no rectangles meet
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
        placed_in_place other;
        REQUIRE(!detail::list_planned(join_in_place(table, some), other.plan, other.problem));
        other.placed = pack(other.problem);
        for (std::size_t pool = 0; pool != planned.report.pools.size(); ++pool)
            CHECK(planned.report.pools[pool].lower_bound_bytes <= other.placed.pools[pool].height);
    }
    CHECK(lower > rounds(400) / 20);
    CHECK(shrinking > rounds(400) / 20);
    CHECK(above < rounds(400) / 2);
    CAPTURE(left_out);
}

} // namespace this_test
