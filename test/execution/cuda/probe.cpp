// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/cuda.hpp>

#include "cuda/fake_runtime.hpp"

#include <doctest/doctest.h>

#include <string>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// The text before the versions.
std::string why(fake_cuda::machine const& how)
{
    fake_cuda::start(how);
    auto const found = cuda::probe();
    CHECK(found.is_usable() == (found.first() != nullptr));
    CHECK(cudaPeekAtLastError() == cudaSuccess); // the next query finds no error
    std::string const text = found.why();
    CHECK(text.find(" [runtime ") != std::string::npos);
    return text.substr(0, text.find(" [runtime "));
}

} // namespace

TEST_CASE("a probe says why no device is usable")
{
    CHECK(why({.driver = 0, .start_up = cudaErrorInsufficientDriver}) ==
          "no CUDA driver is installed: libcuda.so.1 is not found");
    CHECK(why({.driver = 11000, .start_up = cudaErrorInsufficientDriver}) ==
          "the CUDA driver is too old for the runtime of this program");
    CHECK(why({.devices = 0}) == "there is a CUDA driver, but no device");
    CHECK(why({.start_up = cudaErrorNoDevice}) == "there is a CUDA driver, but no device");
    CHECK(why({.start_up = cudaErrorUnknown}) == "CUDA does not start: an error of the fake (as requested)");
    std::string const none =
        "no CUDA device supports memory pools, or this process may not use one that does";
    CHECK(why({.has_pools = false}) == none);
    CHECK(why({.is_prohibited = true}) == none);
}

TEST_CASE("a probe names the first usable device, and lists all")
{
    CHECK(why({.devices = 2, .capacity = 1 << 20}) == "CUDA device 0: Fake A, compute capability 9.0");
    auto const found = cuda::probe();
    REQUIRE(found.devices.size() == 2);
    CHECK(found.first()->id == 0);
    CHECK(std::string(found.devices[1].name) == "Fake B");
    CHECK(found.devices[1].id == 1);
    CHECK(found.devices[1].major == 9);
    CHECK(found.devices[1].bytes == 1 << 20);

    fake_cuda::start({.devices = 2, .driver = 13010});
    fake_cuda::fail_call(2, cudaErrorInvalidValue); // the properties of device 0
    auto const second = cuda::probe();
    CHECK(second.first() == &second.devices[1]);
    CHECK(std::string(second.why()).find("CUDA device 1: Fake B") == 0);
    CHECK(std::string(second.why()).find(", driver 13.1]") != std::string::npos);
}

TEST_CASE("a probe does not throw, whichever of its calls fails")
{
    std::size_t nth = 1;
    for (;; ++nth) {
        fake_cuda::start({.devices = 2});
        fake_cuda::fail_call(nth);
        auto const found = cuda::probe();
        CHECK(cudaPeekAtLastError() == cudaSuccess);
        if (fake_cuda::calls() < nth) break;
        CHECK(found.is_usable() == (nth != 1)); // one of two devices is left, unless the count fails
    }
    CHECK(nth == 8); // the count, and three queries for each
}

} // namespace this_test
