// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/device_values.hpp>

#include "../operations.hpp"
#include "../simple_device.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

//     x, w ─► a ─► y     x is an input, w is the caller's, y is an output
snapshot const chain = op_list(4, {{0, 1}, {2}}, {{2}, {3}});
plan_options const options{.bytes = 16,
                           .alignment = 8,
                           .role = std::vector<value_role>{value_role::input, value_role::external,
                                                           value_role::intermediate, value_role::output}};

lowered_program const lowered_chain = lower_program(chain, options);

/// An executor with runs that copy x to y, and fail on request.
struct test_executor : device_values<simple_device> {
    explicit test_executor(simple_device& device)
        : device_values<simple_device>(device, lowered_chain, kept_storage::none, {})
    {
    }
    void run()
    {
        expect_supplied();
        prepare_storage();
        storage().provide(3, streams().first());
        std::memcpy(storage().bytes_of(3).data(), storage().bytes_of(0).data(), 16);
        run_is_queued();
    }
    [[noreturn]] void break_down(step_id at)
    {
        fail(std::make_exception_ptr(std::bad_alloc()), {at, at != no_step});
    }
    run_state now() { return state().now(); }
};

using bytes = std::vector<std::byte>;

} // namespace

TEST_CASE("inputs are copied to the device, and outputs back")
{
    simple_device device;
    alignas(8) std::byte weights[16];
    {
        test_executor its(device);
        CHECK_THROWS_AS(its.run(), unusable_value);
        its.bind(1, weights);
        CHECK_THROWS_AS(its.run(), unusable_value); // x is required before every run
        bytes const image(16, std::byte{5});
        its.give(0, image);
        its.run();
        CHECK(its.now() == run_state::queued);
        bytes scores(16);
        its.take(3, scores);
        CHECK(scores == image);
        CHECK(its.now() == run_state::done);
        CHECK(its.output(3).size() == 16);
        CHECK_THROWS_AS(its.run(), unusable_value);
        CHECK(its.input(0).size() == 16);
        CHECK_THROWS_AS((void)its.output(3), unusable_value); // an input may share its bytes
        its.give(1, image);                                   // bound storage can be given and taken
        its.take(1, scores);
        CHECK(weights[15] == std::byte{5});
    }
    CHECK(device.blocks.empty());
    CHECK(device.streams.empty());
}

TEST_CASE("a call with the wrong value or size is rejected")
{
    simple_device device;
    test_executor its(device);
    alignas(8) std::byte room[24];
    bytes few(8);
    CHECK_THROWS_AS((void)its.input(3), precondition_error);
    CHECK_THROWS_AS((void)its.input(9), precondition_error);
    CHECK_THROWS_AS((void)its.output(0), precondition_error);
    CHECK_THROWS_AS(its.give(0, few), precondition_error);
    CHECK_THROWS_AS(its.run(), unusable_value); // nothing was supplied
    CHECK_THROWS_AS(its.bind(0, room), precondition_error);
    CHECK_THROWS_AS(its.bind(1, std::span(room).first(8)), unusable_value);
    CHECK_THROWS_AS(its.bind(1, std::span(room).subspan(1)), unusable_value);
}

TEST_CASE("a rejected call invalidates no result, and supplies no input")
{
    simple_device device;
    test_executor its(device);
    alignas(8) std::byte weights[16];
    its.bind(1, weights);
    its.give(0, bytes(16, std::byte{5}));
    its.run();
    CHECK_THROWS_AS(its.give(0, bytes(15)), precondition_error);
    bytes scores(16);
    its.take(3, scores);
    CHECK(scores == bytes(16, std::byte{5}));
    CHECK_THROWS_AS(its.run(), unusable_value);
}

TEST_CASE("after a failure storage is released, inputs are required, and the step is reported if it is known")
{
    simple_device device;
    test_executor its(device);
    alignas(8) std::byte weights[16];
    its.bind(1, weights);
    its.give(0, bytes(16));
    try {
        its.break_down(1);
    } catch (run_error const& e) {
        CHECK(e.step() == 1);
    }
    CHECK(device.blocks.empty());
    CHECK_THROWS_AS(its.run(), unusable_value);
    try {
        its.break_down(no_step);
    } catch (device_error const& e) {
        CHECK(e.step() == no_step);
        CHECK(std::string(e.what()).find("a step that it does not name: ") != std::string::npos);
    }
    its.give(0, bytes(16));
    its.run();
    CHECK(its.output(3).size() == 16);
}

// --- digests -----------------------------------------------------------------------------------------------

namespace {

/// Takes all digests of a run; `value_of(buffer, position)` is the value when each is taken.
template <class ValueOf>
std::optional<clobbered_value::finding> change(lowered_program const& lowered, ValueOf value_of,
                                               memory_plan const* plan = nullptr)
{
    detail::stream_digests digests(lowered);
    auto at_position = [&](std::uint32_t at) {
        return [&, at](buffer_id b, std::uint64_t* digest) { *digest = value_of(b, at); };
    };
    digests.at_start(at_position(0));
    for (position_id at = 0; at != lowered.positions(); ++at) {
        digests.before(at, at_position(2 * at));
        digests.after(at, at_position(2 * at + 1));
    }
    digests.at_end(at_position(2 * lowered.positions()));
    return digests.first_change(plan);
}

//     x ─► a ─► y     x is an input, y is an output; step 0 writes a, step 1 reads it
snapshot const three_steps = op_list(3, {{0}, {1}}, {{1}, {2}});
lowered_program const lowered = lower_program(
    three_steps,
    {.bytes = 8,
     .role = std::vector<value_role>{value_role::input, value_role::intermediate, value_role::output}});

} // namespace

TEST_CASE("unchanged values are accepted")
{
    CHECK_FALSE(change(lowered, [](buffer_id b, std::uint32_t) { return 10u + b; }));
}

TEST_CASE("a value that changes is reported with its producer and its reader")
{
    auto const given = change(lowered, [](buffer_id, std::uint32_t at) { return at == 0 ? 1u : 2u; });
    CHECK_FALSE(given); // taken at the same point: step 0 is the first to compare
    auto const between =
        change(lowered, [](buffer_id b, std::uint32_t at) { return b == 1 && at == 2 ? 1u : 0u; });
    REQUIRE(between);
    CHECK(*between == clobbered_value::finding{.value = 1, .producer = 0, .reader = 1});
    auto const in_the_end =
        change(lowered, [](buffer_id b, std::uint32_t at) { return b == 2 && at == 4 ? 1u : 0u; });
    REQUIRE(in_the_end);
    CHECK(*in_the_end == clobbered_value::finding{.value = 2, .producer = 1, .reader = no_step});
}

TEST_CASE("the caller's storage is checked at the end of the run too")
{
    lowered_program const weighted =
        lower_program(three_steps, {.bytes = 8,
                                    .role = std::vector<value_role>{
                                        value_role::external, value_role::intermediate, value_role::output}});
    auto const corrupted =
        change(weighted, [](buffer_id b, std::uint32_t at) { return b == 0 && at > 1 ? 1u : 0u; });
    REQUIRE(corrupted); // only step 0 reads it, and finds it unchanged
    CHECK(*corrupted == clobbered_value::finding{.value = 0});
    CHECK_FALSE(change(lowered, [](buffer_id b, std::uint32_t at) { return b == 0 && at > 1 ? 1u : 0u; }));
}

TEST_CASE("with a plan, the value that overlaps a changed one is reported")
{
    memory_plan const plan{.buffers = {{.root = 0, .size = 8, .offset = 8},
                                       {.root = 1, .size = 8, .offset = 0},
                                       {.root = 2, .size = 8, .offset = 4}},
                           .buffer_of = {0, 1, 2},
                           .arena_bytes = {16}};
    auto const found =
        change(lowered, [](buffer_id b, std::uint32_t at) { return b == 1 && at == 2 ? 1u : 0u; }, &plan);
    REQUIRE(found);
    CHECK(found->culprit == 2);
    CHECK(found->culprit_step == 1);
}

// --- storage -----------------------------------------------------------------------------------------------

namespace {

//     a ─► b ─► c
snapshot const storage_chain = op_list(3, {{}, {0}, {1}}, {{0}, {1}, {2}});
lowered_program storage_chain_program()
{
    return lower_program(storage_chain, {.bytes = {64, 32, 32}, .alignment = 16});
}

} // namespace

TEST_CASE("blocks are allocated and released on a device, and counted")
{
    simple_device device;
    lowered_program const its = storage_chain_program();
    detail::stream_storage<simple_device> values(device, 0, its, 96);
    values.allocate(0, 0, 0);
    values.allocate(1, 1, 1);
    CHECK(values.bytes_of(0).size() == 64);
    CHECK(device.blocks.size() == 2);
    CHECK_THROWS_AS(values.allocate(2, 1, 2), allocation_error); // 128 bytes would be live
    std::byte* const old = values.bytes_of(1).data();
    values.transfer_block(1, 2);
    CHECK(values.bytes_of(2).data() == old);
    CHECK(values.bytes_of(1).data() == old); // the step that writes 2 reads 1
    CHECK_FALSE(values.provide(2, 0));
    values.release_if([](value_role) { return true; }, 0);
    CHECK(device.blocks.empty());
    CHECK(values.memory().use().bytes == run_report::counter{0, 96, 96});
    CHECK(values.memory().use().allocations == run_report::counter{0, 2, 2});
}

TEST_CASE("blocks that the device never had are not freed there")
{
    simple_device device;
    lowered_program const its = storage_chain_program();
    detail::stream_storage<simple_device> values(device, 0, its, no_limit);
    values.allocate(0, 0, 0);
    std::byte* const block = values.bytes_of(0).data();
    values.skip_device(true);
    values.release(0, 0);
    CHECK(device.blocks.size() == 1);
    CHECK(values.memory().use().bytes.live == 0);
    device.deallocate(block, 64, 16, 0);
}

TEST_CASE("in an arena all buffers have offsets, or no arena is allocated")
{
    simple_device device;
    lowered_program const its = storage_chain_program();
    memory_plan plan{.buffers = {{.root = 0, .size = 64, .offset = 0},
                                 {.root = 1, .size = 32, .offset = 64},
                                 {.root = 2, .size = 32, .offset = 0}},
                     .buffer_of = {0, 1, 2},
                     .arena_bytes = {96}};
    detail::stream_storage<simple_device> values(device, 0, its, no_limit);
    values.place(plan);
    CHECK(values.bytes_of(1).data() == values.bytes_of(0).data() + 64);
    CHECK(values.value_bytes(2).data() == values.bytes_of(0).data());
    CHECK_FALSE(values.provide(0, 0));
    values.release(0, 0);
    CHECK(values.bytes_of(0).size() == 64); // nothing in an arena is released
    values.release_arenas(0);
    CHECK(device.blocks.empty());
    plan.arena_bytes = {95};
    detail::stream_storage<simple_device> other(device, 0, its, no_limit);
    CHECK_THROWS_AS(other.place(plan), unsound_plan);
    CHECK(device.blocks.empty());
}

} // namespace this_test
