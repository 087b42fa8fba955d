// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_STEP_KERNEL_HPP
#define SUBLET_BENCH_STEP_KERNEL_HPP

/// A kernel that reads every operand of a step and writes every result: in step_kernel.cu for a device, in
/// test/cuda/host_step_kernel.cpp for the fake of the runtime.

#include "step_kernel_parts.hpp"

#include <cuda_runtime_api.h>

namespace step_kernel {

/// Sets *blocks to the number that runs at the same time on the current device: its multiprocessors times
/// the blocks that each of them holds.
cudaError_t full_grid(unsigned* blocks);

/// Issues one kernel: each thread reads its part of the first `reads` operands, then writes its part of the
/// others.
///
/// Requires: at most 240 operands (see bench::most_operands), on the device; `blocks` is that of full_grid().
void launch(cudaStream_t stream, unsigned blocks, operand const* operands, unsigned reads, unsigned count);

} // namespace step_kernel

#endif
