// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/cuda_runtime.hpp>

#include "cuda/fake_runtime.hpp"

#include <doctest/doctest.h>

#include <string>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a call is made on its device, and the caller's device is current again afterwards")
{
    fake_cuda::start({.devices = 2});
    cuda_calls calls(1);
    int during = -1, after = -1;
    calls("any", [&] { return cudaGetDevice(&during); });
    (void)cudaGetDevice(&after);
    CHECK(during == 1);
    CHECK(after == 0);

    // Also if it fails, or the callable throws.
    CHECK_THROWS_AS(calls("any", [] { return cudaErrorInvalidValue; }), cuda_error);
    CHECK_THROWS_AS(calls("any", []() -> cudaError_t { throw 3; }), int);
    calls.call_noexcept([] { return cudaErrorInvalidValue; });
    (void)cudaGetDevice(&after);
    CHECK(after == 0);

    // Nothing is set if it is current already.
    (void)cudaSetDevice(1);
    fake_cuda::fail_call(0);
    calls("any", [] { return cudaSuccess; });
    CHECK(fake_cuda::log() == std::vector<std::string>{"cudaGetDevice"});
}

TEST_CASE("a failed call is reported once, and leaves no error for later calls")
{
    fake_cuda::start();
    cuda_calls calls(0);
    fake_cuda::fail_call(2, cudaErrorMemoryAllocation);
    try {
        calls(
            "cudaSetDevice", [] { return cudaSetDevice(0); }, 5);
        FAIL("it failed");
    } catch (cuda_error const& failure) {
        CHECK(failure.code() == cudaErrorMemoryAllocation);
        CHECK(failure.step() == 5);
    }
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(!calls.is_lost());
    calls("cudaSetDevice", [] { return cudaSetDevice(0); });
}

TEST_CASE("a lost device is not called any more")
{
    int made = 0;
    auto make = [&] { return ++made, cudaErrorIllegalAddress; };
    for (bool is_quiet : {false, true}) {
        fake_cuda::start();
        cuda_calls calls(0), others(0);
        made = 0;
        if (is_quiet) calls.call_noexcept(make);
        else CHECK_THROWS_AS(calls("first", make), cuda_error);
        CHECK(calls.is_lost());
        CHECK(!others.is_lost()); // they have not made a call yet
        fake_cuda::fail_call(0);
        calls.call_noexcept(make);
        try {
            calls("second", make, 2);
            FAIL("a lost device was called");
        } catch (cuda_error const& refusal) {
            CHECK(refusal.code() == cudaErrorIllegalAddress);
            CHECK(std::string(refusal.call()) == "second");
            CHECK(refusal.step() == 2);
        }
        CHECK(made == 1);
        CHECK(fake_cuda::calls() == 0);
    }
}

TEST_CASE("a code that stays after it was cleared means a lost device, whatever its number")
{
    for (bool is_sticky : {false, true}) {
        fake_cuda::start();
        cuda_calls calls(0);
        fake_cuda::fail_call(2, cudaErrorNotSupported, is_sticky);
        CHECK_THROWS_AS(calls("cudaSetDevice", [] { return cudaSetDevice(0); }), cuda_error);
        CHECK(calls.is_lost() == is_sticky);
    }
}

TEST_CASE("a device that cannot be made current is an error of cudaSetDevice")
{
    fake_cuda::start({.devices = 1});
    cuda_calls calls(1);
    int made = 0;
    auto make = [&] { return ++made, cudaSuccess; };
    CHECK_THROWS_WITH(calls("any", make), "sublet: cudaSetDevice: cudaErrorInvalidDevice (as requested)");
    CHECK(made == 0);
    CHECK_THROWS_AS(calls.give_back("any", make), cuda_error); // but it is released
    calls.call_noexcept(make);
    CHECK(made == 2);
    CHECK_THROWS_AS(cuda_calls(-1), precondition_error);
}

} // namespace this_test
