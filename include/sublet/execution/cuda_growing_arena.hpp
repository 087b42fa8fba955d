// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CUDA_GROWING_ARENA_HPP
#define SUBLET_EXECUTION_CUDA_GROWING_ARENA_HPP

/// growing_arena in the memory of a CUDA device: no address moves, so a captured graph for each batch stays
/// valid, and all graphs together take the memory of the one that runs.
///
///     sublet::cuda_device device(0);
///     auto planned = sublet::plan_symbolic(program, any_batch); // for batches of up to 64
///     sublet::cuda_growing_arena memory(device, planned);
///     sublet::stream_executor one{device, program, any_batch.at(1), memory.at(1), kernel};
///     sublet::stream_executor many{device, program, any_batch.at(64), memory.at(64), kernel};
///     auto graph_of_one = one.capture();
///     auto graph_of_many = many.capture();
///
/// Source: CUDA's virtual memory management, in the driver since CUDA 10.2. The driver is not linked: its
/// functions come from the runtime, so the program also starts where there is none.

#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/cuda.hpp>
#include <sublet/execution/cuda_runtime.hpp>
#include <sublet/execution/growing_arena.hpp>
#include <sublet/execution/run_options.hpp>

#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace sublet {

namespace detail {

/// The functions of the driver that map memory, and what they need to know of the device.
struct cuda_mapping {
    decltype(&cuMemAddressReserve) reserve = nullptr;
    decltype(&cuMemAddressFree) free = nullptr;
    decltype(&cuMemCreate) create = nullptr;
    decltype(&cuMemRelease) release = nullptr;
    decltype(&cuMemMap) map = nullptr;
    decltype(&cuMemUnmap) unmap = nullptr;
    decltype(&cuMemSetAccess) set_access = nullptr;
    CUmemAllocationProp memory{}; ///< of this device
    byte_count granularity = 1;   ///< of sizes

    /// Codes of the driver have the numbers of the runtime's.
    static cudaError_t as_runtime(CUresult code) noexcept { return static_cast<cudaError_t>(code); }
};

/// Returns false if the driver does not have it. Throws: cuda_error if the device is lost.
template <class Function>
bool find_in_driver(cuda_calls& calls, char const* name, Function*& function)
{
    void* found = nullptr;
    try {
        calls("cudaGetDriverEntryPoint", [&] {
#if CUDART_VERSION >= 12050
            cudaDriverEntryPointQueryResult how{};
            return cudaGetDriverEntryPointByVersion(name, &found, 10020, cudaEnableDefault, &how);
#elif CUDART_VERSION >= 12000
            cudaDriverEntryPointQueryResult how{};
            return cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &how);
#else
            return cudaGetDriverEntryPoint(name, &found, cudaEnableDefault);
#endif
        });
    } catch (cuda_error const&) {
        if (calls.is_lost()) throw;
        return false;
    }
    function = reinterpret_cast<Function*>(found);
    return found != nullptr;
}

/// None if the driver or the device cannot map memory.
/// Throws: cuda_error.
inline std::optional<cuda_mapping> cuda_mapping_of(cuda_calls& calls)
{
    cuda_mapping its;
    decltype(&cuDeviceGet) device_of = nullptr;
    decltype(&cuDeviceGetAttribute) attribute_of = nullptr;
    decltype(&cuMemGetAllocationGranularity) granularity_of = nullptr;
    bool const has_all = find_in_driver(calls, "cuDeviceGet", device_of) &&
                         find_in_driver(calls, "cuDeviceGetAttribute", attribute_of) &&
                         find_in_driver(calls, "cuMemGetAllocationGranularity", granularity_of) &&
                         find_in_driver(calls, "cuMemAddressReserve", its.reserve) &&
                         find_in_driver(calls, "cuMemAddressFree", its.free) &&
                         find_in_driver(calls, "cuMemCreate", its.create) &&
                         find_in_driver(calls, "cuMemRelease", its.release) &&
                         find_in_driver(calls, "cuMemMap", its.map) &&
                         find_in_driver(calls, "cuMemUnmap", its.unmap) &&
                         find_in_driver(calls, "cuMemSetAccess", its.set_access);
    if (!has_all) return std::nullopt;
    CUdevice device = 0;
    calls("cuDeviceGet", [&] { return its.as_runtime(device_of(&device, calls.device())); });
    int is_supported = 0;
    calls("cuDeviceGetAttribute", [&] {
        return its.as_runtime(
            attribute_of(&is_supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device));
    });
    if (is_supported == 0) return std::nullopt;
    its.memory.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    its.memory.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    its.memory.location.id = calls.device();
    std::size_t granularity = 0;
    calls("cuMemGetAllocationGranularity", [&] {
        return its.as_runtime(granularity_of(&granularity, &its.memory, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    });
    its.granularity = granularity == 0 ? 1 : byte_count{granularity};
    return its;
}

/// Reserved addresses of a device; the first bytes have memory, in one part for each time that it grew.
class cuda_pages {
public:
    /// Requires: the device outlives it; `how` is what cuda_mapping_of() returned for it.
    /// Throws:   cuda_error; std::bad_alloc.
    cuda_pages(cuda_device& device, std::optional<cuda_mapping> const& how, byte_count most,
               byte_count alignment)
        : device_(&device), how_(how), alignment_(alignment)
    {
        how_ ? reserve(most) : take_block(most);
    }
    cuda_pages(cuda_pages&& other) noexcept
        : device_(other.device_), how_(other.how_), alignment_(other.alignment_),
          stream_(std::move(other.stream_)), address_(std::exchange(other.address_, 0)),
          reserved_(other.reserved_), bytes_(other.bytes_), parts_(std::move(other.parts_))
    {
        other.parts_.clear();
    }
    cuda_pages& operator=(cuda_pages&&) = delete;
    /// Waits for all work of the device before it frees memory.
    ~cuda_pages()
    {
        if (address_ == 0) return;
        device_->synchronize_noexcept();
        if (!how_) {
            if (device_->is_lost()) return;
            try {
                device_->deallocate(first(), bytes_, alignment_, stream_.handle());
            } catch (...) { // ignored: the device keeps the memory
            }
            return;
        }
        while (!parts_.empty()) (void)drop_last();
        device_->calls().call_noexcept([this] { return how_->as_runtime(how_->free(address_, reserved_)); });
    }

    [[nodiscard]] std::byte* first() const noexcept { return reinterpret_cast<std::byte*>(address_); }
    [[nodiscard]] byte_count bytes() const noexcept { return bytes_; }
    [[nodiscard]] bool is_reserved() const noexcept { return how_.has_value(); }

    /// Requires: it was made for at least so many.
    /// Ensures:  the first `bytes` can be used, of undefined contents; memory after them is given back. All
    ///           work issued before is over.
    /// Throws:   cuda_error; then it has fewer bytes, or those that it had.
    void resize(byte_count bytes)
    {
        device_->synchronize();
        if (!how_) return;
        byte_count const wanted = align_up(bytes, how_->granularity);
        while (bytes_ > wanted) // a part that is too long is mapped anew
            if (auto const failure = drop_last()) std::rethrow_exception(failure);
        if (bytes_ < wanted) add(wanted - bytes_);
    }

private:
    struct part {
        CUmemGenericAllocationHandle memory;
        byte_count bytes;
    };

    void reserve(byte_count most)
    {
        byte_count const size = align_up(most, how_->granularity);
        SUBLET_EXPECTS(size <= ~std::size_t{0} / 2, "sublet: a sum of sizes exceeds 64 bits");
        reserved_ = to_size(size);
        std::size_t const alignment = alignment_ > how_->granularity ? to_size(alignment_) : 0;
        device_->calls()("cuMemAddressReserve", [&] {
            return how_->as_runtime(how_->reserve(&address_, reserved_, alignment, 0, 0));
        });
    }
    void take_block(byte_count most)
    {
        stream_ = cuda_stream::made(device_->calls(), "cudaStreamCreateWithFlags", [](cudaStream_t* out) {
            return cudaStreamCreateWithFlags(out, cudaStreamNonBlocking);
        });
        std::byte* const block = device_->allocate(most, alignment_, stream_.handle());
        try {
            device_->synchronize(stream_.handle()); // other streams may use it
        } catch (...) {
            if (!device_->is_lost()) try {
                    device_->deallocate(block, most, alignment_, stream_.handle());
                } catch (...) {
                }
            throw;
        }
        address_ = reinterpret_cast<CUdeviceptr>(block);
        bytes_ = most;
    }

    void add(byte_count more)
    {
        parts_.reserve(parts_.size() + 1);
        cuda_calls& calls = device_->calls();
        CUdeviceptr const at = address_ + bytes_;
        std::size_t const size = to_size(more);
        part made{0, more};
        calls("cuMemCreate",
              [&] { return how_->as_runtime(how_->create(&made.memory, size, &how_->memory, 0)); });
        bool is_mapped = false;
        try {
            calls("cuMemMap", [&] { return how_->as_runtime(how_->map(at, size, 0, made.memory, 0)); });
            is_mapped = true;
            CUmemAccessDesc access{};
            access.location = how_->memory.location;
            access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            calls("cuMemSetAccess", [&] { return how_->as_runtime(how_->set_access(at, size, &access, 1)); });
        } catch (...) {
            if (is_mapped) calls.call_noexcept([&] { return how_->as_runtime(how_->unmap(at, size)); });
            calls.call_noexcept([&] { return how_->as_runtime(how_->release(made.memory)); });
            throw;
        }
        parts_.push_back(made);
        bytes_ += more;
    }

    /// Unmaps the last part. Returns the first failure, or null; the part is gone all the same.
    std::exception_ptr drop_last() noexcept
    {
        part const last = parts_.back();
        parts_.pop_back();
        bytes_ -= last.bytes;
        std::exception_ptr failure;
        auto attempt = [&](char const* name, auto call) {
            try {
                if (!device_->is_lost()) device_->calls().give_back(name, call);
            } catch (...) {
                if (!failure) failure = std::current_exception();
            }
        };
        attempt("cuMemUnmap",
                [&] { return how_->as_runtime(how_->unmap(address_ + bytes_, to_size(last.bytes))); });
        attempt("cuMemRelease", [&] { return how_->as_runtime(how_->release(last.memory)); });
        return failure;
    }

    cuda_device* device_;
    std::optional<cuda_mapping> how_; // none: one block
    byte_count alignment_;
    cuda_stream stream_; // of the block
    CUdeviceptr address_ = 0;
    std::size_t reserved_ = 0;
    byte_count bytes_ = 0;
    std::vector<part> parts_;
};

} // namespace detail

/// Arenas in device memory for every batch of one plan, for stream_executor on a cuda_device. An executor
/// that is used after another one waits for the device. Memory is counted in units of the device's
/// granularity, 2 MiB on most. On a device that cannot map memory it is one block of the largest batch.
class cuda_growing_arena : public detail::growing_blocks<detail::cuda_pages> {
public:
    /// Reserves the addresses of the largest batch, without memory.
    ///
    /// Requires:   the device outlives it; alignments are powers of two.
    /// Complexity: O(buffers), and one call of the driver for each pool.
    /// Throws:     cuda_error; precondition_error where a requirement is broken.
    cuda_growing_arena(cuda_device& device, symbolic_plan const& plan)
        : growing_blocks(plan, [&device, how = detail::cuda_mapping_of(device.calls())](
                                   byte_count most, byte_count alignment) {
              return detail::cuda_pages(device, how, most, alignment);
          })
    {
    }
    /// The same for a planner's result.
    /// Throws: also unsound_plan with its error, if there is no plan.
    template <class Planned>
        requires requires(Planned const& planned) {
            symbolic_plan(planned.plan);
            unsound_plan(planned.error());
        }
    cuda_growing_arena(cuda_device& device, Planned const& planned)
        : cuda_growing_arena(device, plan_of(planned))
    {
    }
};

} // namespace sublet

#endif
