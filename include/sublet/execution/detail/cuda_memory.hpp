// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_CUDA_MEMORY_HPP
#define SUBLET_EXECUTION_DETAIL_CUDA_MEMORY_HPP

/// CUDA's memory in the order of streams, and captured graphs.

#include <sublet/execution/detail/cuda_calls.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <utility>
#include <vector>

// --- graph -----------------------------------------------------------------------------------------------

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
// --- pool ------------------------------------------------------------------------------------------------

/// Device memory that is taken and given back in the order of a stream, from a pool that nobody else uses.
///
///     stream 0    allocate a ── kernel(a) ── free a ── allocate b ── kernel(b)      one block, no waiting
///     pool        [ used: a ]                          [ used: b ]
///                 [ reserved: as much as was ever used at once, kept for the next run ................ ]
///
/// The pool that every device has by itself belongs to the whole process: what others do there would show in
/// our figures, and what we set there would change theirs. This one is private, and keeps what it has.


/// Bytes of a pool, or of the memory nodes of all captured graphs of a device.
struct cuda_memory_use {
    byte_count used = 0, used_high = 0;         ///< by allocations: now, and most since reset_high()
    byte_count reserved = 0, reserved_high = 0; ///< of the device, free parts of the pool included
    friend bool operator==(cuda_memory_use const&, cuda_memory_use const&) = default;
};

/// Requires: the calls outlive the pool.
class cuda_pool {
public:
    /// Throws: cuda_error.
    explicit cuda_pool(cuda_calls& calls)
        : calls_(&calls), pool_(cuda_pool_handle::made(calls, "cudaMemPoolCreate", [&](cudaMemPool_t* out) {
              cudaMemPoolProps wanted{};
              wanted.allocType = cudaMemAllocationTypePinned;
              wanted.handleTypes = cudaMemHandleTypeNone;
              wanted.location.type = cudaMemLocationTypeDevice;
              wanted.location.id = calls.device();
              return cudaMemPoolCreate(out, &wanted);
          }))
    {
        set(cudaMemPoolAttrReleaseThreshold,
            ~std::uint64_t{0}); // else every synchronize() would give it back
    }

    /// Bytes that may be used by what is issued in `stream` from now on. While the stream is captured they
    /// are the graph's, and not taken from this pool.
    ///
    /// Requires: a power of two as alignment.
    /// Throws:   cuda_error (cudaErrorMemoryAllocation: it does not fit); std::bad_alloc. Then nothing is
    ///           allocated.
    [[nodiscard]] std::byte* allocate(byte_count bytes, byte_count alignment, cudaStream_t stream)
    {
        SUBLET_EXPECTS(alignment != 0 && (alignment & (alignment - 1)) == 0,
                       "sublet: a device aligns storage to powers of two");
        byte_count const excess = alignment <= own_alignment ? 0 : alignment - own_alignment;
        if (excess != 0) shifted_.reserve(shifted_.size() + 1);
        void* block = nullptr;
        byte_count const asked = checked_add(bytes == 0 ? 1 : bytes, excess);
        (*calls_)("cudaMallocFromPoolAsync", [&] {
            return cudaMallocFromPoolAsync(&block, static_cast<std::size_t>(asked), pool_.handle(), stream);
        });
        auto* first = static_cast<std::byte*>(block);
        if (excess == 0) return first;
        first += (alignment - reinterpret_cast<std::uintptr_t>(first) % alignment) % alignment;
        shifted_.push_back({first, block});
        return first;
    }

    /// Throws: cuda_error; on a lost device nothing is done.
    void deallocate(std::byte* first, byte_count alignment, cudaStream_t stream)
    {
        void* block = first;
        if (alignment > own_alignment)
            for (std::size_t i = shifted_.size(); i-- != 0;) {
                if (shifted_[i].first != first) continue;
                block = shifted_[i].block;
                shifted_[i] = shifted_.back();
                shifted_.pop_back();
                break;
            }
        if (calls_->is_lost()) return;
        calls_->give_back("cudaFreeAsync", [&] { return cudaFreeAsync(block, stream); });
    }

    /// Throws: cuda_error.
    [[nodiscard]] cuda_memory_use use()
    {
        return {.used = ask(cudaMemPoolAttrUsedMemCurrent),
                .used_high = ask(cudaMemPoolAttrUsedMemHigh),
                .reserved = ask(cudaMemPoolAttrReservedMemCurrent),
                .reserved_high = ask(cudaMemPoolAttrReservedMemHigh)};
    }
    /// From now on the highest are those since now.
    void reset_high()
    {
        set(cudaMemPoolAttrUsedMemHigh, 0);
        set(cudaMemPoolAttrReservedMemHigh, 0);
    }
    /// Gives what nobody uses back to the device.
    void trim()
    {
        (*calls_)("cudaMemPoolTrimTo", [&] { return cudaMemPoolTrimTo(pool_.handle(), 0); });
    }

private:
    static constexpr byte_count own_alignment = 256; // of everything that CUDA allocates

    struct shifted {
        std::byte* first; // as it was given out
        void* block;      // as CUDA knows it
    };

    byte_count ask(cudaMemPoolAttr what)
    {
        std::uint64_t bytes = 0;
        (*calls_)("cudaMemPoolGetAttribute",
                  [&] { return cudaMemPoolGetAttribute(pool_.handle(), what, &bytes); });
        return bytes;
    }
    void set(cudaMemPoolAttr what, std::uint64_t bytes)
    {
        (*calls_)("cudaMemPoolSetAttribute",
                  [&] { return cudaMemPoolSetAttribute(pool_.handle(), what, &bytes); });
    }

    cuda_calls* calls_;
    cuda_pool_handle pool_;
    std::vector<shifted> shifted_; // what is aligned to more than CUDA does by itself
};

} // namespace sublet

#endif
