// SPDX-License-Identifier: BSL-1.0
// Programs on CUDA streams give the results of the host: for a device, and for the fake of the CUDA runtime.
#include <sublet/execution/cuda.hpp>
#include <sublet/plan_concurrent.hpp>

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

/// A program with its results in some runs, and a device for it.
struct program_on_device {
    program_on_device(random_program const& drawn, unsigned runs) : p(drawn), expected(its.run_on_host(runs))
    {
    }
    program_on_device(program_on_device const&) = delete;

    random_program p;
    device_run its{p};
    std::vector<digests> expected; ///< of each run
    memory_plan plan = its.plan();
    digesting_device device{first_device()};
    synthetic_words words{device, p.turns().size()};
    device_run::blocks bound{device, its};
};

/// Calls `check(on, mode, seed)` with each of so many programs and each mode of memory.
template <class Check>
void each_program(unsigned count, Check check)
{
    for (unsigned seed = 0; seed != count; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        begin_test();
        {
            program_on_device on(draw_program(pick, 8), 2);
            each_mode(on.plan, [&](auto const& mode) { check(on, mode, seed); });
            CHECK(on.words.count_clobbered() == 0);
        }
        end_test();
    }
}

constexpr byte_count large = fake_or_real(4000, 4 << 20);

} // namespace

TEST_CASE("a random program on CUDA streams gives the results of the host, in every mode, checked or not")
{
    each_program(40, [](program_on_device& on, auto const& mode, unsigned) {
        for (std::size_t const streams : {1u, 2u, 8u}) {
            executor_options::checks const level = streams == 1   ? executor_options::checks::digest
                                                   : streams == 2 ? executor_options::checks::paint
                                                                  : executor_options::checks::plan;
            device_executor run(on.device, on.p.program(), on.p.options(), mode, {.words = &on.words},
                                {.streams = streams}, {.check = level});
            for (unsigned number : {1u, 2u}) {
                on.its.give(run, on.bound, number);
                run.run();
                CHECK(on.its.take(run) == on.expected[number - 1]);
            }
        }
    });
}

TEST_CASE("branches on one to eight CUDA streams give the same results in every mode, however late some are")
{
    begin_test();
    {
        program_on_device on(branches(4, 6, large), 3);
        byte_count high = 0; // without a plan
        each_mode(on.plan, [&](auto const& mode) {
            synchronize_device(on.device);
            byte_count before = on.device.memory().used, most = 0;
            for (std::size_t streams = 1; streams <= 8; ++streams) {
                CAPTURE(streams);
                on.device.reset_high();
                device_executor run(on.device, on.p.program(), on.p.options(), mode,
                                    {.words = &on.words, .idle_cycles = 100'000}, {.streams = streams});
                for (unsigned number : {1u, 2u, 3u}) {
                    on.its.give(run, on.bound, number);
                    run_report const report = run.run();
                    CHECK(report.workers <= streams);
                    CHECK(on.its.take(run) == on.expected[number - 1]);
                }
                if (streams == 1) most = on.device.memory().used_high - before;
            }
            synchronize_device(on.device);
            CHECK(on.device.memory().used == before); // all is released
            if (high == 0) high = most;
            else CHECK(most < high);
        });
        CHECK(on.words.count_clobbered() == 0);
    }
    end_test();
}

TEST_CASE("a captured run gives the right results at each launch, with new inputs")
{
    begin_test();
    {
        program_on_device on(branches(3, 4, large), 3);
        each_mode(on.plan, [&](auto const& mode) {
            for (std::size_t const streams : {1u, 3u, 8u}) {
                CAPTURE(streams);
                device_executor run(on.device, on.p.program(), on.p.options(), mode, {.words = &on.words},
                                    {.streams = streams, .keeps_io_addresses = true});
                auto graph = run.capture();
                for (unsigned number : {1u, 2u, 3u}) {
                    on.its.give(run, on.bound, number);
                    if (number == 2) run.run(); // in between, without the graph
                    else graph.launch();
                    CHECK(on.its.take(run) == on.expected[number - 1]);
                }
            }
        });
        CHECK(on.words.count_clobbered() == 0);
        CHECK(on.device.graph_memory().used_high > 0); // for the two modes that allocate
        on.device.trim();
    }
    end_test();
}

TEST_CASE("a captured run gives the right results after other storage was bound")
{
    each_program(20, [](program_on_device& on, auto const& mode, unsigned seed) {
        device_run::blocks others(on.device, on.its);
        device_executor run(on.device, on.p.program(), on.p.options(), mode, {.words = &on.words},
                            {.streams = 1 + seed % 4, .keeps_io_addresses = true});
        on.its.give(run, on.bound, 1);
        auto graph = run.capture();
        graph.launch();
        CHECK(on.its.take(run) == on.expected[0]);
        on.its.give(run, on.bound, 2);
        graph.launch();
        CHECK(on.its.take(run) == on.expected[1]);
        for (int i = 0; i != 2; ++i) {
            on.its.give(run, i == 0 ? others : on.bound, 1);
            graph.launch();
            CHECK(on.its.take(run) == on.expected[0]);
        }
    });
}

TEST_CASE(
    "what is carried from round to round is there on CUDA streams, queued at once or in a captured graph")
{
    begin_test();
    {
        random_program drawn = branches(2, 3, large);
        value_id const first = 0, last = drawn.values() - 1;
        drawn.bytes[last] = drawn.bytes[first];
        program_on_device on(drawn, 1);
        plan_options carried = on.p.options();
        carried.carried = {{last, first}};
        memory_plan const plan = plan_concurrent(on.p.program(), carried).plan;
        std::vector<std::byte> const noise = on.its.noise(first, 1);
        std::vector<std::vector<std::byte>> left; // by each round
        {
            device_executor apart(on.device, on.p.program(), on.p.options(), no_plan{}, {.words = &on.words});
            std::vector<std::byte> bytes = noise;
            for (int round = 0; round != 6; ++round) {
                apart.give(first, bytes);
                apart.run();
                apart.take(last, bytes);
                left.push_back(bytes);
            }
        }
        each_mode(plan, [&](auto const& mode) {
            for (std::size_t const streams : {1u, 3u}) {
                CAPTURE(streams);
                device_executor run(on.device, on.p.program(), carried, mode, {.words = &on.words},
                                    {.streams = streams, .keeps_io_addresses = true});
                auto graph = run.capture();
                std::vector<std::byte> bytes(noise.size());
                run.give(first, noise);
                for (std::size_t round = 0; round != left.size(); ++round) {
                    if (round % 3 == 0) run.run_async();
                    else graph.launch();
                    if (round % 2 == 0) continue;
                    run.take(last, bytes);
                    CHECK(bytes == left[round]);
                }
            }
        });
        on.device.trim();
    }
    end_test();
}

} // namespace this_test
