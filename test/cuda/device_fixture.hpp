// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CUDA_DEVICE_FIXTURE_HPP
#define SUBLET_TEST_CUDA_DEVICE_FIXTURE_HPP

/// Set-up and checks of a test that is compiled twice: for a device, and for the fake of the CUDA runtime,
/// which also finds misuse and leaks.

#include <sublet/execution/cuda.hpp>

#ifdef SUBLET_FAKE_CUDA
#include "fake_runtime.hpp"

#include <doctest/doctest.h>

inline void begin_test() { fake_cuda::start({.devices = 2}); }
inline void end_test()
{
    CHECK(fake_cuda::held() == fake_cuda::live_objects());
    if (!fake_cuda::misuses().empty()) FAIL_CHECK(fake_cuda::misuses().front());
}
inline int first_device() { return 1; } // the other one is current
inline void synchronize_device(sublet::cuda_device&) {}
constexpr sublet::byte_count fake_or_real(sublet::byte_count fake, sublet::byte_count) { return fake; }
#else
inline void begin_test() {}
inline void end_test() {}
inline int first_device() { return sublet::cuda::probe().first()->id; }
/// Waits also for work in destroyed streams.
inline void synchronize_device(sublet::cuda_device& device)
{
    device.calls()("cudaDeviceSynchronize", [] { return cudaDeviceSynchronize(); });
}
constexpr sublet::byte_count fake_or_real(sublet::byte_count, sublet::byte_count real) { return real; }
#endif

#endif
