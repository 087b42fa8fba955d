// SPDX-License-Identifier: BSL-1.0
// Batches in one growing arena on CUDA streams: for a device, and for the fake of the CUDA runtime.
#include <sublet/execution/cuda_growing_arena.hpp>

#include "cuda/device_fixture.hpp"
#include "cuda/device_run.hpp"
#include "cuda/growing_batches.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

constexpr byte_count scale = fake_or_real(1000, 1 << 20);

/// Memory that grows with a batch, on a device.
struct arena_on_device {
    explicit arena_on_device(growing_batches const& its)
        : words(device, its.p.turns().size()), memory(device, its.planned)
    {
    }
    digesting_device device{first_device()};
    synthetic_words words;
    cuda_growing_arena memory;
};

} // namespace

TEST_CASE("executors of several batches on CUDA streams share one growing arena, and so do their graphs")
{
    growing_batches const its(branches(3, 4, scale), 9);
    begin_test();
    {
        arena_on_device on(its);
        CHECK(on.memory.bytes() == 0);
        std::vector<std::unique_ptr<device_executor>> all;
        std::vector<byte_count> const batches{1, 9, 4};
        for (byte_count n : batches)
            all.push_back(its.executor(on.device, on.memory.at(n), n, on.words, {.streams = 3}));
        CHECK(on.memory.bytes() == 0);
        byte_count small = 0;
        std::vector<captured_run<device_executor, cuda_device::graph_type>> graphs;
        for (auto const& each : all) graphs.push_back(each->capture());
        auto const first = on.memory.addresses();
        for (unsigned number = 0; number != 12; ++number) {
            std::size_t const i = number % 5 % 3;
            CAPTURE(batches[i]);
            device_executor& run = *all[i];
            its.give(run, batches[i], number);
            if (number % 4 == 3) run.run_async();
            else graphs[i].launch();
            CHECK(its.take(run, batches[i]) == its.expected(batches[i], number));
            CHECK_THROWS_AS((void)all[(i + 1) % 3]->output(its.output), unusable_value);
            byte_count const needed = its.planned.plan.at(batches[i]).arena_bytes[0];
            CHECK(on.memory.bytes() >= needed);
            if (on.memory.is_growing()) {
                byte_count const unit = detail::cuda_mapping_of(on.device.calls()).value().granularity;
                CHECK(on.memory.bytes() == align_up(needed, unit));
            }
            if (i == 0) small = on.memory.bytes();
            else if (on.memory.is_growing() && small != 0) CHECK(on.memory.bytes() > small);
        }
        CHECK(on.memory.addresses() == first);
    }
    end_test();
}

TEST_CASE("an input on a device is lost when another executor is used, and a run without it is refused")
{
    growing_batches const its(branches(1, 2, scale), 5);
    begin_test();
    {
        arena_on_device on(its);
        auto const two = its.executor(on.device, on.memory.at(2), 2, on.words);
        auto const five = its.executor(on.device, on.memory.at(5), 5, on.words);
        its.give(*two, 2, 1);
        its.give(*five, 5, 1);
        CHECK_THROWS_AS(two->run(), unusable_value);
        five->run(); // the refused run has changed nothing
        CHECK(its.take(*five, 5) == its.expected(5, 1));
        its.give(*two, 2, 1);
        two->run();
        CHECK(its.take(*two, 2) == its.expected(2, 1));
    }
    end_test();
}

TEST_CASE("a checked run in a growing arena finds dead bytes painted, whatever ran before")
{
    growing_batches const its(branches(2, 3, scale), 5);
    begin_test();
    {
        arena_on_device on(its);
        for (byte_count n : {5u, 2u, 5u}) {
            auto const run = its.executor(on.device, on.memory.at(n), n, on.words, {.streams = 2},
                                          executor_options::checks::digest);
            for (unsigned number : {1u, 2u}) {
                its.give(*run, n, number);
                run->run();
                CHECK(its.take(*run, n) == its.expected(n, number));
            }
        }
    }
    end_test();
}

} // namespace this_test
