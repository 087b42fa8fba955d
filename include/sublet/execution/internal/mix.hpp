// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_INTERNAL_MIX_HPP
#define SUBLET_EXECUTION_INTERNAL_MIX_HPP

/// A bijection of 64 bits, for digests and pseudorandom numbers.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (the
/// finalizer of SplitMix64, after Stafford's variant 13 of MurmurHash3's).

#include <sublet/impl/config.hpp>

#include <cstdint>

namespace sublet::detail {

/// Each bit of the result depends on each bit of the argument.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) noexcept
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

} // namespace sublet::detail

#endif
