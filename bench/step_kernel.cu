// SPDX-License-Identifier: BSL-1.0
#include "step_kernel.hpp"

namespace {

using step_kernel::operand;

constexpr unsigned threads = 256;

/// Passed by value, so that a captured launch has a copy. With 240 operands it is below the 4 KB that every
/// device takes.
template <unsigned most>
struct arguments {
    unsigned reads, count;
    operand of[most];
};

template <unsigned most>
__global__ void touch_kernel(arguments<most> const its)
{
    std::size_t const first = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    std::size_t const stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    step_kernel::line sum = {its.count, its.reads};
    for (unsigned i = 0; i < its.reads; ++i) step_kernel::read_part(its.of[i], sum, first, stride);
    for (unsigned i = its.reads; i < its.count; ++i) step_kernel::write_part(its.of[i], sum, first, stride);
}

template <unsigned most>
void issue(cudaStream_t stream, unsigned blocks, operand const* operands, unsigned reads, unsigned count)
{
    arguments<most> its;
    its.reads = reads;
    its.count = count;
    for (unsigned i = 0; i != count; ++i) its.of[i] = operands[i];
    touch_kernel<most><<<blocks, threads, 0, stream>>>(its);
}

template <unsigned most>
cudaError_t lower_to_resident(int* blocks)
{
    int resident = 0;
    cudaError_t const code =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, touch_kernel<most>, threads, 0);
    if (code == cudaSuccess && resident < *blocks) *blocks = resident;
    return code;
}

} // namespace

namespace step_kernel {

cudaError_t full_grid(unsigned* blocks)
{
    int device = 0, multiprocessors = 0, resident = 1 << 16;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess)
        code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (code == cudaSuccess) code = lower_to_resident<8>(&resident);
    if (code == cudaSuccess) code = lower_to_resident<48>(&resident);
    if (code == cudaSuccess) code = lower_to_resident<240>(&resident);
    if (code == cudaSuccess) *blocks = static_cast<unsigned>(multiprocessors * (resident < 1 ? 1 : resident));
    return code;
}

void launch(cudaStream_t stream, unsigned blocks, operand const* operands, unsigned reads, unsigned count)
{
    std::size_t most_lines = 1;
    for (unsigned i = 0; i != count; ++i)
        if (operands[i].size / 16 > most_lines) most_lines = operands[i].size / 16;
    std::size_t const useful = (most_lines + threads - 1) / threads;
    unsigned const grid = useful < blocks ? static_cast<unsigned>(useful) : blocks;
    if (count <= 8) issue<8>(stream, grid, operands, reads, count);
    else if (count <= 48) issue<48>(stream, grid, operands, reads, count);
    else issue<240>(stream, grid, operands, reads, count);
}

} // namespace step_kernel
