// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_CUDA_POOL_HPP
#define SUBLET_EXECUTION_DETAIL_CUDA_POOL_HPP

/// Device memory allocated and freed in stream order, from a private pool.
///
///     stream 0    allocate a ── kernel(a) ── free a ── allocate b ── kernel(b)      one block, no wait
///     pool        [ used: a ]                          [ used: b ]
///                 [ reserved: the peak of use, kept for the next run .................................. ]
///
/// The default pool of a device belongs to the whole process: others would change its counters and
/// attributes. This pool is private, and keeps its memory until trim().

#include <sublet/core/units.hpp>
#include <sublet/execution/cuda_runtime.hpp>
#include <sublet/execution/detail/cuda_handle.hpp>

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <vector>

namespace sublet::detail {

/// Bytes of a pool, or the memory nodes of all captured graphs of a device.
struct cuda_memory_use {
    byte_count used = 0, used_high = 0;         ///< by allocations: current, and peak since reset_high()
    byte_count reserved = 0, reserved_high = 0; ///< taken from the device, with free parts of the pool
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
            ~std::uint64_t{0}); // else each synchronize() would return memory to the device
    }

    /// Bytes that may be used by work issued in `stream` from now on. During a capture they belong to the
    /// graph, not to this pool.
    /// Requires: the alignment is a power of two.
    /// Throws:   cuda_error (cudaErrorMemoryAllocation: out of memory), std::bad_alloc; nothing is allocated.
    [[nodiscard]] std::byte* allocate(byte_count bytes, byte_count alignment, cudaStream_t stream)
    {
        SUBLET_EXPECTS(alignment != 0 && (alignment & (alignment - 1)) == 0,
                       "sublet: a device aligns storage to powers of two");
        byte_count const excess = alignment <= own_alignment ? 0 : alignment - own_alignment;
        if (excess != 0) shifted_.reserve(shifted_.size() + 1);
        void* block = nullptr;
        byte_count const requested = checked_add(bytes == 0 ? 1 : bytes, excess);
        (*calls_)("cudaMallocFromPoolAsync", [&] {
            return cudaMallocFromPoolAsync(&block, static_cast<std::size_t>(requested), pool_.handle(),
                                           stream);
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
        return {.used = attribute(cudaMemPoolAttrUsedMemCurrent),
                .used_high = attribute(cudaMemPoolAttrUsedMemHigh),
                .reserved = attribute(cudaMemPoolAttrReservedMemCurrent),
                .reserved_high = attribute(cudaMemPoolAttrReservedMemHigh)};
    }
    /// Restarts the peaks.
    void reset_high()
    {
        set(cudaMemPoolAttrUsedMemHigh, 0);
        set(cudaMemPoolAttrReservedMemHigh, 0);
    }
    /// Returns unused memory to the device.
    void trim()
    {
        (*calls_)("cudaMemPoolTrimTo", [&] { return cudaMemPoolTrimTo(pool_.handle(), 0); });
    }

private:
    static constexpr byte_count own_alignment = 256; // of every allocation of CUDA

    struct shifted {
        std::byte* first; // as returned to the caller
        void* block;      // as allocated by CUDA
    };

    byte_count attribute(cudaMemPoolAttr what)
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
    std::vector<shifted> shifted_; // blocks with a larger alignment than CUDA's own
};

} // namespace sublet::detail

#endif
