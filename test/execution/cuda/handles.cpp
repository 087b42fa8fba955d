// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/cuda_handle.hpp>

#include "cuda/fake_runtime.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <utility>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

cuda_stream made_stream(cuda_calls& calls)
{
    return cuda_stream::made(calls, "cudaStreamCreateWithFlags", [](cudaStream_t* out) {
        return cudaStreamCreateWithFlags(out, cudaStreamNonBlocking);
    });
}

} // namespace

TEST_CASE("a handle is destroyed at the end of its owner")
{
    fake_cuda::start({.devices = 2});
    cuda_calls calls(1);
    {
        cuda_stream one = made_stream(calls), two = made_stream(calls);
        CHECK(fake_cuda::held().streams == 2);
        cuda_stream three = std::move(one);
        CHECK(one.handle() == nullptr);
        two = std::move(three);
        CHECK(two.handle() != nullptr);
        cuda_stream const nothing;
        CHECK(nothing.handle() == nullptr);
    }
    CHECK(fake_cuda::held() == fake_cuda::live_objects());

    cudaStream_t kept = made_stream(calls).release();
    CHECK(fake_cuda::held().streams == 1);
    cuda_stream{calls, kept};
    CHECK(fake_cuda::held().streams == 0);
    CHECK(fake_cuda::misuses().empty());
    static_assert(!std::is_copy_constructible_v<cuda_stream>);
    static_assert(std::is_nothrow_move_constructible_v<cuda_stream>);
}

TEST_CASE("a handle that could not be created is not destroyed, and destruction never throws")
{
    fake_cuda::start();
    cuda_calls calls(0);
    fake_cuda::fail_call(2, cudaErrorMemoryAllocation);
    CHECK_THROWS_AS(made_stream(calls), cuda_error);
    CHECK(fake_cuda::held() == fake_cuda::live_objects());
    {
        auto const one = made_stream(calls);
        fake_cuda::fail_call(2, cudaErrorInvalidValue);
    }
    CHECK(fake_cuda::held() == fake_cuda::live_objects());
    CHECK(fake_cuda::misuses().empty());
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("on a lost device nothing is destroyed")
{
    fake_cuda::start();
    cuda_calls calls(0);
    {
        auto const one = made_stream(calls), two = made_stream(calls);
        fake_cuda::fail_call(2, cudaErrorIllegalAddress, true); // found when the first is destroyed
    }
    CHECK(calls.is_lost());
    CHECK(fake_cuda::calls() == 2);
    CHECK(fake_cuda::calls_when_lost() == 0);
}

} // namespace this_test
