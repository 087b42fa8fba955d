// SPDX-License-Identifier: BSL-1.0
#include <sublet/testing/recording_device.hpp>

#include "../printed.hpp"
#include "../stream_conformance.hpp"

#include <sublet/execution/digest.hpp>
#include <sublet/testing/simulated_device.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using recording = recording_device<simulated_device>;

/// A step with one operand, one result and scratch.
struct call_of {
    step_id step;
    std::span<std::byte> from, to, room;
    bool shows = false;
    std::vector<value_id> uses() const { return {10}; }
    std::vector<value_id> defs() const { return {11}; }
    std::span<std::byte const> in(std::size_t) const { return from; }
    std::span<std::byte> out(std::size_t) const { return to; }
    bool is_view(std::size_t) const { return shows; }
    std::size_t scratch_count() const { return room.empty() ? 0 : 1; }
    std::span<std::byte> scratch(std::size_t) const { return room; }
};
void run_nothing(call_of const&) {}

} // namespace

static_assert(stream_device<recording>);
static_assert(takes_digests<recording>);
static_assert(launches<recording, void (*)(call_of const&), call_of>);
static_assert(stream_device<recording_device<recording>>);

TEST_CASE("a recording device meets the requirements on devices and finds no fault in the test of them")
{
    for (simulated_options::order_kind order :
         {simulated_options::order_kind::eager, simulated_options::order_kind::latest_first,
          simulated_options::order_kind::random}) {
        simulated_device inner({.order = order});
        recording device(inner);
        conformance::check_device(device, 64);
        // The last part waits on purpose for an event that was never recorded; all before has no fault.
        counterexample const why = device.check(true).error();
        CHECK(why.what == fault::unrecorded);
        auto const* wait = why.as<counterexample::commands>();
        REQUIRE(wait != nullptr);
        CHECK(wait->second + 8 > device.commands().operations.size());
    }
}

TEST_CASE("the commands of a device are recorded with the bytes that they touch")
{
    simulated_device inner;
    recording device(inner);
    auto const a = device.make_stream(), b = device.make_stream();
    auto const e = device.make_event();
    std::byte own[8] = {};
    std::byte* const p = device.allocate(64, 64, a);
    device.fill(p, std::byte{1}, 64, a);
    device.record(e, a);
    device.wait(b, e);
    device.launch(b, run_nothing, call_of{7, {p, 8}, {p + 8, 8}, {p + 16, 8}});
    device.launch(b, run_nothing, call_of{8, {p, 8}, {p, 4}, {}, true});
    std::uint64_t sum = 0;
    device.digest(b, {p + 8, 8}, &sum);
    device.copy_to_device(p + 32, own, b);
    device.copy_from_device(own, p + 32, b);
    device.synchronize(b);
    device.deallocate(p, 64, 64, a);
    device.synchronize();

    using operation = stream_commands::operation_kind;
    auto const& list = device.commands();
    CHECK(list.streams == 2);
    std::vector<stream_commands::operation> const operations = {
        {operation::allocate, 0, 1},   {operation::work, 0, no_step}, {operation::record, 0, 0},
        {operation::wait, 1, 0},       {operation::work, 1, 7},       {operation::work, 1, 8},
        {operation::work, 1, no_step}, {operation::work, 1, no_step}, {operation::work, 1, no_step},
        {operation::join, 1, no_step}, {operation::release, 0, 1},    {operation::join_all, 0, no_step}};
    CHECK(list.operations == operations);
    auto is_touch = [&](std::size_t i, std::uint32_t at, byte_count begin, byte_count end, value_id v,
                        bool writes) {
        byte_access const& t = list.touches.at(i);
        CHECK(t.at == at);
        CHECK(t.space == 1);
        CHECK(t.begin == begin);
        CHECK(t.end == end);
        CHECK(t.value == v);
        CHECK(t.writes == writes);
    };
    is_touch(0, 1, 0, 64, no_value, true);
    is_touch(1, 4, 0, 8, 10, false);
    is_touch(2, 4, 8, 16, 11, true);
    is_touch(3, 4, 16, 24, no_value, true);
    is_touch(4, 5, 0, 8, 10, false); // and no byte of the view that it makes
    is_touch(5, 6, 8, 16, no_value, false);
    is_touch(6, 7, 32, 40, no_value, true);
    is_touch(7, 8, 32, 40, no_value, false);
    CHECK(list.touches.size() == 8);
    CHECK(list.blocks == std::vector<stream_commands::block>{{no_size, true}, {64, false}});
    CHECK(device.check(true));
}

TEST_CASE("reused bytes are a new block, and a use of the old block is found")
{
    simulated_device inner;
    recording device(inner);
    auto const a = device.make_stream(), b = device.make_stream();
    auto const e = device.make_event();
    std::byte* const p = device.allocate(64, 64, a);
    device.deallocate(p, 64, 64, a);
    device.fill(p, std::byte{1}, 8, a);
    CHECK(printed(device.check().error()) ==
          "command 2 on stream 0 touches block 1 after command 1 on stream 0 has released it");
    device.forget();
    CHECK(device.allocate(64, 64, a) == p);
    CHECK(device.commands().blocks.size() == 2);
    device.record(e, a);
    device.fill(p, std::byte{1}, 8, a);
    device.wait(b, e);
    device.fill(p + 4, std::byte{1}, 8, b);
    CHECK(printed(device.check().error()) ==
          "command 4 on stream 1 touches bytes [4, 8) of block 1 and does not wait for "
          "command 2 on stream 0, which touches them too");
    device.fill(p, std::byte{1}, 65, a);
    CHECK(device.check().error().what == fault::out_of_bounds);
    device.forget();
    CHECK(device.check(true)); // existing blocks are given
}

TEST_CASE("storage allocated elsewhere is checked too, and a reused event handle names the new event")
{
    simulated_device inner;
    recording device(inner);
    auto const a = device.make_stream(), b = device.make_stream();
    std::byte own[16] = {};
    device.fill(own, std::byte{1}, 8, a);
    device.fill(own + 8, std::byte{1}, 8, b);
    CHECK(device.check());
    device.fill(own + 7, std::byte{1}, 1, b);
    counterexample const why = device.check().error();
    CHECK(why.what == fault::race);
    auto const* pair = why.as<counterexample::commands>();
    REQUIRE(pair != nullptr);
    CHECK(pair->block == 0);
    device.synchronize();
    device.forget();
    auto const e = device.make_event();
    device.fill(own, std::byte{1}, 8, a);
    device.record(e, a);
    device.forget();
    device.wait(b, e); // recorded before forget(), and done
    CHECK(device.check());
    CHECK_THROWS_AS(device.wait(b, {}), precondition_error);
    device.synchronize();
}

} // namespace this_test
