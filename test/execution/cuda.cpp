// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/cuda.hpp>

#include "cuda/fake_runtime.hpp"

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;

TEST_CASE("a probe finds a device, and the device executes commands")
{
    fake_cuda::start();
    auto const found = cuda::probe();
    REQUIRE(found.is_usable());
    {
        cuda_device device(found.first()->id);
        auto const stream = device.make_stream();
        device.deallocate(device.allocate(8, 8, stream), 8, 8, stream);
        device.destroy_stream(stream);
    }
    CHECK(fake_cuda::held() == fake_cuda::live_objects());
    CHECK(fake_cuda::misuses().empty());
}

} // namespace this_test
