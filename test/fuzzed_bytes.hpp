// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_FUZZED_BYTES_HPP
#define SUBLET_TEST_FUZZED_BYTES_HPP

#include <cstddef>
#include <cstdint>
#include <span>

/// The bytes from which random tests draw their numbers when a fuzzer runs them; main.cpp sets them. After
/// the last one they draw from their seed.
struct fuzzed_bytes {
    bool is_on = false;
    std::span<unsigned char const> left = {};

    /// From the next bytes; as if zeros followed the last.
    std::uint32_t number(std::size_t bytes)
    {
        std::uint32_t read = 0;
        for (; bytes != 0 && !left.empty(); --bytes, left = left.subspan(1)) read = read << 8 | left[0];
        return read;
    }
};

inline fuzzed_bytes fuzzed;

#endif
