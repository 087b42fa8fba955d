// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CUDA_KERNELS_HPP
#define SUBLET_TEST_CUDA_KERNELS_HPP

/// Kernels with results that show whether a plan is valid: in kernels.cu for a device, in host_kernels.cpp
/// for the fake of the runtime. Each issues its work and returns; words are in device memory.

#include "kernel_parts.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>

namespace kernels {

using kernel_parts::word;

void set(cudaStream_t, word* out, word value);
/// Writes the digest of the bytes to *out.
void take_digest(cudaStream_t, void const* bytes, std::size_t size, word* out);
/// *into becomes fold(*into, *from).
void fold_in(cudaStream_t, word* into, word const* from);
/// Writes noise of the seed fold(*sum, number), or of its complement.
void fill_noise(cudaStream_t, void* bytes, std::size_t size, word const* sum, word number, bool is_turned);
/// Increments *count if the two differ.
void compare(cudaStream_t, word const* one, word const* other, word* count);
/// Runs for this many cycles of the device, to expose work that runs too early.
void idle(cudaStream_t, word cycles);

} // namespace kernels

#endif
