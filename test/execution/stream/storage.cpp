// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/stream_desk.hpp>

#include "../../op_list.hpp"
#include "../../simple_device.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

//     a ─► b ─► c
snapshot const chain = op_list(3, {{}, {0}, {1}}, {{0}, {1}, {2}});
run_tape tape() { return tape_of(chain, {.bytes = {64, 32, 32}, .alignment = 16}, false); }

} // namespace

TEST_CASE("blocks come and go on a device, and are counted as they do")
{
    simple_device device;
    run_tape const its = tape();
    detail::stream_storage<simple_device> values(device, 0, its, 96);
    values.allocate(0, 0, 0);
    values.allocate(1, 1, 1);
    CHECK(values.bytes_of(0).size() == 64);
    CHECK(device.blocks.size() == 2);
    CHECK_THROWS_AS(values.allocate(2, 1, 2), allocation_error); // 128 bytes would be live
    std::byte* const old = values.bytes_of(1).data();
    values.hand_over(1, 2);
    CHECK(values.bytes_of(2).data() == old);
    CHECK(values.bytes_of(1).data() == old); // the step that writes 2 reads 1
    CHECK_FALSE(values.provide(2, 0));
    values.release_if([](value_role) { return true; }, 0);
    CHECK(device.blocks.empty());
    CHECK(values.memory().use().bytes == counter{0, 96, 96});
    CHECK(values.memory().use().allocations == counter{0, 2, 2});
}

TEST_CASE("what a device has forgotten is not given back to it")
{
    simple_device device;
    run_tape const its = tape();
    detail::stream_storage<simple_device> values(device, 0, its, no_limit);
    values.allocate(0, 0, 0);
    std::byte* const block = values.bytes_of(0).data();
    values.be_silent(true);
    values.release(0, 0);
    CHECK(device.blocks.size() == 1);
    CHECK(values.memory().use().bytes.live == 0);
    device.deallocate(block, 64, 16, 0);
}

TEST_CASE("in an arena all have their places, or there is no arena")
{
    simple_device device;
    run_tape const its = tape();
    memory_plan plan{.buffers = {{.root = 0, .size = 64, .offset = 0},
                                 {.root = 1, .size = 32, .offset = 64},
                                 {.root = 2, .size = 32, .offset = 0}},
                     .buffer_of = {0, 1, 2},
                     .arena_bytes = {96}};
    detail::stream_storage<simple_device> values(device, 0, its, no_limit);
    values.place(plan);
    CHECK(values.bytes_of(1).data() == values.bytes_of(0).data() + 64);
    CHECK(values.shown_by(2).data() == values.bytes_of(0).data());
    CHECK_FALSE(values.provide(0, 0));
    values.release(0, 0);
    CHECK(values.bytes_of(0).size() == 64); // nothing in an arena is ever released
    values.release_arenas(0);
    CHECK(device.blocks.empty());
    plan.arena_bytes = {95};
    detail::stream_storage<simple_device> other(device, 0, its, no_limit);
    CHECK_THROWS_AS(other.place(plan), unsound_plan);
    CHECK(device.blocks.empty());
}

} // namespace this_test
