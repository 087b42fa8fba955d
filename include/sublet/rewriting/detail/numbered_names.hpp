// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_DETAIL_NUMBERED_NAMES_HPP
#define SUBLET_REWRITING_DETAIL_NUMBERED_NAMES_HPP

/// Reads the number of a name such as slot12, digit by digit, or finds that it is none: two spellings of
/// one number would be two names, so leading zeros are refused, and what exceeds 64 bits.

#include <sublet/impl/config.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace sublet::detail {

/// The number after the prefix, if the name is the prefix and a 64-bit decimal number without leading zeros.
[[nodiscard]] constexpr std::optional<std::uint64_t> parse_numbered(std::string_view prefix,
                                                                    std::string_view name)
{
    if (name.size() <= prefix.size() || name.substr(0, prefix.size()) != prefix) return std::nullopt;
    name.remove_prefix(prefix.size());
    if (name[0] == '0' && name.size() != 1) return std::nullopt;
    std::uint64_t number = 0;
    for (char c : name) {
        if (c < '0' || c > '9') return std::nullopt;
        auto const digit = static_cast<std::uint64_t>(c - '0');
        if (number > (~std::uint64_t{0} - digit) / 10) return std::nullopt;
        number = 10 * number + digit;
    }
    return number;
}

} // namespace sublet::detail

#endif
