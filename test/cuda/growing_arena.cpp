// SPDX-License-Identifier: BSL-1.0
// Batches in one growing arena on CUDA streams: for a device, and for the fake of the CUDA runtime.
#include <sublet/execution/cuda_growing_arena.hpp>

#include "cuda/device_fixture.hpp"
#include "cuda/device_run.hpp"
#include "cuda/growing_batches.hpp"

#include <doctest/doctest.h>

#include <cstdint>
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

TEST_CASE("one executor on a device takes any batch before a run, and so does its graph")
{
    growing_batches const its(branches(3, 4, scale), 9);
    begin_test();
    {
        arena_on_device on(its);
        auto const run = its.executor(on.device, on.memory.at(2), on.words);
        auto const checked =
            its.executor(on.device, on.memory.at(2), on.words, executor_options::checks::digest);
        CHECK(run->schedule().streams == 1);
        auto graph = run->capture();
        for (byte_count const n : {2u, 9u, 1u, 4u, 4u, 9u}) {
            CAPTURE(n);
            run->set_shape(n);
            CHECK_THROWS_AS(graph.launch(), unusable_value); // no input
            for (unsigned number = 0; number != 3; ++number) {
                its.give(*run, n, number);
                if (number == 1) run->run_async();
                else graph.launch();
                CHECK(its.take(*run, n) == its.expected(n, number));
            }
            if (on.memory.is_growing()) {
                byte_count const unit = detail::cuda_mapping_of(on.device.calls()).value().granularity;
                CHECK(on.memory.bytes() == align_up(its.planned.plan.at(n).arena_bytes[0], unit));
            }
            checked->set_shape(n);
            its.give(*checked, n, 7);
            run_report const report = checked->run();
            CHECK(its.take(*checked, n) == its.expected(n, 7));
            CHECK(report.plan_bytes == its.planned.plan.at(n).arena_bytes[0]);
            CHECK(report.reserved == report.plan_bytes);
        }
        CHECK_THROWS_AS(run->set_shape(10), precondition_error);
        its.give(*run, 9, 3);
        graph.launch();
        CHECK(its.take(*run, 9) == its.expected(9, 3));
    }
    end_test();
}

TEST_CASE("a value without bytes for the first shape has them for another: they may be dead when a run ends")
{
    formula const n = symbol(0);
    snapshot const p =
        sequence(4, 5, [](std::uint32_t step, effect_sink& s) { s.use(step), s.def(step + 1); });
    for (value_id const small : {0u, 1u, 2u}) {
        CAPTURE(+small);
        std::vector<formula> bytes(5, 64 * n);
        bytes[+small] = 64 * n - 64;
        symbolic_options const options{.bytes = bytes,
                                       .dims = {{"n", 1, 9}},
                                       .alignment = 64,
                                       .role = {value_role::input, value_role::intermediate,
                                                value_role::intermediate, value_role::intermediate,
                                                value_role::output}};
        auto const planned = plan_symbolic(p, options);
        REQUIRE(planned);
        begin_test();
        {
            digesting_device device{first_device()};
            synthetic_words const words(device, p.steps());
            cuda_growing_arena memory(device, planned);
            device_executor run(device, p, options, memory.at(1), device_synthetic_kernel{.words = &words},
                                {}, {.check = executor_options::checks::digest});
            for (byte_count const shape : {1u, 9u, 1u, 4u}) {
                CAPTURE(shape);
                run.set_shape(shape);
                std::vector<std::byte> given(detail::to_size(bytes[0].at({shape})));
                fill_noise(given, shape);
                run.give(0u, given);
                CHECK_NOTHROW(run.run());
                std::vector<std::byte> found(detail::to_size(bytes[4].at({shape})));
                run.take(4u, found);
                cpu_executor expected(p, options.at(shape), no_plan{}, synthetic_kernel{});
                fill_noise(expected.input(0u), shape);
                expected.run();
                CHECK(digest(found) == digest(expected.output(4u)));
            }
        }
        end_test();
    }
}

TEST_CASE("a view without bytes for the first shape has them for another: its root is not painted before")
{
    formula const n = symbol(0);
    snapshot const p = sequence(3, 3, [](std::uint32_t step, effect_sink& s) {
        if (step == 0) return s.def(0);
        if (step == 1) return s.view(1);
        s.use(1), s.def(2);
    });
    symbolic_options const options{
        .bytes = {64 * n, 64 * n - 64, 64 * n},
        .dims = {{"n", 1, 9}},
        .alignment = 64,
        .role = {value_role::intermediate, value_role::intermediate, value_role::output},
        .alias_of = std::vector<value_id>{no_value, 0, no_value}};
    auto const planned = plan_symbolic(p, options);
    REQUIRE(planned);
    begin_test();
    {
        digesting_device device{first_device()};
        synthetic_words words(device, 3);
        cuda_growing_arena memory(device, planned);
        device_executor run(device, p, options, memory.at(1), device_synthetic_kernel{.words = &words}, {},
                            {.check = executor_options::checks::digest});
        for (byte_count const size : {1u, 4u, 1u}) {
            run.set_shape(size);
            run.run();
            std::vector<std::byte> found(64 * size);
            run.take(2, found);
            cpu_executor expected(p, options.at(size), no_plan{}, synthetic_kernel{});
            expected.run();
            CHECK(digest(found) == digest(expected.output(2)));
        }
    }
    end_test();
}

TEST_CASE("a run that is queued ends before its executor takes another batch")
{
    growing_batches const its(branches(2, 3, scale), 9);
    begin_test();
    {
        arena_on_device on(its);
        auto const run = its.executor(on.device, on.memory.at(9), on.words);
        its.give(*run, 9, 1);
        run->run_async();
        run->set_shape(1);
        CHECK_THROWS_AS((void)run->output(its.output), unusable_value);
        its.give(*run, 1, 2);
        run->run_async();
        CHECK(its.take(*run, 1) == its.expected(1, 2));
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
