// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/cuda_runtime.hpp>

#include "cuda/fake_runtime.hpp"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a cuda_error names the call, the code and the step")
{
    fake_cuda::start();
    cuda_error const one(cudaErrorMemoryAllocation, "cudaMallocFromPoolAsync");
    CHECK(one.code() == cudaErrorMemoryAllocation);
    CHECK(std::string(one.call()) == "cudaMallocFromPoolAsync");
    CHECK(one.step() == no_step);
    CHECK(std::string(one.what()) ==
          "sublet: cudaMallocFromPoolAsync: cudaErrorMemoryAllocation (as requested)");
    CHECK(std::string(cuda_error(cudaErrorInvalidValue, "a kernel's launch", 7).what()) ==
          "sublet: a kernel's launch: cudaErrorInvalidValue (as requested), at step 7");
    CHECK(cuda_error(cudaErrorInvalidValue, "a kernel's launch", 7).step() == 7);
    static_assert(std::is_nothrow_copy_constructible_v<cuda_error>);
}

TEST_CASE("sticky codes are known, and no others")
{
    int sticky = 0;
    for (int code = 0; code != 1000; ++code) sticky += detail::is_sticky(static_cast<cudaError_t>(code));
    CHECK(sticky == 19);
    for (cudaError_t code : {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorAssert,
                             cudaErrorECCUncorrectable, cudaErrorLaunchTimeout})
        CHECK(detail::is_sticky(code));
    for (cudaError_t code :
         {cudaSuccess, cudaErrorMemoryAllocation, cudaErrorInvalidValue, cudaErrorLaunchOutOfResources,
          cudaErrorInvalidConfiguration, cudaErrorStreamCaptureInvalidated, cudaErrorNotReady,
          cudaErrorInsufficientDriver})
        CHECK(!detail::is_sticky(code));
}

} // namespace this_test
