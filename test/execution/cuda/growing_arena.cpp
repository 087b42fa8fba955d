// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/cuda_growing_arena.hpp>

#include "cuda/device_run.hpp"
#include "cuda/fake_runtime.hpp"
#include "cuda/growing_batches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

growing_batches const& batches()
{
    static growing_batches const its(branches(1, 2, 1000), 32);
    return its;
}
void expect_nothing_is_left()
{
    CHECK(fake_cuda::held() == fake_cuda::live_objects());
    if (!fake_cuda::misuses().empty()) FAIL_CHECK(fake_cuda::misuses().front());
}
bool was_called(char const* name)
{
    auto const& log = fake_cuda::log();
    return std::find(log.begin(), log.end(), name) != log.end();
}

/// One run of each of these batches, in one arena. Returns the bytes that are mapped during each.
std::vector<std::size_t> run_in_turn(std::vector<byte_count> const& turns)
{
    growing_batches const& its = batches();
    std::vector<std::size_t> mapped;
    {
        digesting_device device(1);
        synthetic_words words(device, its.p.turns().size());
        cuda_growing_arena memory(device, its.planned);
        for (byte_count n : turns) {
            auto const run = its.executor(device, memory.at(n), n, words);
            its.give(*run, n, 5);
            run->run();
            CHECK(its.take(*run, n) == its.expected(n, 5));
            mapped.push_back(fake_cuda::mapped_bytes());
            if (memory.is_growing()) CHECK(mapped.back() == memory.bytes());
        }
    }
    expect_nothing_is_left();
    return mapped;
}

} // namespace

TEST_CASE("memory of a device follows the batch that runs, in units of its granularity")
{
    std::vector<byte_count> const turns{1, 3, 32, 31, 3, 1, 32, 1};
    for (std::size_t const granularity : {256u, 4096u, 1u << 16}) {
        fake_cuda::start({.devices = 2, .granularity = granularity});
        std::vector<std::size_t> const mapped = run_in_turn(turns);
        for (std::size_t i = 0; i != turns.size(); ++i)
            CHECK(mapped[i] == align_up(batches().planned.plan.at(turns[i]).arena_bytes[0], granularity));
    }
}

TEST_CASE("all streams are waited for before memory that they may use is unmapped")
{
    growing_batches const& its = batches();
    fake_cuda::start({.devices = 2});
    {
        digesting_device device(1);
        synthetic_words words(device, its.p.turns().size());
        cuda_growing_arena memory(device, its.planned);
        auto const many = its.executor(device, memory.at(32), 32, words);
        auto const one = its.executor(device, memory.at(1), 1, words);
        its.give(*many, 32, 1);
        fake_cuda::fail_call(0); // begins a new log
        many->run_async();
        std::vector<std::string> const issued = fake_cuda::log();
        CHECK(std::count(issued.begin(), issued.end(), "cudaStreamSynchronize") == 0);
        its.give(*one, 1, 1);
        auto const& log = fake_cuda::log();
        auto const unmapped = std::find(log.begin(), log.end(), "cuMemUnmap");
        REQUIRE(unmapped != log.end());
        CHECK(std::count(log.begin(), unmapped, "cudaStreamSynchronize") >= 3); // of both, and of the words
    }
    expect_nothing_is_left();
}

TEST_CASE("a device or a driver without mapped memory has one block of the largest batch")
{
    for (bool const has_driver_entries : {false, true}) {
        fake_cuda::start({.devices = 2, .has_mapping = false, .has_driver_entries = has_driver_entries});
        CHECK(run_in_turn({1, 32, 3, 1}) == std::vector<std::size_t>(4));
        CHECK(!was_called("cuMemAddressReserve"));
        CHECK(was_called("cuDeviceGetAttribute") == has_driver_entries);
        {
            cuda_device device(1);
            cuda_growing_arena memory(device, batches().planned);
            CHECK(!memory.is_growing());
            CHECK(memory.bytes() == batches().planned.plan.at(32).arena_bytes[0]);
            CHECK(fake_cuda::held().blocks == 1);
        }
        expect_nothing_is_left();
    }
}

TEST_CASE("a batch that does not fit the device is an error with its bytes, and smaller ones run on")
{
    growing_batches const& its = batches();
    std::size_t const granularity = 256;
    byte_count const capacity = align_up(its.planned.plan.at(5).arena_bytes[0], granularity) + 2000;
    fake_cuda::start({.devices = 2, .capacity = detail::to_size(capacity), .granularity = granularity});
    {
        digesting_device device(1);
        synthetic_words words(device, its.p.turns().size());
        cuda_growing_arena memory(device, its.planned);
        auto const five = its.executor(device, memory.at(5), 5, words);
        auto const many = its.executor(device, memory.at(20), 20, words);
        for (unsigned number : {1u, 2u}) {
            its.give(*five, 5, number);
            five->run();
            CHECK(its.take(*five, 5) == its.expected(5, number));
            try {
                its.give(*many, 20, number);
                FAIL("no error");
            } catch (allocation_error const& error) {
                CHECK(error.bytes() == its.planned.plan.at(20).arena_bytes[0]);
                CHECK(error.step() == no_step);
                CHECK(std::string(error.what()).find("cuMemCreate: cudaErrorMemoryAllocation") !=
                      std::string::npos);
            }
            CHECK_THROWS_AS((void)five->output(its.output), unusable_value);
        }
    }
    expect_nothing_is_left();
}

TEST_CASE(
    "any CUDA call of a growing arena may fail: nothing leaks, and it is used again or the device is lost")
{
    growing_batches const& its = batches();
    std::vector<byte_count> const turns{3, 32, 1, 8};
    std::vector<std::uint64_t> expected;
    for (byte_count n : turns) expected.push_back(its.expected(n, 5));
    std::size_t recovered = 0, lost = 0;
    for (bool const has_mapping : {true, false})
        for (cudaError_t const code : {cudaErrorMemoryAllocation, cudaErrorLaunchFailure}) {
            bool const is_sticky = code == cudaErrorLaunchFailure;
            bool was_reached = true;
            std::size_t nth = 1;
            for (; was_reached; ++nth) {
                CAPTURE(has_mapping);
                CAPTURE(is_sticky);
                CAPTURE(nth);
                REQUIRE(nth < 5000);
                was_reached = false;
                fake_cuda::start({.devices = 2, .has_mapping = has_mapping, .granularity = 256});
                try {
                    digesting_device device(1);
                    synthetic_words words(device, its.p.turns().size());
                    fake_cuda::fail_call(nth, code, is_sticky);
                    try {
                        cuda_growing_arena memory(device, its.planned);
                        for (std::size_t i = 0; i != turns.size(); ++i) {
                            auto attempt = [&] {
                                auto const run = its.executor(device, memory.at(turns[i]), turns[i], words);
                                its.give(*run, turns[i], 5);
                                run->run();
                                return its.take(*run, turns[i]) == expected[i];
                            };
                            bool is_right = false;
                            try {
                                is_right = attempt();
                            } catch (std::exception const&) {
                                if (device.is_lost()) throw;
                                was_reached = true;
                                fake_cuda::fail_call(0);
                                is_right = attempt(); // usable again
                                ++recovered;
                            }
                            CHECK(is_right);
                        }
                        was_reached = was_reached || fake_cuda::calls() >= nth;
                        if (!is_sticky) fake_cuda::fail_call(0); // all that is held is released from here on
                    } catch (std::exception const& failure) {    // from the constructor, or a lost device
                        CAPTURE(failure.what());
                        bool const is_ours = dynamic_cast<run_error const*>(&failure) != nullptr ||
                                             dynamic_cast<cuda_error const*>(&failure) != nullptr ||
                                             dynamic_cast<precondition_error const*>(&failure) != nullptr;
                        CHECK(is_ours);
                        was_reached = true;
                        if (!is_sticky) fake_cuda::fail_call(0);
                    }
                    lost += device.is_lost();
                } catch (cuda_error const&) {
                    CHECK(is_sticky); // from synthetic_words, when the device is lost
                }
                CHECK(fake_cuda::calls_when_lost() <= 1);
                if (!is_sticky) CHECK(fake_cuda::held() == fake_cuda::live_objects());
                if (!fake_cuda::misuses().empty()) FAIL_CHECK(fake_cuda::misuses().front());
            }
            CHECK(nth > 100);
        }
    CHECK(recovered > 200);
    CHECK(lost > 200);
}

} // namespace this_test
