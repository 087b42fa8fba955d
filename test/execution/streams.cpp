// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/streams.hpp>

#include "../counted_heap.hpp"
#include "../simple_device.hpp"
#include "../stream_diamond.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/simulated_device.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using namespace stream_diamond;

namespace {

struct lifetime_kernel {
    bool& is_gone;
    std::size_t &in_time, &late;
    ~lifetime_kernel() { is_gone = true; }
    template <class Call>
    void operator()(Call const&) const
    {
        ++(is_gone ? late : in_time);
    }
};

} // namespace

TEST_CASE("a diamond gives the same results on streams as on the host, in every mode")
{
    auto check = [&](auto const& mode, byte_count peak, std::size_t streams) {
        simple_device device;
        {
            stream_executor run(device, diamond, diamond_options, mode, synthetic_kernel{});
            for (std::uint64_t seed = 0; seed != 3; ++seed) {
                give(run, seed);
                run_report const report = run.run();
                CHECK(digest(run.output(4)) == expected(seed));
                CHECK(report.steps == 4);
                CHECK(report.workers == streams);
                CHECK(report.waits == 2 * (streams - 1));
                CHECK(report.events == report.waits);
                CHECK(report.lower_bound == 3 * 64);
                CHECK(report.run.bytes.peak + report.reserved == peak);
            }
        }
        CHECK(device.blocks.empty());
        CHECK(device.streams.empty());
        CHECK(device.events.empty());
    };
    check(no_plan{}, 5 * 64, 2);
    check(recycle{}, 3 * 64, 2);
    // Step 2 waits for step 1 there, which reads the bytes that it overwrites: one stream suffices.
    check(arena{diamond_plan}, 2 * 3 * 64, 1); // live at the begin of the run, and reserved
}

TEST_CASE("runs may be queued one after another, and the results are those of the last")
{
    auto check = [&](auto const& mode) {
        simulated_device device({.order = simulated_options::order_kind::latest_first});
        stream_executor run(device, diamond, diamond_options, mode, synthetic_kernel{}, {.streams = 3});
        for (std::uint64_t seed = 0; seed != 5; ++seed) {
            give(run, seed);
            run.run_async();
        }
        std::array<std::byte, 64> result;
        run.take(4, result);
        CHECK(digest(result) == expected(4));
    };
    check(no_plan{});
    check(recycle{});
    check(arena{diamond_plan});
}

TEST_CASE("steps run on the given streams")
{
    simple_device device;
    stream_executor run(device, diamond, diamond_options, recycle{}, synthetic_kernel{},
                        {.streams = 3, .stream_of = {2, 1, 0, 2}});
    CHECK(run.schedule().stream_of == std::vector<std::uint32_t>{2, 1, 0, 2});
    give(run, 1);
    run.run();
    CHECK(digest(run.output(4)) == expected(1));
    auto refused = [&](stream_options const& how) {
        CHECK_THROWS_AS(stream_executor(device, diamond, diamond_options, recycle{}, synthetic_kernel{}, how),
                        precondition_error);
    };
    refused({.streams = 2, .stream_of = {2, 1, 0, 2}});
    refused({.streams = 2, .stream_of = {0}});
    refused({.streams = 0});
    CHECK(device.streams.size() == 3);
    CHECK_NOTHROW((void)run.stream(2));
    CHECK_THROWS_AS((void)run.stream(3), precondition_error);
}

TEST_CASE("in an arena nothing is allocated during a run, on the device or on the host")
{
    simple_device device;
    stream_executor run(device, diamond, diamond_options, arena{diamond_plan}, synthetic_kernel{});
    give(run, 1);
    run.run();
    std::size_t const blocks = device.blocks.size();
    give(run, 2);
    std::size_t const before = heap_allocations;
    run_report const report = run.run();
    CHECK(heap_allocations == before);
    CHECK(device.blocks.size() == blocks);
    CHECK(report.run.allocations.total == 0);
}

TEST_CASE("with digests, a step that only makes a view may run while another writes the bytes again")
{
    //  0: -> r     1: makes v, a view of r     2: -> r, again     3: v -> y
    snapshot const p = sequence(4, 3, [](step_id step, effect_sink& s) {
        if (step == 0 || step == 2) s.def(0);
        if (step == 1) s.view(1);
        if (step == 3) s.use(1), s.def(2);
    });
    plan_options const options{
        .bytes = 64,
        .role = std::vector<value_role>{value_role::intermediate, value_role::intermediate, output},
        .alias_of = std::vector<value_id>{no_value, 0, no_value}};
    cpu_executor serial(p, options, no_plan{}, synthetic_kernel{});
    serial.run();
    for (std::uint32_t const which : {0u, 1u}) { // step 1 first, or last
        simulated_device device({.order = simulated_options::order_kind::starve, .which = which});
        stream_executor run(device, p, options, no_plan{}, synthetic_kernel{},
                            {.streams = 2, .stream_of = {0, 1, 0, 0}},
                            {.check = executor_options::checks::digest});
        run.run();
        CHECK(digest(run.output(2)) == digest(serial.output(2)));
    }
}

TEST_CASE("storage that is bound between two runs in an arena is used by the second")
{
    snapshot const doubled = sequence(1, 2, [](auto, effect_sink& s) { s.use(0), s.def(1); });
    plan_options const options{.bytes = 8, .role = std::vector<value_role>{value_role::external, output}};
    simple_device device;
    stream_executor run(device, doubled, options, arena{plan_memory(doubled, options)},
                        [](auto const& call) { call.out(0)[0] = call.in(0)[0]; });
    alignas(64) std::array<std::byte, 8> one{std::byte{1}}, two{std::byte{2}};
    run.bind(0, one);
    for (int i = 0; i != 2; ++i) run.run();
    CHECK(run.output(1)[0] == std::byte{1});
    run.bind(0, two);
    run.run();
    CHECK(run.output(1)[0] == std::byte{2});
}

TEST_CASE("a kernel that uses its own executor is rejected, whenever the device runs it")
{
    using kernel = std::function<void(stream_call<simulated_device::stream_type> const&)>;
    for (auto const order : {simulated_options::order_kind::in_turn, simulated_options::order_kind::eager,
                             simulated_options::order_kind::latest_first})
        for (int way = 0; way != 5; ++way) {
            CAPTURE(static_cast<int>(order));
            CAPTURE(way);
            simulated_device device({.order = order});
            stream_executor<simulated_device, kernel>* self = nullptr;
            std::array<std::byte, 64> room{};
            bool tries = true;
            kernel const reaching = [&](auto const& call) {
                if (tries) {
                    if (way == 0) self->run();
                    if (way == 1) self->synchronize();
                    if (way == 2) (void)self->input(0);
                    if (way == 3) self->give(0, room);
                    if (way == 4) self->take(4, room);
                }
                synthetic_kernel{}(call);
            };
            stream_executor run(device, diamond, diamond_options, recycle{}, reaching);
            self = &run;
            give(run, 1);
            try {
                run.run();
                FAIL_CHECK("a kernel ran its executor");
            } catch (run_error const& e) {
                CHECK(std::string(e.what()).find("an executor is used by its own kernel") !=
                      std::string::npos);
            }
            tries = false;
            give(run, 2);
            run.run();
            CHECK(digest(run.output(4)) == expected(2));
        }
}

TEST_CASE("work that is queued when an executor is destroyed is executed with a kernel that still exists")
{
    bool is_gone = false;
    std::size_t in_time = 0, late = 0;
    simulated_device device;
    {
        stream_executor run(device, diamond, diamond_options, no_plan{},
                            lifetime_kernel{is_gone, in_time, late});
        is_gone = false; // a copy was destroyed
        give(run, 3);
        run.run_async();
        CHECK(in_time == 0);
    }
    CHECK(in_time == 4);
    CHECK(late == 0);
}

TEST_CASE("a kernel that throws ends the run with its step, and the executor runs again")
{
    auto check = [&](auto& device, auto const& mode) {
        step_id failing = 2;
        auto const kernel = [&failing, compute = synthetic_kernel{}](auto const& call) {
            if (call.step == failing) throw std::bad_alloc();
            compute(call);
        };
        stream_executor run(device, diamond, diamond_options, mode, kernel);
        give(run, 1);
        try {
            run.run();
            FAIL("nothing was thrown");
        } catch (run_error const& e) {
            CHECK(e.step() == 2);
            CHECK(e.cause() != nullptr);
        }
        CHECK_THROWS_AS((void)run.output(4), unusable_value);
        failing = no_step;
        CHECK_THROWS_AS(run.run(), unusable_value);
        give(run, 2);
        run.run();
        CHECK(digest(run.output(4)) == expected(2));
    };
    simple_device simple;
    simulated_device simulated({.order = simulated_options::order_kind::starve});
    check(simple, no_plan{});
    check(simple, recycle{});
    check(simple, arena{diamond_plan});
    check(simulated, recycle{});
    check(simulated, arena{diamond_plan});
    CHECK(simple.blocks.empty());
}

TEST_CASE("any call that the device refuses ends a run or the constructor, and nothing leaks")
{
    auto check = [&](auto const& mode, executor_options::checks level) {
        for (std::uint64_t call = 0, runs = 0; runs != 2; ++call) {
            CAPTURE(call);
            simulated_device device;
            device.fail_after(call);
            bool has_failed = false;
            try {
                stream_executor run(device, diamond, diamond_options, mode, synthetic_kernel{}, {},
                                    {.check = level});
                try {
                    give(run, 1);
                    run.run();
                    CHECK(digest(run.output(4)) == expected(1));
                } catch (run_error const&) {
                    has_failed = true;
                }
                device.fail_after(simulated_device::never);
                give(run, 2);
                run.run();
                CHECK(digest(run.output(4)) == expected(2));
            } catch (simulated_device::failure const&) { // no executor was made
                has_failed = true;
            } catch (allocation_error const&) { // no arena was allocated
                has_failed = true;
            }
            runs = has_failed ? 0 : runs + 1;
            CHECK(device.memory().used == 0);
            CHECK(device.live_streams() == 0);
            CHECK(device.live_events() == 0);
        }
    };
    check(no_plan{}, executor_options::checks::plan);
    check(recycle{}, executor_options::checks::digest);
    check(arena{diamond_plan}, executor_options::checks::paint);
}

TEST_CASE("a lost device is not called any more")
{
    simulated_device device;
    stream_executor run(device, diamond, diamond_options, recycle{}, synthetic_kernel{});
    give(run, 1);
    device.lose_after(7);
    CHECK_THROWS_AS(run.run(), run_error);
    REQUIRE(device.is_lost());
    auto const calls = device.calls();
    CHECK_THROWS_AS(run.run(), precondition_error);
    CHECK_THROWS_AS(give(run, 1), precondition_error);
    CHECK_THROWS_AS((void)run.input(0), precondition_error);
    CHECK(device.calls() == calls);
}

TEST_CASE("a lost device is not called for the bytes of a bound value either")
{
    snapshot const doubled = sequence(1, 2, [](auto, effect_sink& s) { s.use(0), s.def(1); });
    plan_options const options{.bytes = 8, .role = std::vector<value_role>{value_role::external, output}};
    simulated_device device;
    stream_executor run(device, doubled, options, recycle{}, synthetic_kernel{});
    alignas(64) std::array<std::byte, 8> bound{}, taken{};
    run.bind(0, bound);
    run.take(0, taken);
    device.lose_after(1);
    CHECK_THROWS_AS(run.run(), run_error);
    REQUIRE(device.is_lost());
    auto const calls = device.calls();
    CHECK_THROWS_AS(run.take(0, taken), precondition_error);
    CHECK(device.calls() == calls);
}

TEST_CASE("a limit is enforced when blocks are issued, and the error names the step")
{
    simple_device device;
    stream_executor run(device, diamond, diamond_options, no_plan{}, synthetic_kernel{}, {},
                        {.limit = 3 * 64});
    give(run, 1);
    try {
        run.run();
        FAIL("nothing was thrown");
    } catch (allocation_error const& e) {
        CHECK(e.step() == 2);
        CHECK(e.bytes() == 64);
    }
    CHECK(device.blocks.empty());
}

TEST_CASE("an unsound plan is rejected; run without the proof, digests find the changed value")
{
    simulated_device device;
    plan_options options = diamond_options;
    options.in_place = false;
    memory_plan plan = plan_memory(diamond, options).plan;
    plan.buffers[plan.buffer_of[3]].offset = plan.offset_of(2); // b and c are both live at step 3
    auto make = [&](executor_options const& how, auto& on) {
        return stream_executor(on, diamond, options, arena{plan}, synthetic_kernel{}, {}, how);
    };
    CHECK_THROWS_AS(make({}, device), unsound_plan);
    auto run = make({.check = executor_options::checks::digest, .prove = false}, device);
    give(run, 1);
    try {
        run.run();
        FAIL("nothing was thrown");
    } catch (clobbered_value const& e) {
        CHECK(e.details() == clobbered_value::finding{
                                 .value = 2, .producer = 1, .reader = 3, .culprit = 3, .culprit_step = 2});
    }
    simple_device simple;
    CHECK_THROWS_AS(make({.check = executor_options::checks::digest, .prove = false}, simple),
                    precondition_error);
}

} // namespace this_test
