// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_CUDA_HANDLE_HPP
#define SUBLET_EXECUTION_DETAIL_CUDA_HANDLE_HPP

/// Owning handles of CUDA objects.
///
///     auto side = sublet::detail::cuda_stream::made(
///         calls, "cudaStreamCreateWithFlags",
///         [](cudaStream_t* out) { return cudaStreamCreateWithFlags(out, cudaStreamNonBlocking); });
///     launch(side.handle()); // destroyed at the end of the scope, unless the device is lost
///
/// Destruction never throws, and never resets the device, which belongs to the whole process.
/// Requires: the cuda_calls that it was made with outlive it.

#include <sublet/execution/cuda_runtime.hpp>

#include <concepts>
#include <cuda_runtime_api.h>
#include <utility>

namespace sublet::detail {

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
        if (handle_ != nullptr) calls_->call_noexcept([this] { return destroy(handle_); });
    }

    /// Throws: cuda_error if `create(&handle)` fails; then there is nothing to destroy.
    template <std::invocable<Handle*> Create>
    [[nodiscard]] static cuda_handle made(cuda_calls& calls, char const* name, Create create)
    {
        Handle handle = nullptr;
        calls(name, [&] { return create(&handle); });
        return {calls, handle};
    }

    [[nodiscard]] Handle handle() const noexcept { return handle_; }
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

} // namespace sublet::detail

#endif
