// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_CUDA_PAGES_HPP
#define SUBLET_EXECUTION_DETAIL_CUDA_PAGES_HPP

/// Memory of a CUDA device at addresses that stay: reserved once, with memory for as many bytes as are used.
///
///     address   0 ............................. most       reserved
///     parts     [ first )[ second )                        each time that it grows, one more is mapped

#include <sublet/core/units.hpp>
#include <sublet/execution/cuda.hpp>
#include <sublet/execution/cuda_runtime.hpp>
#include <sublet/execution/detail/cuda_handle.hpp>
#include <sublet/execution/detail/cuda_mapping.hpp>

#include <cstddef>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace sublet::detail {

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

} // namespace sublet::detail

#endif
