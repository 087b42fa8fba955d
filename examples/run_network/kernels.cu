// SPDX-License-Identifier: BSL-1.0

// Every formula of elements.hpp as a kernel: one thread per element.

#include "device_kernels.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

namespace run_network {
namespace {

template <class Formula>
__global__ void each_element(int count, Formula formula)
{
    int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) formula(i);
}

struct launch {
    cudaStream_t stream;

    template <class Formula>
    void operator()(int count, Formula const& formula) const
    {
        constexpr int threads = 128;
        if (count > 0) each_element<<<(count - 1) / threads + 1, threads, 0, stream>>>(count, formula);
    }
};

/// Writes the pattern once, then doubles the filled part until the result is full.
void queue_constant(constant const& what, operands const& io, cudaStream_t stream)
{
    auto* const to = static_cast<unsigned char*>(io.out);
    std::size_t filled = std::min(what.bytes.size(), io.out_bytes);
    if (filled == 0) return;
    cudaMemcpyAsync(to, what.bytes.data(), filled, cudaMemcpyHostToDevice, stream);
    for (std::size_t more; filled < io.out_bytes; filled += more) {
        more = std::min(filled, io.out_bytes - filled);
        cudaMemcpyAsync(to + filled, to, more, cudaMemcpyDeviceToDevice, stream);
    }
}

} // namespace

void queue_on_device(layer const& what, operands const& io, void* stream)
{
    auto const queue = static_cast<cudaStream_t>(stream);
    if (std::holds_alternative<view>(what)) // a copy; an executor runs no views
        cudaMemcpyAsync(io.out, io.in[0], io.out_bytes, cudaMemcpyDeviceToDevice, queue);
    else if (auto const* const pattern = std::get_if<constant>(&what)) queue_constant(*pattern, io, queue);
    else run_in_elements(what, io, launch{queue});
}

} // namespace run_network
