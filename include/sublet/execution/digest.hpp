// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DIGEST_HPP
#define SUBLET_EXECUTION_DIGEST_HPP

/// A 64-bit digest of a byte sequence.
///
///     digest(bytes) = length + Σ mix(word[k] ^ mix(k + 1))    mod 2^64, over words of 8 bytes, zero padded
///
/// The words may be summed in any order, in parts and by many threads at once, and the result is the same on
/// every machine of one byte order. `mix` is a bijection: a change within one word always changes the digest;
/// any other change is missed with a probability of about 2^-64.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (the
/// finalizer of SplitMix64, after Stafford's variant 13 of MurmurHash3's).

#include <sublet/execution/internal/mix.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace sublet {

/// Adds a number to the digest of a sequence; the order matters.
[[nodiscard]] constexpr std::uint64_t fold_digest(std::uint64_t sum, std::uint64_t next) noexcept
{
    return detail::mix(sum * 0x9e3779b97f4a7c15u + next);
}

/// A hash of the bytes; equal bytes have equal hashes on every machine.
///
/// Complexity: O(bytes), no allocation.
[[nodiscard]] std::uint64_t digest(std::span<std::byte const> bytes) noexcept;

/// Fills with pseudorandom bytes, a function of seed and length.
void fill_noise(std::span<std::byte> bytes, std::uint64_t seed) noexcept;

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/digest.ipp>
#endif

#endif
