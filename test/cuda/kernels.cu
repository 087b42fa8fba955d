// SPDX-License-Identifier: BSL-1.0
#include "kernels.hpp"

namespace {

using kernel_parts::word;

constexpr unsigned threads = 256;

/// One thread per word, in a bounded number of blocks; with more words, a thread handles several.
unsigned blocks_for(std::size_t size)
{
    std::size_t const wanted = (size / 8 + threads) / threads;
    return static_cast<unsigned>(wanted < 1024 ? wanted : 1024);
}

__device__ std::size_t part() { return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ std::size_t all() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

__global__ void set_kernel(word* out, word value) { *out = value; }
__global__ void digest_kernel(unsigned char const* bytes, std::size_t size, word* out)
{
    atomicAdd(out, kernel_parts::digest_part(bytes, size, part(), all()));
}
__global__ void fold_kernel(word* into, word const* from) { *into = kernel_parts::fold(*into, *from); }
__global__ void noise_kernel(unsigned char* bytes, std::size_t size, word const* sum, word number, bool is_turned)
{
    word const seed = kernel_parts::fold(*sum, number);
    kernel_parts::noise_part(bytes, size, is_turned ? ~seed : seed, part(), all());
}
__global__ void compare_kernel(word const* one, word const* other, word* count)
{
    if (*one != *other) atomicAdd(count, static_cast<word>(1));
}
__global__ void idle_kernel(long long cycles)
{
    long long const begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

} // namespace

namespace kernels {

void set(cudaStream_t stream, word* out, word value) { set_kernel<<<1, 1, 0, stream>>>(out, value); }

void take_digest(cudaStream_t stream, void const* bytes, std::size_t size, word* out)
{
    set(stream, out, size);
    digest_kernel<<<blocks_for(size), threads, 0, stream>>>(static_cast<unsigned char const*>(bytes), size, out);
}

void fold_in(cudaStream_t stream, word* into, word const* from) { fold_kernel<<<1, 1, 0, stream>>>(into, from); }

void fill_noise(cudaStream_t stream, void* bytes, std::size_t size, word const* sum, word number, bool is_turned)
{
    noise_kernel<<<blocks_for(size), threads, 0, stream>>>(static_cast<unsigned char*>(bytes), size, sum, number,
                                                           is_turned);
}

void compare(cudaStream_t stream, word const* one, word const* other, word* count)
{
    compare_kernel<<<1, 1, 0, stream>>>(one, other, count);
}

void idle(cudaStream_t stream, word cycles)
{
    idle_kernel<<<1, 1, 0, stream>>>(static_cast<long long>(cycles));
}

} // namespace kernels
