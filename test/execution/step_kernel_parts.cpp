// SPDX-License-Identifier: BSL-1.0
// The parts of bench_execution_cuda's kernel, compiled for the host.
#include "../../bench/step_kernel_parts.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace this_test {

namespace {

/// Bytes with addresses that are known modulo 16.
struct aligned_bytes {
    explicit aligned_bytes(std::size_t size) : room(size + 48)
    {
        std::size_t const at = reinterpret_cast<std::uintptr_t>(room.data()) % 16;
        first = room.data() + (16 - at) % 16 + 16; // a line before it
        for (std::size_t i = 0; i != room.size(); ++i) room[i] = static_cast<unsigned char>(37 * i + 11);
    }
    aligned_bytes(aligned_bytes const&) = delete;
    aligned_bytes& operator=(aligned_bytes const&) = delete;

    std::vector<unsigned char> room;
    unsigned char* first; // aligned to 16
};

/// Byte i of a line.
unsigned char byte_of(step_kernel::line one, std::size_t i)
{
    return static_cast<unsigned char>((i < 8 ? one.low : one.high) >> (8 * (i % 8)));
}

constexpr step_kernel::line pattern = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

/// Calls `check(bytes, operand, threads)` for all sizes from 0 to 100 at all 16 alignments.
template <class Check>
void each_operand(Check check)
{
    for (std::size_t size = 0; size <= 100; ++size)
        for (std::size_t shift = 0; shift != 16; ++shift)
            for (std::size_t threads : {1u, 3u, 64u}) {
                CAPTURE(size);
                CAPTURE(shift);
                CAPTURE(threads);
                aligned_bytes bytes(shift + size);
                check(bytes, step_kernel::operand{bytes.first + shift, size}, threads);
            }
}

} // namespace

TEST_CASE("a range of bytes has a head, whole lines and a tail")
{
    aligned_bytes bytes(64);
    auto check = [&](std::size_t shift, std::size_t size, std::array<std::size_t, 3> expected) {
        step_kernel::parts const its = step_kernel::parts_of({bytes.first + shift, size});
        CHECK(std::array{its.head, its.lines, its.tail} == expected);
    };
    check(13, 37, {3, 2, 2}); // the picture of the header
    check(0, 0, {0, 0, 0});
    check(0, 16, {0, 1, 0});
    check(1, 15, {15, 0, 0});
    check(1, 16, {15, 0, 1});
    check(5, 3, {3, 0, 0}); // within one line
    check(8, 48, {8, 2, 8});
}

TEST_CASE("threads read each byte of a range once, at every size and alignment")
{
    each_operand([](aligned_bytes const&, step_kernel::operand of, std::size_t threads) {
        step_kernel::line sum = {0, 0};
        for (std::size_t mine = threads; mine-- != 0;) step_kernel::read_part(of, sum, mine, threads);
        std::array<unsigned char, 16> expected{}, found{};
        for (std::size_t i = 0; i != of.size; ++i)
            expected[reinterpret_cast<std::uintptr_t>(of.first + i) % 16] ^= of.first[i];
        for (std::size_t i = 0; i != 16; ++i) found[i] = byte_of(sum, i);
        CHECK(found == expected);
    });
}

TEST_CASE("threads write each byte of a range and none outside, at every size and alignment")
{
    each_operand([](aligned_bytes& bytes, step_kernel::operand of, std::size_t threads) {
        std::vector<unsigned char> expected = bytes.room;
        auto const begin = static_cast<std::size_t>(of.first - bytes.room.data());
        for (std::size_t i = 0; i != of.size; ++i)
            expected[begin + i] = byte_of(pattern, reinterpret_cast<std::uintptr_t>(of.first + i) % 16);
        for (std::size_t mine = threads; mine-- != 0;) step_kernel::write_part(of, pattern, mine, threads);
        CHECK(bytes.room == expected);
    });
}

TEST_CASE("each byte is accessed by exactly one thread")
{
    each_operand([](aligned_bytes& bytes, step_kernel::operand of, std::size_t threads) {
        std::vector<unsigned> writers(of.size, 0);
        for (std::size_t mine = 0; mine != threads; ++mine) {
            for (std::size_t i = 0; i != of.size; ++i) of.first[i] = 0xEE; // a byte that no line has here
            step_kernel::write_part(of, pattern, mine, threads);
            for (std::size_t i = 0; i != of.size; ++i) writers[i] += of.first[i] != 0xEE;
        }
        CHECK(writers == std::vector<unsigned>(of.size, 1));
        CHECK(bytes.room.size() >= of.size);
    });
}

} // namespace this_test
