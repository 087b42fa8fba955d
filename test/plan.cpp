// SPDX-License-Identifier: BSL-1.0
#include <sublet/plan.hpp>

#include <doctest/doctest.h>

#include <type_traits>

namespace this_test {

using namespace sublet;

static_assert(std::is_aggregate_v<memory_plan> && std::is_aggregate_v<slot_plan> &&
              std::is_aggregate_v<memory_plan::placed_buffer>);

TEST_CASE("an offset is that of the value's buffer")
{
    memory_plan plan;
    plan.buffers = {{.root = 0, .life = {0, 2}, .size = 64, .offset = 0},
                    {.root = 1, .life = {1, 3}, .size = 32, .offset = 64}};
    plan.buffer_of = {0, 1, 0, no_buffer};
    CHECK(plan.offset_of(0) == 0);
    CHECK(plan.offset_of(1) == 64);
    CHECK(plan.offset_of(2) == 0);
    CHECK(plan.offset_of(3) == no_offset);
}

TEST_CASE("buffers need not stand in the order of the values")
{
    memory_plan plan;
    plan.buffers = {{2, {0, 1}, 4, 1, 0, 8}, {0, {0, 1}, 8, 1, 0, 0}};
    plan.buffer_of = {1, 1, 0};
    CHECK(plan.offset_of(0) == 0);
    CHECK(plan.offset_of(1) == 0);
    CHECK(plan.offset_of(2) == 8);
}

TEST_CASE("a buffer that nobody has placed has no offset")
{
    memory_plan plan;
    plan.buffers = {{}};
    plan.buffer_of = {0};
    CHECK(plan.offset_of(0) == no_offset);
}

TEST_CASE("plans are compared like the data they are")
{
    memory_plan const none;
    memory_plan plan = none;
    CHECK(plan == none);
    plan.valid_for = program_reading::concurrent;
    CHECK(plan != none);
    plan = none;
    plan.arena_bytes = {64};
    CHECK(plan != none);

    CHECK(slot_plan{} == slot_plan{{}, 0});
    CHECK(slot_plan{{0, no_slot}, 1} != slot_plan{{0, 0}, 1});
}

} // namespace this_test
