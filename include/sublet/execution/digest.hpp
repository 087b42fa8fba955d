// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DIGEST_HPP
#define SUBLET_EXECUTION_DIGEST_HPP

/// 64 bits that stand for many bytes.
///
///     digest(bytes) = length + Σ mix(word[k] ^ mix(k + 1))    mod 2^64, over words of 8 bytes, zero padded
///
/// A sum, so words may be taken in any order, in parts, by many threads at once, and the result is the same
/// on every machine of one byte order. `mix` is a bijection: a change within one word always changes the
/// digest, any other change goes unseen with a chance of about 2^-64.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (the
/// finalizer of SplitMix64, after Stafford's variant 13 of MurmurHash3's).

#include <cstddef>
#include <cstdint>
#include <span>

namespace sublet {

namespace detail {

/// A bijection of 64 bits in which every bit of the argument counts for every bit of the result.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) noexcept
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

} // namespace detail

/// What a sequence of numbers comes to; the order counts.
[[nodiscard]] constexpr std::uint64_t fold_digest(std::uint64_t sum, std::uint64_t next) noexcept
{
    return detail::mix(sum * 0x9e3779b97f4a7c15u + next);
}

/// Complexity: O(bytes), no allocation.
[[nodiscard]] std::uint64_t digest(std::span<std::byte const> bytes) noexcept;

/// Bytes that look like noise and are the same for the same seed and length.
void fill_noise(std::span<std::byte> bytes, std::uint64_t seed) noexcept;

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/digest.ipp>
#endif

#endif
