// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_STEP_KERNEL_PARTS_HPP
#define SUBLET_BENCH_STEP_KERNEL_PARTS_HPP

/// The work of one of `stride` threads that read or write a range of bytes: the same code for a device and
/// for the host, where a test compares it with a loop over bytes. C++17, because nvcc compiles it too.
///
///     address   13 14 15 | 16 ......... 31 | 32 ......... 47 | 48 49
///               head       line 0            line 1            tail
///
/// Whole lines of 16 bytes are one access each; the bytes before and after are an access each. A byte at
/// address a belongs to byte a mod 16 of a line.

#include <cstddef>

#ifdef __CUDACC__
#define SUBLET_BENCH_ANYWHERE __host__ __device__
#define SUBLET_BENCH_UNROLL _Pragma("unroll 4") // a thread has four accesses in flight
#else
#define SUBLET_BENCH_ANYWHERE
#define SUBLET_BENCH_UNROLL
#endif

namespace step_kernel {

using word = unsigned long long;
static_assert(sizeof(word) == 8, "a line is two words of 64 bits");

struct alignas(16) line {
    word low, high;
};

/// A range of bytes on the device.
struct operand {
    unsigned char* first;
    std::size_t size;
};

struct parts {
    std::size_t head, lines, tail; // in bytes, lines of 16 bytes, bytes
};

SUBLET_BENCH_ANYWHERE inline std::size_t place_in_line(void const* at)
{
    return reinterpret_cast<std::size_t>(at) % 16;
}

SUBLET_BENCH_ANYWHERE inline parts parts_of(operand bytes)
{
    std::size_t const before = (16 - place_in_line(bytes.first)) % 16;
    std::size_t const head = before < bytes.size ? before : bytes.size;
    return {head, (bytes.size - head) / 16, (bytes.size - head) % 16};
}

/// The address of byte i of head and tail together.
SUBLET_BENCH_ANYWHERE inline unsigned char* border_byte(operand bytes, parts its, std::size_t i)
{
    return bytes.first + (i < its.head ? i : i + its.lines * 16);
}

/// Adds its part of the bytes to a sum without carry, byte by byte of a line.
SUBLET_BENCH_ANYWHERE inline void read_part(operand bytes, line& sum, std::size_t first, std::size_t stride)
{
    parts const its = parts_of(bytes);
    line const* const lines = reinterpret_cast<line const*>(bytes.first + its.head);
    SUBLET_BENCH_UNROLL
    for (std::size_t k = first; k < its.lines; k += stride) {
        line const one = lines[k];
        sum.low ^= one.low;
        sum.high ^= one.high;
    }
    for (std::size_t i = first; i < its.head + its.tail; i += stride) {
        unsigned char const* const at = border_byte(bytes, its, i);
        std::size_t const place = place_in_line(at);
        word const one = static_cast<word>(*at) << (8 * (place % 8));
        (place < 8 ? sum.low : sum.high) ^= one;
    }
}

/// Sets its part of the bytes to the bytes of a line.
SUBLET_BENCH_ANYWHERE inline void write_part(operand bytes, line value, std::size_t first, std::size_t stride)
{
    parts const its = parts_of(bytes);
    line* const lines = reinterpret_cast<line*>(bytes.first + its.head);
    SUBLET_BENCH_UNROLL
    for (std::size_t k = first; k < its.lines; k += stride) lines[k] = value;
    for (std::size_t i = first; i < its.head + its.tail; i += stride) {
        unsigned char* const at = border_byte(bytes, its, i);
        std::size_t const place = place_in_line(at);
        *at = static_cast<unsigned char>((place < 8 ? value.low : value.high) >> (8 * (place % 8)));
    }
}

} // namespace step_kernel

#endif
