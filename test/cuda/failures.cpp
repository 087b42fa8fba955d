// SPDX-License-Identifier: BSL-1.0
// Makes every call of CUDA fail, one after another, in a run of an executor on the fake of the CUDA runtime.
#include <sublet/execution/cuda.hpp>

#include "cuda/device_run.hpp"
#include "cuda/fake_runtime.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <exception>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// The life of a device and an executor on it, with the n-th CUDA call failing.
struct executor_lifetime {
    std::vector<random_program> const programs{branches(1, 2, 100)};
    device_run const its{programs[0]};
    std::vector<digests> const expected = its.run_on_host(3);
    memory_plan const plan = its.plan();

    std::size_t failed_runs = 0, recovered = 0, lost = 0;

    /// Returns whether the call was reached.
    template <class Mode>
    bool with_failure(std::size_t nth, cudaError_t code, bool is_sticky, Mode const& mode, bool is_captured)
    {
        fake_cuda::start({.devices = 2});
        bool was_reached = false;
        try {
            digesting_device device(1);
            synthetic_words words(device, its.p.turns().size());
            device_run::blocks bound(device, its);
            fake_cuda::fail_call(nth, code, is_sticky);
            try {
                device_executor run(device, its.p.program(), its.p.options(), mode, {.words = &words},
                                    {.streams = 2, .keeps_io_addresses = is_captured},
                                    {.check = executor_options::checks::paint});
                auto attempt = [&](unsigned number) {
                    its.give(run, bound, number);
                    if (is_captured) {
                        auto graph = run.capture();
                        graph.launch();
                    } else run.run();
                    return its.take(run) == expected[number - 1];
                };
                for (unsigned number : {1u, 2u}) try {
                        bool const is_right = attempt(number); // a CHECK of it would catch its exceptions
                        CHECK(is_right);
                    } catch (std::exception const& failure) {
                        ++failed_runs;
                        check_kind(failure);
                        if (device.is_lost()) {
                            CHECK_THROWS_AS(run.run(), precondition_error);
                        } else {
                            fake_cuda::fail_call(0);
                            was_reached = true;
                            CHECK(attempt(3)); // usable again
                            ++recovered;
                        }
                    }
            } catch (std::exception const& failure) { // from the constructor, or after the device was lost
                check_kind(failure);
            }
            if (device.is_lost()) ++lost;
            was_reached = was_reached || fake_cuda::calls() >= nth;
            if (!is_sticky) fake_cuda::fail_call(0); // all that is held is released from here on
        } catch (cuda_error const&) {
            CHECK(is_sticky); // from synthetic_words, when the device is lost
        }
        CHECK(fake_cuda::calls_when_lost() <= 1); // as in test/execution/cuda/device.cpp
        if (!is_sticky) CHECK(fake_cuda::held() == fake_cuda::live_objects());
        if (!fake_cuda::misuses().empty()) FAIL_CHECK(fake_cuda::misuses().front());
        return was_reached;
    }

    static void check_kind(std::exception const& failure)
    {
        CAPTURE(failure.what());
        bool const is_ours = dynamic_cast<run_error const*>(&failure) != nullptr ||
                             dynamic_cast<cuda_error const*>(&failure) != nullptr ||
                             dynamic_cast<precondition_error const*>(&failure) != nullptr;
        CHECK(is_ours);
    }
};

} // namespace

TEST_CASE("any CUDA call of an executor may fail: nothing leaks and it runs again, unless the device is lost")
{
    executor_lifetime its;
    auto each_call = [&](cudaError_t code, bool is_sticky, auto const& mode, bool is_captured) {
        CAPTURE(static_cast<int>(code));
        CAPTURE(is_captured);
        std::size_t nth = 1;
        for (bool was_reached = true; was_reached; ++nth) {
            CAPTURE(nth);
            was_reached = its.with_failure(nth, code, is_sticky, mode, is_captured);
            REQUIRE(nth < 10'000);
        }
        CHECK(nth > 100);
    };
    for (bool const is_captured : {false, true}) {
        for (cudaError_t const code : {cudaErrorMemoryAllocation, cudaErrorLaunchFailure}) {
            bool const is_sticky = code == cudaErrorLaunchFailure;
            each_call(code, is_sticky, recycle{}, is_captured);
            each_call(code, is_sticky, arena{its.plan}, is_captured);
        }
    }
    CHECK(its.failed_runs > 1000);
    CHECK(its.recovered > 500);
    CHECK(its.lost > 500);
}

TEST_CASE("an executor reports the step of a failed kernel launch, and the bytes of a failed allocation")
{
    random_program const p = branches(1, 2, 100'000);
    device_run const its(p);
    fake_cuda::start({.devices = 1, .capacity = 450'000});
    {
        digesting_device device(0);
        synthetic_words words(device, p.turns().size());
        device_run::blocks bound(device, its);
        device_executor run(device, p.program(), p.options(), no_plan{}, {.words = &words}, {});
        its.give(run, bound, 1);
        try {
            run.run();
            FAIL("no exception was thrown");
        } catch (allocation_error const& failure) {
            CHECK(failure.bytes() > 90'000);
            CHECK(failure.step() != no_step);
        }
        device_executor small(device, p.program(), p.options(), recycle{}, {.words = &words}, {});
        its.give(small, bound, 1);
        CHECK_NOTHROW(small.run()); // the failed allocation has left nothing behind

        std::size_t named = 0;
        for (std::size_t nth = 1; nth != 200; ++nth) {
            its.give(small, bound, 1);
            fake_cuda::fail_call(nth, cudaErrorInvalidConfiguration);
            try {
                small.run();
            } catch (run_error const& failure) {
                bool const is_launch = fake_cuda::log().at(nth - 1) == "cudaLaunchKernel";
                if (is_launch) CHECK(failure.step() != no_step);
                named += failure.step() != no_step;
            }
            fake_cuda::fail_call(0);
        }
        CHECK(named > 20);
    }
    CHECK(fake_cuda::held() == fake_cuda::live_objects());
    CHECK(fake_cuda::misuses().empty());
}

} // namespace this_test
