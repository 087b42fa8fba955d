// SPDX-License-Identifier: BSL-1.0
// A device that rejects a call, is lost, has no memory, or runs a kernel that throws, at any point: the run
// ends with an exception, nothing leaks or waits forever, and the executor can run again unless the device is
// lost.
#include <sublet/execution/streams.hpp>

#include "../checked_resource.hpp"
#include "../random_tasks.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/recording_device.hpp>
#include <sublet/testing/simulated_device.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

using bytes = std::vector<std::byte>;

/// A synthetic kernel that throws at one step.
struct throwing_kernel {
    step_id const* breaks;
    template <class Call>
    void operator()(Call const& call) const
    {
        if (call.step == *breaks) throw std::runtime_error("no");
        synthetic_kernel{}(call);
    }
};
using executor = stream_executor<simulated_device, throwing_kernel>;

/// A program of one-step tasks with all storage planned.
struct subject {
    snapshot program{};
    plan_options options{.bytes = 0};
    memory_plan plan{};
    std::vector<byte_count> sizes{};
    std::vector<value_id> inputs{}, outputs{};
    std::size_t steps = 0;

    explicit subject(unsigned seed)
    {
        random_source pick{std::mt19937{seed}};
        random_tasks p = draw_tasks(pick, {.tasks = 10, .back = 4, .early = 0, .in_place = 20});
        for (value_id v = 0; v != p.values(); ++v) {
            if (p.bytes[v] == 0) p.bytes[v] = 8;
            if (p.role[v] == value_role::external) p.role[v] = value_role::input;
            if (p.role[v] == value_role::input) inputs.push_back(v);
        }
        if (!p.tasks.back().defs.empty()) p.role[p.tasks.back().defs[0]] = value_role::output;
        for (value_id v = 0; v != p.values(); ++v)
            if (p.role[v] == value_role::output) outputs.push_back(v);
        program = p.program();
        options = p.options();
        sizes = p.bytes;
        plan = plan_memory(program, options).plan;
        steps = p.tasks.size();
    }
    bytes noise(value_id v) const
    {
        bytes all(static_cast<std::size_t>(sizes[v]));
        fill_noise(std::span(all), v);
        return all;
    }
    std::vector<bytes> expected() const
    {
        cpu_executor<synthetic_kernel> run(program, options, no_plan{}, {});
        for (value_id v : inputs) {
            bytes const all = noise(v);
            std::copy(all.begin(), all.end(), run.input(v).begin());
        }
        run.run();
        std::vector<bytes> left;
        for (value_id v : outputs) left.emplace_back(run.output(v).begin(), run.output(v).end());
        return left;
    }
    std::vector<bytes> run_on(executor& run) const
    {
        for (value_id v : inputs) run.give(v, noise(v));
        run.run();
        std::vector<bytes> left;
        for (value_id v : outputs) {
            left.emplace_back(static_cast<std::size_t>(sizes[v]));
            run.take(v, left.back());
        }
        return left;
    }
};

simulated_options adversary(unsigned seed, checked_resource& source)
{
    simulated_options::order_kind const orders[] = {simulated_options::order_kind::latest_first,
                                                    simulated_options::order_kind::random,
                                                    simulated_options::order_kind::starve};
    return {.order = orders[seed % 3], .seed = seed, .upstream = &source};
}

template <class Check>
void for_each_mode(Check check)
{
    for (unsigned seed = 0; seed != 6; ++seed) {
        CAPTURE(seed);
        subject const s(seed);
        if (s.outputs.empty()) continue;
        switch (seed % 3) {
        case 0: check(s, no_plan{}, seed); break;
        case 1: check(s, recycle{}, seed); break;
        default: check(s, arena{s.plan}, seed);
        }
    }
}

} // namespace

TEST_CASE("a device that rejects any call, or is lost at it, leaves no leak, and the executor can run again")
{
    std::size_t refused = 0, lost = 0;
    for_each_mode([&](subject const& s, auto const& mode, unsigned seed) {
        auto const expected = s.expected();
        step_id const breaks = no_step;
        for (bool is_loss : {false, true})
            for (std::uint64_t call = 0, is_over = 0; is_over == 0; ++call) {
                CAPTURE(is_loss);
                CAPTURE(call);
                checked_resource source;
                {
                    simulated_device device(adversary(seed, source));
                    if (is_loss) device.lose_after(call);
                    else device.fail_after(call);
                    try {
                        executor run(device, s.program, s.options, mode, throwing_kernel{&breaks},
                                     {.streams = 3});
                        bool has_failed = false;
                        try {
                            auto const left = s.run_on(run);
                            CHECK(left == expected);
                        } catch (std::exception const&) {
                            has_failed = true;
                        }
                        if (is_loss && has_failed) {
                            auto const calls = device.calls();
                            CHECK_THROWS_AS((void)run.run(), std::exception);
                            CHECK(device.calls() == calls); // no more calls
                        } else if (!is_loss) {
                            device.fail_after(simulated_device::never);
                            CHECK(s.run_on(run) == expected);
                        }
                        is_over = !has_failed;
                        (is_loss ? lost : refused) += has_failed;
                    } catch (std::exception const&) { // no executor was made
                        CHECK(device.calls() > call);
                    }
                    if (!is_loss) {
                        CHECK(device.memory().used == 0);
                        CHECK(device.live_streams() == 0);
                        CHECK(device.live_events() == 0);
                    }
                }
                CHECK(source.live_blocks.empty());
            }
    });
    CHECK(refused > 200);
    CHECK(lost > 200);
}

TEST_CASE("a failure of any allocation leaves no leak, and the executor can run again")
{
    std::size_t refused = 0;
    for_each_mode([&](subject const& s, auto const& mode, unsigned seed) {
        auto const expected = s.expected();
        step_id const breaks = no_step;
        for (std::size_t blocks = 0, is_over = 0; is_over == 0; ++blocks) {
            CAPTURE(blocks);
            checked_resource source;
            {
                simulated_device device(adversary(seed, source));
                source.max_allocations = blocks;
                try {
                    executor run(device, s.program, s.options, mode, throwing_kernel{&breaks},
                                 {.streams = 3});
                    try {
                        auto const left = s.run_on(run);
                        CHECK(left == expected);
                        is_over = 1;
                    } catch (allocation_error const& error) {
                        ++refused;
                        CHECK(error.bytes() >= source.refused_bytes);
                    }
                    source.max_allocations = ~std::size_t{0};
                    CHECK(s.run_on(run) == expected);
                } catch (allocation_error const&) { // the arena could not be allocated
                }
                CHECK(device.memory().used == 0);
            }
            CHECK(source.live_blocks.empty());
        }
    });
    CHECK(refused > 10);
}

TEST_CASE("a kernel that throws at any step, asynchronously and in any order, ends the run with that step")
{
    for_each_mode([&](subject const& s, auto const& mode, unsigned seed) {
        auto const expected = s.expected();
        step_id breaks = no_step;
        checked_resource source;
        {
            simulated_device device(adversary(seed, source));
            executor run(device, s.program, s.options, mode, throwing_kernel{&breaks}, {.streams = 3});
            for (step_id step = 0; step != s.steps; ++step) {
                CAPTURE(step);
                breaks = step;
                try {
                    (void)s.run_on(run);
                    FAIL_CHECK("nothing was thrown");
                } catch (run_error const& error) {
                    CHECK(error.step() == step);
                }
                breaks = no_step;
                CHECK(s.run_on(run) == expected);
            }
        }
        CHECK(source.live_blocks.empty());
    });
}

TEST_CASE("the commands of an executor have no race, in any mode, checked or not, in repeated runs")
{
    for_each_mode([&](subject const& s, auto const& mode, unsigned seed) {
        for (executor_options::checks level : {executor_options::checks::off, executor_options::checks::paint,
                                               executor_options::checks::digest}) {
            checked_resource source;
            simulated_device inner(adversary(seed, source));
            recording_device device(inner);
            {
                stream_executor run(device, s.program, s.options, mode, synthetic_kernel{}, {.streams = 4},
                                    {.check = level});
                for (int i = 0; i != 3; ++i) {
                    for (value_id v : s.inputs) run.give(v, s.noise(v));
                    if (i == 1) run.run();
                    else run.run_async();
                }
                run.synchronize();
                CHECK(device.check());
            }
            CHECK(device.check(true));
        }
    });
}

} // namespace this_test
