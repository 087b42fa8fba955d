// SPDX-License-Identifier: BSL-1.0

/// Digest and noise: words of 8 bytes, and the rest padded with zeros as one more; each word is mixed with
/// its own number, so that words may be taken in any order.

#include <sublet/execution/digest.hpp>
#include <sublet/impl/config.hpp>

#include <cstring>

namespace sublet {

SUBLET_DECL std::uint64_t digest(std::span<std::byte const> bytes) noexcept
{
    std::uint64_t sum = bytes.size(), k = 0;
    std::size_t at = 0;
    for (; bytes.size() - at >= 8; at += 8) {
        std::uint64_t word;
        std::memcpy(&word, bytes.data() + at, 8);
        sum += detail::mix(word ^ detail::mix(++k));
    }
    if (at != bytes.size()) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, bytes.size() - at);
        sum += detail::mix(word ^ detail::mix(++k));
    }
    return sum;
}

SUBLET_DECL void fill_noise(std::span<std::byte> bytes, std::uint64_t seed) noexcept
{
    std::uint64_t const key = detail::mix(seed);
    std::uint64_t k = 0;
    std::size_t at = 0;
    for (; bytes.size() - at >= 8; at += 8) {
        std::uint64_t const word = detail::mix(key ^ detail::mix(k++));
        std::memcpy(bytes.data() + at, &word, 8);
    }
    std::uint64_t const word = detail::mix(key ^ detail::mix(k));
    if (at != bytes.size()) std::memcpy(bytes.data() + at, &word, bytes.size() - at);
}

} // namespace sublet
