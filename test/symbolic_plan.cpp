// SPDX-License-Identifier: BSL-1.0
#include <sublet/symbolic_plan.hpp>

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;

namespace {

//   a: 100 N bytes at 0      b: 32 bytes on top of it, at a multiple of 64
symbolic_plan const two{
    .max_batch = 8,
    .order = {0, 1},
    .buffers = {{0, {0, 2}, {0, 100}, 64, 0, {0, 0}}, {1, {1, 2}, {32, 0}, 64, 0, {0, 100}}},
    .buffer_of = {0, 1, no_buffer},
    .arena = {{92, 100}},
    .unsized = {2}};

} // namespace

TEST_CASE("a start is rounded up to the alignment, for each batch by itself")
{
    CHECK(two.offset_of(1, 1) == 128);
    CHECK(two.offset_of(1, 3) == 320);
    CHECK(two.offset_of(0, 3) == 0);
    CHECK(two.offset_of(2, 3) == no_offset);
}

TEST_CASE("a top leaves room for what rounding may take")
{
    CHECK(two.buffers[1].top() == affine_bytes{92, 100}); // 32 and 60: 100 N leaves 4, 8 ... of 64
    CHECK(two.buffers[0].top() == affine_bytes{0, 100});
    for (byte_count n = 1; n != 9; ++n) CHECK(two.offset_of(1, n) + 32 <= two.buffers[1].top().at(n));
}

TEST_CASE("for one batch it is an ordinary plan")
{
    memory_plan const plan = two.at(3);
    CHECK(plan.valid_for == program_reading::sequential);
    CHECK(plan.order == std::vector<node_id>{0, 1});
    CHECK(plan.buffers[0] == memory_plan::placed_buffer{0, {0, 2}, 300, 64, 0, 0});
    CHECK(plan.buffers[1] == memory_plan::placed_buffer{1, {1, 2}, 32, 64, 0, 320});
    CHECK(plan.arena_bytes == std::vector<byte_count>{352});
    CHECK(plan.buffer_of == two.buffer_of);
    CHECK(plan.unsized == std::vector<value_id>{2});
    CHECK(two.arena[0].at(3) >= 352);
}

TEST_CASE("it holds from a batch of 1 to the largest, and says so")
{
    CHECK_THROWS_AS(static_cast<void>(two.at(0)), precondition_error);
    CHECK_THROWS_AS(static_cast<void>(two.at(9)), precondition_error);
    CHECK_THROWS_AS(static_cast<void>(two.at(-1)), precondition_error);
    CHECK(two.at(8).arena_bytes[0] == 864);
}

TEST_CASE("an empty plan is empty for every batch") { CHECK(symbolic_plan{}.at(1) == memory_plan{}); }

} // namespace this_test
