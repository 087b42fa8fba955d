// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CUDA_KERNELS_HPP
#define SUBLET_TEST_CUDA_KERNELS_HPP

/// Kernels by whose results a plan is judged: on a device in kernels.cu, on the fake of the runtime in
/// host_kernels.cpp. Each issues its work and returns; words are in the device's memory.

#include "kernel_parts.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>

namespace kernels {

using kernel_parts::word;

void set(cudaStream_t, word* out, word value);
/// *out becomes the digest of the bytes.
void take_digest(cudaStream_t, void const* bytes, std::size_t size, word* out);
/// *into becomes fold(*into, *from).
void fold_in(cudaStream_t, word* into, word const* from);
/// Noise of the seed fold(*sum, number), or of all its bits turned.
void fill_noise(cudaStream_t, void* bytes, std::size_t size, word const* sum, word number, bool is_turned);
/// *count goes up by one if the two are not the same.
void compare(cudaStream_t, word const* one, word const* other, word* count);
/// Until this many cycles of the device have passed: it makes what comes too early likely to be seen.
void idle(cudaStream_t, word cycles);

} // namespace kernels

#endif
