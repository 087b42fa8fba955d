// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/stream_desk.hpp>

#include "../../op_list.hpp"
#include "../../simple_device.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

//     x, w ─► a ─► y     x is given, w is the caller's, y is wanted
snapshot const chain = op_list(4, {{0, 1}, {2}}, {{2}, {3}});
plan_options const options{.bytes = 16,
                           .alignment = 8,
                           .role = std::vector<value_role>{value_role::input, value_role::external,
                                                           value_role::intermediate, value_role::output}};

/// A desk whose runs copy x to y, and fail where they are told to.
struct desk : stream_desk<simple_device> {
    explicit desk(simple_device& device)
        : stream_desk<simple_device>(device, run_order_of(chain, options, no_plan{}), {})
    {
    }
    void run()
    {
        expect_storage();
        values_.provide(3, first_);
        std::memcpy(values_.bytes_of(3).data(), values_.bytes_of(0).data(), 16);
        is_at_rest_ = false;
        duties_.use_up_inputs(tape_);
        has_results_ = true;
    }
    [[noreturn]] void break_down(step_id at) { fail(std::make_exception_ptr(std::bad_alloc()), at); }
    bool is_resting() const { return is_at_rest_; }
};
using bytes = std::vector<std::byte>;

} // namespace

TEST_CASE("what is given goes to the device, and results come back")
{
    simple_device device;
    alignas(8) std::byte weights[16];
    {
        desk its(device);
        CHECK_THROWS_AS(its.run(), unusable_value);
        its.bind(1, weights);
        CHECK_THROWS_AS(its.run(), unusable_value); // x is owed before every run
        bytes const image(16, std::byte{5});
        its.give(0, image);
        its.run();
        CHECK_FALSE(its.is_resting());
        bytes scores(16);
        its.take(3, scores);
        CHECK(scores == image);
        CHECK(its.is_resting());
        CHECK(its.output(3).size() == 16);
        CHECK_THROWS_AS(its.run(), unusable_value);
        CHECK(its.input(0).size() == 16);
        CHECK_THROWS_AS((void)its.output(3), unusable_value); // an input may lie where it lies
        its.give(1, image);                                   // what is bound can be given and taken
        its.take(1, scores);
        CHECK(weights[15] == std::byte{5});
    }
    CHECK(device.blocks.empty());
    CHECK(device.streams.empty());
}

TEST_CASE("what is asked of the wrong value, or with a wrong size, is refused")
{
    simple_device device;
    desk its(device);
    alignas(8) std::byte room[24];
    bytes few(8);
    CHECK_THROWS_AS((void)its.input(3), precondition_error);
    CHECK_THROWS_AS((void)its.input(9), precondition_error);
    CHECK_THROWS_AS((void)its.output(0), precondition_error);
    CHECK_THROWS_AS(its.give(0, few), precondition_error);
    CHECK_THROWS_AS(its.run(), unusable_value); // nothing was given
    CHECK_THROWS_AS(its.bind(0, room), precondition_error);
    CHECK_THROWS_AS(its.bind(1, std::span(room).first(8)), unusable_value);
    CHECK_THROWS_AS(its.bind(1, std::span(room).subspan(1)), unusable_value);
}

TEST_CASE("what is refused takes no result away, and gives no input")
{
    simple_device device;
    desk its(device);
    alignas(8) std::byte weights[16];
    its.bind(1, weights);
    its.give(0, bytes(16, std::byte{5}));
    its.run();
    CHECK_THROWS_AS(its.give(0, bytes(15)), precondition_error);
    bytes scores(16);
    its.take(3, scores);
    CHECK(scores == bytes(16, std::byte{5}));
    CHECK_THROWS_AS(its.run(), unusable_value);
    CHECK_NOTHROW((void)its.stream(0));
    CHECK_THROWS_AS((void)its.stream(1), precondition_error);
}

TEST_CASE("after a failure storage is given back, inputs are owed, and the step is said if it is known")
{
    simple_device device;
    desk its(device);
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

} // namespace this_test
