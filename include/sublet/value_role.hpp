// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_VALUE_ROLE_HPP
#define SUBLET_VALUE_ROLE_HPP

/// How a value meets the world outside the program: a set of flags.
///
///     position      0   1   2   3   4
///     intermediate      [=======)          lives from its def to its last touch
///     input         [===========)          there before the first step
///     output                [=======]      there after the last one
///     external      (storage is the caller's: never planned, never counted, but its touches order steps)
///     state         (external, and written: kept from run to run)
///
/// A buffer has the roles of all its values; one external member makes the whole buffer external.

#include <cstdint>

namespace sublet {

enum class value_role : std::uint8_t { intermediate = 0, input = 1, output = 2, external = 4, state = 12 };

[[nodiscard]] constexpr value_role operator|(value_role a, value_role b) noexcept
{
    return static_cast<value_role>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// `intermediate` is the empty set: no role to have, so every set answers yes.
[[nodiscard]] constexpr bool has_role(value_role set, value_role one) noexcept
{
    return (static_cast<unsigned>(set) & static_cast<unsigned>(one)) == static_cast<unsigned>(one);
}

/// The value is there before any step defines it.
[[nodiscard]] constexpr bool is_given(value_role set) noexcept
{
    return has_role(set, value_role::input) || has_role(set, value_role::external);
}

} // namespace sublet

#endif
