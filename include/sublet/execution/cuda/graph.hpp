// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CUDA_GRAPH_HPP
#define SUBLET_EXECUTION_CUDA_GRAPH_HPP

/// What was issued once, to be launched again and again in one call.
///
///     begin_capture(s)
///     s    ● ── kernel a ── record e ──────────── wait f ── kernel c ── ●        noted, not run
///     t                      └─ wait e ─ kernel b ─ record f ─┘
///     end_capture(s) ──► cuda_graph ── launch(s) ── launch(s) ── ...             run, in that order
///
/// Streams take part from the event of a captured stream on that they wait for, and have to be waited for
/// before the end. Addresses are those of the capture. What it allocates lives in the graph: the driver plans
/// that memory for itself.

#include <sublet/execution/cuda/calls.hpp>
#include <sublet/execution/cuda/handles.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

namespace sublet {

/// Can be moved. What it allocated and did not free is freed at its next launch.
class cuda_graph {
public:
    /// Of a finished capture.
    /// Requires: the calls outlive the graph.
    /// Throws:   cuda_error if CUDA cannot make it executable; the capture is gone then.
    cuda_graph(cuda_calls& calls, cuda_graph_handle captured)
        : calls_(&calls), captured_(std::move(captured)),
          executable_(
              cuda_executable_graph::made(calls, "cudaGraphInstantiateWithFlags", [&](cudaGraphExec_t* out) {
                  return cudaGraphInstantiateWithFlags(out, captured_.handle(),
                                                       cudaGraphInstantiateFlagAutoFreeOnLaunch);
              }))
    {
    }

    /// All of it, after what is in the stream and before what comes later.
    /// Throws: cuda_error.
    void launch(cudaStream_t stream)
    {
        (*calls_)("cudaGraphLaunch", [&] { return cudaGraphLaunch(executable_.handle(), stream); });
    }

    /// Kernels, fills, copies, and what is allocated and freed.
    [[nodiscard]] std::size_t nodes() const
    {
        std::size_t count = 0;
        (*calls_)("cudaGraphGetNodes",
                  [&] { return cudaGraphGetNodes(captured_.handle(), nullptr, &count); });
        return count;
    }

private:
    cuda_calls* calls_;
    cuda_graph_handle captured_;
    cuda_executable_graph executable_; // goes first
};

namespace detail {

inline void begin_capture(cuda_calls& calls, cudaStream_t stream)
{
    // Of this thread only: what other threads of the program do is none of our business.
    calls("cudaStreamBeginCapture",
          [&] { return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal); });
}

/// A capture that has failed is over as well.
inline cuda_graph end_capture(cuda_calls& calls, cudaStream_t stream)
{
    cuda_graph_handle captured;
    calls.give_back("cudaStreamEndCapture", [&] {
        cudaGraph_t graph = nullptr;
        cudaError_t const code = cudaStreamEndCapture(stream, &graph);
        captured = cuda_graph_handle(calls, graph);
        return code;
    });
    if (captured.handle() == nullptr)
        throw cuda_error(cudaErrorStreamCaptureInvalidated, "cudaStreamEndCapture");
    return {calls, std::move(captured)};
}

inline void abandon_capture(cuda_calls& calls, cudaStream_t stream) noexcept
{
    calls.quietly([&] {
        cudaGraph_t captured = nullptr;
        cudaError_t const code = cudaStreamEndCapture(stream, &captured);
        if (captured != nullptr) (void)cudaGraphDestroy(captured);
        return code;
    });
}

} // namespace detail
} // namespace sublet

#endif
