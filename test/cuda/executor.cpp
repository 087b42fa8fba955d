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

#ifdef SUBLET_FAKE_CUDA
constexpr byte_count large = 4000;
#else
constexpr byte_count large = 4 << 20;
#endif

} // namespace

TEST_CASE("a random program on CUDA streams gives the results of the host, in every mode, checked or not")
{
    for (unsigned seed = 0; seed != 40; ++seed) {
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
            device_run::blocks bound(device, its);
            each_mode(plan, [&](auto const& mode) {
                for (std::size_t const streams : {1u, 2u, 8u}) {
                    executor_options::checks const level = streams == 1   ? executor_options::checks::digest
                                                           : streams == 2 ? executor_options::checks::paint
                                                                          : executor_options::checks::plan;
                    device_executor run(device, p.program(), p.options(), mode, {.words = &words},
                                        {.streams = streams}, {.check = level, .scratch = p.is_scratch});
                    for (unsigned number : {1u, 2u}) {
                        its.give(run, bound, number);
                        run.run();
                        CHECK(its.take(run) == expected[number - 1]);
                    }
                }
            });
            CHECK(words.count_clobbered() == 0);
        }
        end_test();
    }
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
    for (unsigned seed = 0; seed != 20; ++seed) {
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
            each_mode(plan, [&](auto const& mode) {
                device_executor run(device, p.program(), p.options(), mode, {.words = &words},
                                    {.streams = 1 + seed % 4, .keeps_io_addresses = true},
                                    {.scratch = p.is_scratch});
                its.give(run, bound, 1);
                auto graph = run.capture();
                graph.launch();
                CHECK(its.take(run) == expected[0]);
                its.give(run, bound, 2);
                graph.launch();
                CHECK(its.take(run) == expected[1]);
                for (int i = 0; i != 2; ++i) {
                    its.give(run, i == 0 ? others : bound, 1);
                    graph.launch();
                    CHECK(its.take(run) == expected[0]);
                }
            });
            CHECK(words.count_clobbered() == 0);
        }
        end_test();
    }
}

} // namespace this_test
