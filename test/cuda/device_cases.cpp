// SPDX-License-Identifier: BSL-1.0
// The cases of bench_execution_cuda on the fake of the CUDA runtime: results, and counts of its calls.
#include "../../bench/cuda_cases.hpp"
#include "../../bench/small_networks.hpp"

#include "cuda/fake_runtime.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace bench;

namespace {

std::size_t logged(std::string const& name)
{
    auto const& log = fake_cuda::log();
    return static_cast<std::size_t>(std::count(log.begin(), log.end(), name));
}

/// The calls since the log was cleared.
command_counts logged_counts()
{
    return {.allocations = logged("cudaMallocFromPoolAsync") + logged("cudaMalloc"),
            .releases = logged("cudaFreeAsync") + logged("cudaFree"),
            .kernels = logged("cudaLaunchKernel"),
            .events = logged("cudaEventRecord"),
            .waits = logged("cudaStreamWaitEvent")};
}
void clear_log() { fake_cuda::fail_call(0); }

void expect_clean()
{
    CHECK(fake_cuda::held() == fake_cuda::live_objects());
    if (!fake_cuda::misuses().empty()) FAIL_CHECK(fake_cuda::misuses().front());
}

/// A subject on the fake's device 0, with what its cases share.
struct prepared_subject {
    explicit prepared_subject(plan_model::network const& net)
        : of(subject_of(net)), device(0), values(device, of), words(device, of.program.steps())
    {
        CHECK(step_kernel::full_grid(&how.blocks) == cudaSuccess);
    }

    device_subject of;
    cuda_device device;
    device_values values;
    synthetic_words words;
    case_setting how{0, of, values, words, 1, 3};
};

/// What the executor of a case issues in one run, or in a capture; and the nodes of its graph.
template <class Device>
void expect_counts(prepared_subject& its, device_case const& c)
{
    Device device(0);
    with_device_case(device, its.of, c, 3, case_kernel{2}, false, [&](auto& execute) {
        its.values.bind(execute);
        its.values.give_inputs(execute);
        command_counts const expected = counts_of(execute.schedule(), execute.order().lowered);
        if (c.is_captured) {
            std::size_t const inputs_and_outputs = fake_cuda::held().blocks;
            clear_log();
            auto graph = execute.capture();
            command_counts counts = logged_counts();
            if (!has_arena(c)) { // storage of inputs and outputs is provided before the capture
                CHECK(counts.allocations >= expected.allocations);
                counts.allocations = expected.allocations;
            }
            CHECK(counts == expected);
            CHECK(fake_cuda::graph_nodes() == expected.nodes());
            if (has_arena(c)) CHECK(fake_cuda::held().blocks == inputs_and_outputs);
            clear_log();
            graph.launch();
            CHECK(logged("cudaGraphLaunch") == 1);
            CHECK(logged_counts() == command_counts()); // one call issues all
            execute.synchronize();
        } else {
            clear_log();
            execute.run_async();
            CHECK(logged_counts() == expected);
            execute.synchronize();
        }
    });
}

} // namespace

TEST_CASE("every case leaves the same results on CUDA streams, checked, and issues what its schedule counts")
{
    for (plan_model::network const& net : small_networks()) {
        fake_cuda::start();
        {
            prepared_subject its(net);
            std::uint64_t expected = 0;
            for (device_case const& c : device_cases) {
                CAPTURE(std::string(c.name));
                CAPTURE(c.is_wide);
                CAPTURE(c.is_captured);
                case_row row;
                check_case(its.how, c, row);
                CHECK(!row.is_too_large);
                if (expected == 0) expected = row.digest;
                CHECK(row.digest == expected);
                if (c.memory == device_memory::separate_blocks) expect_counts<malloc_device>(its, c);
                else expect_counts<cuda_device>(its, c);
            }
            CHECK(expected != 0);
        }
        expect_clean();
    }
}

TEST_CASE("a timed case counts its memory alone, and the raw loop launches as many kernels")
{
    fake_cuda::start();
    {
        prepared_subject its(small_network({.batch = 2}));
        byte_count no_plan_bytes = 0, arena_bytes = 0;
        for (device_case const& c : device_cases) {
            CAPTURE(std::string(c.name));
            CAPTURE(c.is_wide);
            CAPTURE(c.is_captured);
            case_row row;
            clear_log();
            measure_case(its.how, c, 2, row);
            std::size_t const kernels = logged("cudaLaunchKernel");
            CHECK(row.its.issue.size() == 2);
            CHECK(row.its.total.size() == 2);
            CHECK(row.counts.kernels == its.of.program.steps());
            CHECK(row.raw.total.size() == (is_raw_reference(c) ? 2 : 0));
            // Three runs each; a capture issues once.
            std::size_t const issues = c.is_captured ? 1 : is_raw_reference(c) ? 6 : 3;
            CHECK(kernels == issues * row.counts.kernels);
            CHECK(row.use.used >= row.counted);
            if (c.memory != device_memory::separate_blocks) CHECK(row.use.reserved >= row.use.used);
            if (c.memory == device_memory::no_plan) no_plan_bytes = row.counted;
            if (has_arena(c)) {
                arena_bytes = std::max(arena_bytes, row.counted);
                CHECK(row.use.used == row.counted); // one block
            }
        }
        CHECK(no_plan_bytes >= its.of.naive);
        CHECK(arena_bytes < no_plan_bytes);
    }
    expect_clean();
}

TEST_CASE("a case that does not fit into the memory of the device is too large, and others run")
{
    plan_model::network const net = small_network({.batch = 20, .trains = false});
    device_subject const of = subject_of(net);
    byte_count const arena = of.one_order.arena_bytes[0];
    REQUIRE(2 * arena < of.naive);
    auto const capacity = detail::to_size(arena + arena / 4); // the fake limits each pool
    fake_cuda::start({.devices = 1, .capacity = capacity});
    {
        prepared_subject its(net);
        for (device_case const& c : device_cases) {
            CAPTURE(std::string(c.name));
            case_row row;
            check_case(its.how, c, row);
            measure_case(its.how, c, 1, row);
            CHECK(row.its.total.empty() == row.is_too_large);
            if (c.memory == device_memory::one_order) CHECK(!row.is_too_large);
            if (c.memory == device_memory::no_plan) CHECK(row.is_too_large);
        }
    }
    expect_clean();

    fake_cuda::start({.devices = 1, .capacity = 1000});
    {
        cuda_device device(0);
        try {
            device_values const values(device, of);
            FAIL("no exception was thrown");
        } catch (...) {
            CHECK(is_out_of_memory(std::current_exception()));
        }
        CHECK(!is_out_of_memory(std::make_exception_ptr(1)));
        CHECK(!is_out_of_memory(std::make_exception_ptr(cuda_error(cudaErrorLaunchFailure, "a call"))));
        CHECK(is_out_of_memory(std::make_exception_ptr(allocation_error(0, 1, nullptr))));
        CHECK(!is_out_of_memory(nullptr));
    }
    expect_clean();
}

TEST_CASE("whichever CUDA call finds no memory, the case is too large and nothing leaks")
{
    plan_model::network const net = small_network({.batch = 1, .trains = false});
    std::size_t failed = 0;
    for (std::size_t const which : {0u, 5u, 7u, 11u}) { // no plan, cudaMalloc, the driver, a captured arena
        device_case const& c = device_cases[which];
        CAPTURE(std::string(c.name));
        bool was_reached = true;
        for (std::size_t nth = 1; was_reached; nth += 61) {
            CAPTURE(nth);
            fake_cuda::start();
            {
                prepared_subject its(net);
                case_row row;
                fake_cuda::fail_call(nth, cudaErrorMemoryAllocation);
                REQUIRE_NOTHROW(measure_case(its.how, c, 1, row));
                was_reached = fake_cuda::calls() >= nth;
                if (!was_reached) CHECK(!row.is_too_large);
                failed += row.is_too_large;
                clear_log();
                case_row again;
                check_case(its.how, c, again);
                CHECK(!again.is_too_large);
            }
            expect_clean();
        }
    }
    CHECK(failed > 20);
}

TEST_CASE("a program with spills leaves the same results, with copies to page-locked memory")
{
    fake_cuda::start();
    {
        prepared_subject its(small_network({.batch = 2}));
        case_row plain, spilled;
        check_case(its.how, device_cases[8], plain);
        bool was_run = false;
        for (unsigned percent : {60u, 80u}) {
            spilled_subject const spills = spill_to(its.of, percent);
            if (!spills.advice) continue;
            was_run = was_run || spills.copies != 0;
            host_block const homes(its.device, spills.home_bytes);
            check_spills(its.how, spills, homes.first(), spilled);
            CHECK(spilled.digest == plain.digest);
            clear_log();
            case_row row;
            measure_spills(its.how, spills, homes.first(), 2, row);
            CHECK(row.its.total.size() == 2);
            CHECK(logged("cudaMemcpyAsync") == 3 * spills.copies);
            CHECK(logged("cudaLaunchKernel") == 3 * row.counts.kernels);
            CHECK(logged("cudaEventRecord") == 3 * row.counts.events);
            CHECK(row.counted <= percent_of(its.of.peak, percent));
        }
        CHECK(was_run);
    }
    expect_clean();
}

} // namespace this_test
