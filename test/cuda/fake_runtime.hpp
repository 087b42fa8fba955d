// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CUDA_FAKE_RUNTIME_HPP
#define SUBLET_TEST_CUDA_FAKE_RUNTIME_HPP

/// A fake of the CUDA runtime, and of the driver's functions that it hands out: those that the library calls,
/// in host memory, linked instead of the real ones, so that all host code runs on machines without a device.
///
///     fake_cuda::start({.devices = 2});            // a machine after boot
///     fake_cuda::fail_call(7, cudaErrorMemoryAllocation);
///     CHECK(fake_cuda::held() == fake_cuda::live_objects());
///
/// Commands are executed when they are issued; those of a capture when the graph is launched, in the order of
/// issue. It is at least as strict as the real runtime: undefined behaviour of CUDA, and calls that only some
/// versions reject, are misuses here.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace fake_cuda {

struct machine {
    int devices = 1;
    int driver = CUDART_VERSION;            ///< 0: none
    cudaError_t start_up = cudaSuccess;     ///< of every call, unless success
    std::size_t capacity = ~std::size_t{0}; ///< bytes of each device
    bool has_pools = true;
    bool has_mapping = true;        ///< virtual memory management; otherwise the device has none
    bool has_driver_entries = true; ///< otherwise the driver is older than these functions
    std::size_t granularity = 4096; ///< of mapped memory
    bool is_prohibited = false;
};

/// Requires: no object of the previous machine is used any more. Its objects are freed.
void start(machine const& how = {});

/// Counts each call from 1, except for reading the last error. The n-th from now on fails and has no effect;
/// if it releases something, it does so all the same: such a call may report an older error. If the code is
/// sticky, every later call on that device fails too. 0: none fails.
void fail_call(std::size_t nth, cudaError_t code = cudaErrorUnknown, bool is_sticky = false);
[[nodiscard]] std::size_t calls(); ///< since fail_call() or start()
/// Calls on a device that was lost before, without those for the current device and launches, which the
/// caller makes.
[[nodiscard]] std::size_t calls_when_lost();

/// Objects that must still be released.
struct live_objects {
    std::size_t streams = 0, events = 0, pools = 0, graphs = 0, executables = 0;
    std::size_t blocks = 0; ///< of memory, including those of graphs and of the host
    std::size_t ranges = 0; ///< of reserved addresses
    std::size_t parts = 0;  ///< of memory that can be mapped to them
    friend bool operator==(live_objects const&, live_objects const&) = default;
};
[[nodiscard]] live_objects held();

/// Bytes of all parts.
[[nodiscard]] std::size_t mapped_bytes();

/// The calls so far that break a rule of CUDA, as messages.
[[nodiscard]] std::vector<std::string> const& misuses();

/// The names of the CUDA calls so far.
[[nodiscard]] std::vector<std::string> const& log();

/// The nodes of all graphs that can be launched.
[[nodiscard]] std::size_t graph_nodes();
/// The edges of the graph that was made executable or updated last, between commands in the order of issue.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> const& edges();

/// Like kernel<<<...>>>(...): a failure is reported by the last error only.
void launch(cudaStream_t stream, std::function<void()> kernel);

} // namespace fake_cuda

#endif
