// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/cuda.hpp>

#include "cuda/fake_runtime.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct call { // the parts of a call that a device uses
    step_id step = 0;
    cudaStream_t where = nullptr;
};

} // namespace

TEST_CASE("bytes are copied to a device and back, in stream order")
{
    {
        fake_cuda::start({.devices = 2});
        cuda_device device(1);
        CHECK(device.id() == 1);
        auto const stream = device.make_stream(), other = device.make_stream();
        auto const event = device.make_event();
        auto* const bytes = device.allocate(4, 1, stream);
        std::array<std::byte, 4> const sent{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
        device.copy_to_device(bytes, sent, stream);
        device.fill(bytes, std::byte{9}, 1, stream);
        device.record(event, stream);
        device.wait(other, event);
        std::array<std::byte, 4> came{};
        device.copy_from_device(came, bytes, other);
        device.synchronize(other);
        CHECK(came == std::array{std::byte{9}, std::byte{2}, std::byte{3}, std::byte{4}});

        fake_cuda::fail_call(1); // nothing to do makes no call
        device.fill(bytes, std::byte{}, 0, stream);
        device.copy_to_device(bytes, {}, stream);
        device.copy_from_device({}, bytes, stream);
        CHECK(fake_cuda::calls() == 0);
        fake_cuda::fail_call(0);

        device.synchronize();
        CHECK(device.memory().used == 4);
        device.deallocate(bytes, 4, 1, other);
        device.destroy_event(event);
        device.destroy_stream(stream);
        device.synchronize(); // a destroyed stream has no effect
        device.destroy_stream(other);
        CHECK(device.memory().used == 0);
        CHECK(device.memory().used_high == 4);
        int now = -1;
        (void)cudaGetDevice(&now);
        CHECK(now == 0);
    }
    CHECK(fake_cuda::held() == fake_cuda::live_objects());
    CHECK(fake_cuda::misuses().empty());
}

TEST_CASE("a kernel is called at once, on its device, and an error of its launch names the step")
{
    fake_cuda::start({.devices = 2});
    cuda_device device(1);
    auto const stream = device.make_stream();
    int ran = 0, on = -1;
    auto kernel = [&](call const& c) {
        (void)cudaGetDevice(&on);
        fake_cuda::launch(c.where, [&] { ++ran; });
    };
    (void)cudaMemsetAsync(nullptr, 0, 1, stream); // an older error, which is not the kernel's
    device.launch(stream, kernel, call{3, stream});
    CHECK(ran == 1);
    CHECK(on == 1);

    fake_cuda::fail_call(4, cudaErrorLaunchOutOfResources);
    try {
        device.launch(stream, kernel, call{3, stream});
        FAIL("no exception was thrown");
    } catch (cuda_error const& refusal) {
        CHECK(refusal.step() == 3);
        CHECK(refusal.code() == cudaErrorLaunchOutOfResources);
    }
    CHECK(ran == 1);
    CHECK(cudaPeekAtLastError() == cudaSuccess);

    auto thrower = [](call const&) { throw 3; };
    CHECK_THROWS_AS(device.launch(stream, thrower, call{}), int);
    CHECK(!device.is_lost());
    device.launch(stream, kernel, call{3, stream});
    CHECK(ran == 2);
    device.destroy_stream(stream);
}

TEST_CASE("two devices of one process do not affect each other")
{
    {
        fake_cuda::start({.devices = 2});
        cuda_device first(0), second(1), second_again(1);
        auto const a = first.make_stream(), b = second.make_stream(), c = second_again.make_stream();
        auto *const x = first.allocate(10, 1, a), *const y = second.allocate(20, 1, b);
        CHECK(first.memory().used == 10);
        CHECK(second.memory().used == 20);
        CHECK(second_again.memory().used == 0); // a pool each

        fake_cuda::fail_call(3, cudaErrorLaunchFailure, true);
        CHECK_THROWS_AS(second.synchronize(), cuda_error);
        CHECK(second.is_lost());
        CHECK(!first.is_lost());
        fake_cuda::fail_call(0);
        first.fill(x, std::byte{1}, 10, a);
        first.synchronize();
        first.deallocate(x, 10, 1, a);
        first.destroy_stream(a);
        second.deallocate(y, 20, 1, b);
        second.destroy_stream(b);
        CHECK(!second_again.is_lost()); // it has not made a call yet
        CHECK_THROWS_AS(second_again.synchronize(), cuda_error);
        second_again.destroy_stream(c);
        CHECK(second_again.is_lost());
        CHECK(fake_cuda::calls_when_lost() == 1); // the call that found it
    }
    CHECK(fake_cuda::held().streams == 2); // nothing of the lost device is released
    CHECK(fake_cuda::held().pools == 2);
    CHECK(fake_cuda::misuses().empty());
}

TEST_CASE("any call on a device may fail, and nothing leaks except on a lost device")
{
    for (bool is_sticky : {false, true}) {
        std::size_t nth = 1;
        for (;; ++nth) {
            CAPTURE(is_sticky);
            CAPTURE(nth);
            fake_cuda::start({.devices = 2});
            fake_cuda::fail_call(nth, is_sticky ? cudaErrorIllegalAddress : cudaErrorInvalidValue, is_sticky);
            bool is_lost = false;
            try {
                cuda_device device(1);
                cudaStream_t stream = nullptr;
                cudaEvent_t event = nullptr;
                std::byte* bytes = nullptr;
                try {
                    stream = device.make_stream();
                    event = device.make_event();
                    bytes = device.allocate(64, 64, stream);
                    std::array<std::byte, 64> host{};
                    device.copy_to_device(bytes, host, stream);
                    device.fill(bytes, std::byte{1}, 64, stream);
                    device.record(event, stream);
                    device.wait(stream, event);
                    device.copy_from_device(host, bytes, stream);
                    device.synchronize();
                    device.reset_high();
                    (void)device.memory();
                    (void)device.graph_memory();
                    device.trim();
                    CHECK(host[63] == std::byte{1});
                } catch (cuda_error const&) {
                    device.synchronize_noexcept();
                }
                if (bytes != nullptr) try {
                        device.deallocate(bytes, 64, 64, stream);
                    } catch (cuda_error const&) { // reports an older error, or loses the device
                    }
                if (event != nullptr) device.destroy_event(event);
                if (stream != nullptr) device.destroy_stream(stream);
                is_lost = device.is_lost();
            } catch (cuda_error const& failure) {
                CHECK(nth <= 12); // of the constructor: the pool, and its attributes
                is_lost = detail::is_sticky(failure.code());
            }
            if (!is_lost && !is_sticky) CHECK(fake_cuda::held() == fake_cuda::live_objects());
            CHECK(fake_cuda::calls_when_lost() <=
                  1); // lost when the caller's device was set again: found later
            CHECK(fake_cuda::misuses().empty());
            if (!is_sticky) CHECK(cudaPeekAtLastError() == cudaSuccess);
            if (fake_cuda::calls() < nth) break;
        }
        CHECK(nth > 60);
    }
}

} // namespace this_test
