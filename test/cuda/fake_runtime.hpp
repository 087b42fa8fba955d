// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CUDA_FAKE_RUNTIME_HPP
#define SUBLET_TEST_CUDA_FAKE_RUNTIME_HPP

/// CUDA's runtime without CUDA: the functions that the library calls, in host memory, linked instead of the
/// real ones, so that all host code runs on machines that have no device.
///
///     fake_cuda::start({.devices = 2});            a machine as after booting
///     fake_cuda::fail_call(7, cudaErrorMemoryAllocation);
///     ...
///     CHECK(fake_cuda::held() == fake_cuda::holdings());
///
/// Commands are done when they are issued; those of a capture when the graph is launched, in the order in
/// which they were issued. It is as strict as the real one, or more so: what real CUDA leaves undefined, and
/// what it refuses only in some versions, is a misuse here.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace fake_cuda {

struct machine {
    int devices = 1;
    int driver = CUDART_VERSION;            ///< 0: none
    cudaError_t start_up = cudaSuccess;     ///< of every call, if it is no success
    std::size_t capacity = ~std::size_t{0}; ///< bytes of each device
    bool has_pools = true;
    bool is_prohibited = false;
};

/// Requires: no object of the machine before is used any more. What it held is forgotten and given back.
void start(machine const& how = {});

/// Each call but the reading of the last error counts from 1. The n-th from now on fails and has no effect,
/// or, if it gives something back, has it all the same: such a call may report what went wrong before.
/// If it is sticky, every later call on that device fails as well. 0: none fails.
void fail_call(std::size_t nth, cudaError_t code = cudaErrorUnknown, bool is_sticky = false);
[[nodiscard]] std::size_t calls(); ///< since fail_call() or start()
/// Calls on a device that was lost before; but not those for the current device, nor launches, which are the
/// caller's own.
[[nodiscard]] std::size_t calls_when_lost();

/// What somebody owes to give back.
struct live_objects {
    std::size_t streams = 0, events = 0, pools = 0, graphs = 0, executables = 0;
    std::size_t blocks = 0; ///< of memory, those of graphs included
    friend bool operator==(live_objects const&, live_objects const&) = default;
};
[[nodiscard]] live_objects held();

/// What nobody may do, and what was done of it, in words.
[[nodiscard]] std::vector<std::string> const& misuses();

/// A call of CUDA by name.
[[nodiscard]] std::vector<std::string> const& log();

/// As kernel<<<...>>>(...) does: refused, it says so by the last error only.
void launch(cudaStream_t stream, std::function<void()> kernel);

} // namespace fake_cuda

#endif
