// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CUDA_SYNTHETIC_HPP
#define SUBLET_TEST_CUDA_SYNTHETIC_HPP

/// sublet::synthetic_kernel on a device: the same bytes, without a transfer to the host.

#include "kernels.hpp"

#include <sublet/execution/cuda.hpp>
#include <sublet/execution/storage.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

/// A cuda_device that computes digests, for executor_options::checks::digest.
class digesting_device : public sublet::cuda_device {
public:
    using cuda_device::cuda_device;

    void digest(cudaStream_t stream, std::span<std::byte const> bytes, std::uint64_t* out)
    {
        auto* const word = allocate(8, 8, stream);
        calls()("take_digest", [&] {
            kernels::take_digest(stream, bytes.data(), bytes.size(), reinterpret_cast<kernels::word*>(word));
            return cudaPeekAtLastError();
        });
        copy_from_device(std::as_writable_bytes(std::span(out, 1)), word, stream);
        deallocate(word, 8, 8, stream);
    }
};

/// Words on the device for one program: four for each position, so that concurrent steps do not share them,
/// and a last one that counts overwritten scratch.
class synthetic_words {
public:
    synthetic_words(sublet::cuda_device& device, std::size_t positions)
        : device_(&device), stream_(device.make_stream()), bytes_((4 * positions + 1) * 8),
          first_(device.allocate(bytes_, 8, stream_))
    {
        device.fill(first_, std::byte{}, bytes_, stream_);
        device.synchronize(stream_);
    }
    synthetic_words(synthetic_words const&) = delete;
    synthetic_words& operator=(synthetic_words const&) = delete;
    ~synthetic_words()
    {
        try {
            device_->deallocate(first_, bytes_, 8, stream_);
        } catch (sublet::cuda_error const&) { // ignored in a destructor
        }
        device_->destroy_stream(stream_);
    }

    kernels::word* of(std::size_t position) const
    {
        return reinterpret_cast<kernels::word*>(first_) + 4 * position;
    }
    kernels::word* clobbered() const { return reinterpret_cast<kernels::word*>(first_ + bytes_ - 8); }
    /// How often results were written over the scratch of their own step.
    std::uint64_t count_clobbered()
    {
        std::uint64_t count = 0;
        device_->synchronize();
        device_->copy_from_device(std::as_writable_bytes(std::span(&count, 1)), first_ + bytes_ - 8, stream_);
        device_->synchronize(stream_);
        return count;
    }

private:
    sublet::cuda_device* device_;
    cudaStream_t stream_;
    sublet::byte_count bytes_;
    std::byte* first_;
};

struct device_synthetic_kernel {
    synthetic_words const* words;
    std::uint64_t seed = 0;
    std::uint64_t idle_cycles = 0; ///< of every third step, to delay it

    template <class Call>
    void operator()(Call const& call) const
    {
        auto const s = call.stream();
        auto* const sum = words->of(call.position);
        auto *const one = sum + 1, *const used = sum + 2, *const kept = sum + 3;
        if (idle_cycles != 0 && call.step % 3 == 0) kernels::idle(s, idle_cycles);
        kernels::set(s, sum, sublet::fold_digest(seed, call.step));
        for (std::size_t i = 0; i != call.uses().size(); ++i) {
            kernels::take_digest(s, call.in(i).data(), call.in(i).size(), one);
            kernels::fold_in(s, sum, one);
        }
        for (std::size_t k = 0; k != call.scratch_count(); ++k)
            kernels::fill_noise(s, call.scratch(k).data(), call.scratch(k).size(), sum, k, true);
        auto take_all = [&](kernels::word* out) {
            kernels::set(s, out, 0);
            for (std::size_t k = 0; k != call.scratch_count(); ++k) {
                kernels::take_digest(s, call.scratch(k).data(), call.scratch(k).size(), one);
                kernels::fold_in(s, out, one);
            }
        };
        if (call.scratch_count() != 0) take_all(used);
        for (std::size_t j = 0; j != call.defs().size(); ++j)
            if (!call.is_view(j))
                kernels::fill_noise(s, call.out(j).data(), call.out(j).size(), sum, j, false);
        if (call.scratch_count() == 0) return;
        take_all(kept);
        kernels::compare(s, used, kept, words->clobbered());
    }
};

#endif
