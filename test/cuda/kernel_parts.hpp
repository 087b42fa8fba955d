// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CUDA_KERNEL_PARTS_HPP
#define SUBLET_TEST_CUDA_KERNEL_PARTS_HPP

/// The work of one of `stride` threads of a kernel: the same code for a device and for the host, where a test
/// compares it with sublet/execution/storage.hpp. C++17, because nvcc compiles it too.

#include <cstddef>

#ifdef __CUDACC__
#define SUBLET_ANYWHERE __host__ __device__
#else
#define SUBLET_ANYWHERE
#endif

namespace kernel_parts {

using word = unsigned long long; // CUDA adds this type atomically
static_assert(sizeof(word) == 8, "a word is 64 bits");

SUBLET_ANYWHERE inline word mix(word x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
SUBLET_ANYWHERE inline word fold(word sum, word next) { return mix(sum * 0x9e3779b97f4a7c15u + next); }

SUBLET_ANYWHERE inline bool is_aligned(void const* bytes)
{
    return reinterpret_cast<std::size_t>(bytes) % 8 == 0;
}

/// Its part of the sum, without the length.
SUBLET_ANYWHERE inline word digest_part(unsigned char const* bytes, std::size_t size, std::size_t first,
                                        std::size_t stride)
{
    word sum = 0;
    for (std::size_t k = first; k * 8 < size; k += stride) {
        word one = 0;
        if (k * 8 + 8 <= size && is_aligned(bytes)) one = reinterpret_cast<word const*>(bytes)[k];
        else
            for (std::size_t i = 0; i != 8 && k * 8 + i != size; ++i)
                one |= static_cast<word>(bytes[k * 8 + i]) << (8 * i);
        sum += mix(one ^ mix(k + 1));
    }
    return sum;
}

SUBLET_ANYWHERE inline void noise_part(unsigned char* bytes, std::size_t size, word seed, std::size_t first,
                                       std::size_t stride)
{
    word const key = mix(seed);
    for (std::size_t k = first; k * 8 < size; k += stride) {
        word const one = mix(key ^ mix(k));
        if (k * 8 + 8 <= size && is_aligned(bytes)) reinterpret_cast<word*>(bytes)[k] = one;
        else
            for (std::size_t i = 0; i != 8 && k * 8 + i != size; ++i)
                bytes[k * 8 + i] = static_cast<unsigned char>(one >> (8 * i));
    }
}

} // namespace kernel_parts

#endif
