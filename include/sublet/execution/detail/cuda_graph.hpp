// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_CUDA_GRAPH_HPP
#define SUBLET_EXECUTION_DETAIL_CUDA_GRAPH_HPP

/// A captured graph: issued once, launched any number of times by one call.
///
///     begin_capture(s)
///     s    ● ── kernel a ── record e ──────────── wait f ── kernel c ── ●        recorded, not run
///     t                      └─ wait e ─ kernel b ─ record f ─┘
///     end_capture(s) ──► cuda_graph ── launch(s) ── launch(s) ── ...             run, in that order
///
/// A stream takes part in a capture from its first wait for an event of a captured stream, and must be waited
/// for before the end. Addresses are those of the capture. Allocations in a capture belong to the graph: the
/// driver plans their memory. What a graph allocates and does not free is freed at its next launch.

#include <sublet/execution/cuda_runtime.hpp>
#include <sublet/execution/detail/cuda_edges.hpp>
#include <sublet/execution/detail/cuda_handle.hpp>

#include <cstddef>
#include <cuda_runtime_api.h>
#include <utility>

namespace sublet::detail {

class cuda_graph {
public:
    /// Makes a finished capture executable.
    /// Requires: the calls outlive the graph.
    /// Throws:   cuda_error if CUDA cannot make it executable; the capture is destroyed then.
    cuda_graph(cuda_calls& calls, cuda_graph_handle captured)
        : calls_(&calls), captured_(reduced(calls, std::move(captured))),
          executable_(made_executable(calls, captured_))
    {
    }

    /// Launches run another capture from now on. Updates the executable graph, which costs less than a new
    /// one, unless CUDA refuses that: the capture has other nodes or edges, or allocates memory.
    /// Throws: cuda_error if neither succeeds; then the graph is as before.
    void replace(cuda_graph_handle captured)
    {
        captured = reduced(*calls_, std::move(captured));
        bool is_updated = true;
        (*calls_)("cudaGraphExecUpdate", [&] {
#if CUDART_VERSION >= 12000
            cudaGraphExecUpdateResultInfo details{};
            cudaError_t const code = cudaGraphExecUpdate(executable_.handle(), captured.handle(), &details);
#else
            cudaGraphNode_t node = nullptr;
            cudaGraphExecUpdateResult details{};
            cudaError_t const code =
                cudaGraphExecUpdate(executable_.handle(), captured.handle(), &node, &details);
#endif
            if (code != cudaErrorGraphExecUpdateFailure && code != cudaErrorNotSupported) return code;
            (void)cudaGetLastError();
            is_updated = false;
            return cudaSuccess;
        });
        if (!is_updated) executable_ = made_executable(*calls_, captured);
        captured_ = std::move(captured);
    }

    /// Throws: cuda_error.
    void launch(cudaStream_t stream)
    {
        (*calls_)("cudaGraphLaunch", [&] { return cudaGraphLaunch(executable_.handle(), stream); });
    }

    /// Number of kernels, fills, copies, allocations and frees.
    [[nodiscard]] std::size_t nodes() const
    {
        std::size_t count = 0;
        (*calls_)("cudaGraphGetNodes",
                  [&] { return cudaGraphGetNodes(captured_.handle(), nullptr, &count); });
        return count;
    }

private:
    /// CUDA keeps all edges of a graph that allocates memory; implied ones do no harm.
    static cuda_graph_handle reduced(cuda_calls& calls, cuda_graph_handle captured)
    {
        try {
            remove_implied_edges(calls, captured.handle());
        } catch (cuda_error const&) {
            if (calls.is_lost()) throw;
        }
        return captured;
    }
    static cuda_executable_graph made_executable(cuda_calls& calls, cuda_graph_handle const& captured)
    {
        return cuda_executable_graph::made(calls, "cudaGraphInstantiateWithFlags", [&](cudaGraphExec_t* out) {
            return cudaGraphInstantiateWithFlags(out, captured.handle(),
                                                 cudaGraphInstantiateFlagAutoFreeOnLaunch);
        });
    }

    cuda_calls* calls_;
    cuda_graph_handle captured_;
    cuda_executable_graph executable_; // destroyed first
};

inline void begin_capture(cuda_calls& calls, cudaStream_t stream)
{
    // Only this thread: calls of other threads must not invalidate the capture.
    calls("cudaStreamBeginCapture",
          [&] { return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal); });
}

/// Ends a capture; a failed one too.
inline cuda_graph_handle captured_work(cuda_calls& calls, cudaStream_t stream)
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
    return captured;
}
inline cuda_graph end_capture(cuda_calls& calls, cudaStream_t stream)
{
    return {calls, captured_work(calls, stream)};
}

inline void abandon_capture(cuda_calls& calls, cudaStream_t stream) noexcept
{
    calls.call_noexcept([&] {
        cudaGraph_t captured = nullptr;
        cudaError_t const code = cudaStreamEndCapture(stream, &captured);
        if (captured != nullptr) (void)cudaGraphDestroy(captured);
        return code;
    });
}

} // namespace sublet::detail

#endif
