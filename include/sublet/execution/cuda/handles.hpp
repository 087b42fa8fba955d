// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CUDA_HANDLES_HPP
#define SUBLET_EXECUTION_CUDA_HANDLES_HPP

/// What CUDA gives out and wants back, each with one owner.
///
///     auto side = sublet::cuda_stream::made(calls, "cudaStreamCreateWithFlags", [](cudaStream_t* out) {
///         return cudaStreamCreateWithFlags(out, cudaStreamNonBlocking);
///     });
///     launch(side.handle());          // gone at the end of the scope, unless the device is lost
///
/// Giving back never throws, and never resets the device, which belongs to the whole process.

#include <sublet/execution/cuda/calls.hpp>

#include <cuda_runtime_api.h>

#include <concepts>
#include <utility>

namespace sublet {

/// Requires: the calls that it was made by outlive it.
template <class Handle, cudaError_t (*destroy)(Handle)>
class cuda_handle {
public:
    cuda_handle() noexcept = default;
    cuda_handle(cuda_calls& calls, Handle handle) noexcept : calls_(&calls), handle_(handle) {}
    cuda_handle(cuda_handle&& other) noexcept
        : calls_(other.calls_), handle_(std::exchange(other.handle_, nullptr))
    {
    }
    cuda_handle& operator=(cuda_handle&& other) noexcept
    {
        std::swap(calls_, other.calls_);
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~cuda_handle()
    {
        if (handle_ != nullptr) calls_->quietly([this] { return destroy(handle_); });
    }

    /// Throws: cuda_error if `create(&handle)` fails; then there is nothing to give back.
    template <std::invocable<Handle*> Create>
    [[nodiscard]] static cuda_handle made(cuda_calls& calls, char const* name, Create create)
    {
        Handle handle = nullptr;
        calls(name, [&] { return create(&handle); });
        return {calls, handle};
    }

    [[nodiscard]] Handle handle() const noexcept { return handle_; }
    /// Gives it to the caller, who owes its end.
    [[nodiscard]] Handle release() noexcept { return std::exchange(handle_, nullptr); }

private:
    cuda_calls* calls_ = nullptr;
    Handle handle_ = nullptr;
};

using cuda_stream = cuda_handle<cudaStream_t, cudaStreamDestroy>;
using cuda_event = cuda_handle<cudaEvent_t, cudaEventDestroy>;
using cuda_pool_handle = cuda_handle<cudaMemPool_t, cudaMemPoolDestroy>;
using cuda_graph_handle = cuda_handle<cudaGraph_t, cudaGraphDestroy>;
using cuda_executable_graph = cuda_handle<cudaGraphExec_t, cudaGraphExecDestroy>;

} // namespace sublet

#endif
