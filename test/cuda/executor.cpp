// SPDX-License-Identifier: BSL-1.0
// Programs on CUDA streams give the results of the host: for a device, and for the fake of the CUDA runtime.
#include <sublet/execution/cuda.hpp>

#include "cuda/device_fixture.hpp"
#include "cuda/device_run.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// Calls `check(mode)` with each of the three modes.
template <class Check>
void each_mode(memory_plan const& plan, Check check)
{
    check(no_plan{});
    check(recycle{});
    check(arena{plan});
}

/// A random program with its results in two runs, and a device for it.
struct program_on_device {
    unsigned seed;
    random_program const& p;
    device_run const& its;
    std::vector<digests> const& expected; ///< of each run
    digesting_device& device;
    synthetic_words const& words;
};

/// Calls `check` with each of so many programs and each mode of memory.
template <class Check>
void each_program(unsigned count, Check check)
{
    for (unsigned seed = 0; seed != count; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program const p = draw_program(pick, 8);
        device_run const its(p);
        auto const expected = its.run_on_host(2);
        auto const plan = its.plan();
        begin_test();
        {
            digesting_device device(first_device());
            synthetic_words words(device, p.turns().size());
            device_run::blocks bound(device, its), others(device, its);
            program_on_device const on{seed, p, its, expected, device, words};
            each_mode(plan, [&](auto const& mode) { check(on, mode, bound, others); });
            CHECK(words.count_clobbered() == 0);
        }
        end_test();
    }
}

#ifdef SUBLET_FAKE_CUDA
constexpr byte_count large = 4000;
#else
constexpr byte_count large = 4 << 20;
#endif

} // namespace

TEST_CASE("a random program on CUDA streams gives the results of the host, in every mode, checked or not")
{
    each_program(40, [](program_on_device const& on, auto const& mode, auto& bound, auto&) {
        for (std::size_t const streams : {1u, 2u, 8u}) {
            executor_options::checks const level = streams == 1   ? executor_options::checks::digest
                                                   : streams == 2 ? executor_options::checks::paint
                                                                  : executor_options::checks::plan;
            device_executor run(on.device, on.p.program(), on.p.options(), mode, {.words = &on.words},
                                {.streams = streams}, {.check = level, .scratch = on.p.is_scratch});
            for (unsigned number : {1u, 2u}) {
                on.its.give(run, bound, number);
                run.run();
                CHECK(on.its.take(run) == on.expected[number - 1]);
            }
        }
    });
}

TEST_CASE("branches on one to eight CUDA streams give the same results in every mode, however late some are")
{
    random_program const p = branches(4, 6, large);
    device_run const its(p);
    auto const expected = its.run_on_host(3);
    auto const plan = its.plan();
    begin_test();
    {
        digesting_device device(first_device());
        synthetic_words words(device, p.turns().size());
        device_run::blocks bound(device, its);
        byte_count high = 0; // without a plan
        each_mode(plan, [&](auto const& mode) {
            synchronize_device(device);
            byte_count before = device.memory().used, most = 0;
            for (std::size_t streams = 1; streams <= 8; ++streams) {
                CAPTURE(streams);
                device.reset_high();
                device_executor run(device, p.program(), p.options(), mode,
                                    {.words = &words, .idle_cycles = 100'000}, {.streams = streams},
                                    {.scratch = p.is_scratch});
                for (unsigned number : {1u, 2u, 3u}) {
                    its.give(run, bound, number);
                    run_report const report = run.run();
                    CHECK(report.workers <= streams);
                    CHECK(its.take(run) == expected[number - 1]);
                }
                if (streams == 1) most = device.memory().used_high - before;
            }
            synchronize_device(device);
            CHECK(device.memory().used == before); // all is released
            if (high == 0) high = most;
            else CHECK(most < high);
        });
        CHECK(words.count_clobbered() == 0);
    }
    end_test();
}

TEST_CASE("a captured run gives the right results at each launch, with new inputs")
{
    random_program const p = branches(3, 4, large);
    device_run const its(p);
    auto const expected = its.run_on_host(3);
    auto const plan = its.plan();
    begin_test();
    {
        digesting_device device(first_device());
        synthetic_words words(device, p.turns().size());
        device_run::blocks bound(device, its);
        each_mode(plan, [&](auto const& mode) {
            for (std::size_t const streams : {1u, 3u, 8u}) {
                CAPTURE(streams);
                device_executor run(device, p.program(), p.options(), mode, {.words = &words},
                                    {.streams = streams, .keeps_io_addresses = true},
                                    {.scratch = p.is_scratch});
                auto graph = run.capture();
                for (unsigned number : {1u, 2u, 3u}) {
                    its.give(run, bound, number);
                    if (number == 2) run.run(); // in between, without the graph
                    else graph.launch();
                    CHECK(its.take(run) == expected[number - 1]);
                }
            }
        });
        CHECK(words.count_clobbered() == 0);
        CHECK(device.graph_memory().used_high > 0); // for the two modes that allocate
        device.trim();
    }
    end_test();
}

TEST_CASE("a captured run gives the right results after other storage was bound")
{
    each_program(20, [](program_on_device const& on, auto const& mode, auto& bound, auto& others) {
        device_executor run(on.device, on.p.program(), on.p.options(), mode, {.words = &on.words},
                            {.streams = 1 + on.seed % 4, .keeps_io_addresses = true},
                            {.scratch = on.p.is_scratch});
        on.its.give(run, bound, 1);
        auto graph = run.capture();
        graph.launch();
        CHECK(on.its.take(run) == on.expected[0]);
        on.its.give(run, bound, 2);
        graph.launch();
        CHECK(on.its.take(run) == on.expected[1]);
        for (int i = 0; i != 2; ++i) {
            on.its.give(run, i == 0 ? others : bound, 1);
            graph.launch();
            CHECK(on.its.take(run) == on.expected[0]);
        }
    });
}

} // namespace this_test
