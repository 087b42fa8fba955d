// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_ARITHMETIC_HPP
#define SUBLET_CORE_INTERNAL_ARITHMETIC_HPP

/// Arithmetic of sizes and ids that needs no other header of the library than that of ids: conversions that
/// lose nothing, the larger and the smaller of two, and whether a sum fits 64 bits.

#include <sublet/core/errors.hpp>
#include <sublet/core/internal/id.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace sublet::detail {

/// An index or a size in memory; of a number that does not fit, the largest, which no allocation grants. With
/// 64 bits it is the same type; with 32 bits the mask narrows it without a cast, which 64 bits would call
/// useless.
[[nodiscard]] constexpr std::size_t to_size(std::uint64_t number) noexcept
{
    constexpr std::uint64_t largest = ~std::size_t{0};
    return (number < largest ? number : largest) & largest;
}

/// Throws: precondition_error for a negative one.
template <integer_like N>
[[nodiscard]] constexpr std::uint64_t to_byte_count(N const& number)
{
    auto const count = +number;
    if constexpr (std::signed_integral<decltype(+number)>)
        SUBLET_EXPECTS(count >= 0, "sublet: a size is negative: %", count);
    return static_cast<std::uint64_t>(count);
}

/// std::max and std::min without <algorithm>, which public headers do not include (core/internal/sorting.hpp
/// says why).
template <class N>
    requires(integer<N> || is_id<N>)
[[nodiscard]] constexpr N larger(N a, N b) noexcept
{
    return a < b ? b : a;
}
template <class N>
    requires(integer<N> || is_id<N>)
[[nodiscard]] constexpr N smaller(N a, N b) noexcept
{
    return b < a ? b : a;
}

/// Whether a + b is a quantity, that is, below 2^64 - 1.
[[nodiscard]] constexpr bool sum_fits(std::uint64_t a, std::uint64_t b) noexcept
{
    return b < ~std::uint64_t{0} - a;
}

} // namespace sublet::detail

#endif
