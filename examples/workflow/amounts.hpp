// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_WORKFLOW_AMOUNTS_HPP
#define SUBLET_EXAMPLES_WORKFLOW_AMOUNTS_HPP

/// Bytes as the library's reports write them, or counts of a unit; and the bytes of a text.
///
///     1536                1.5 KiB
///     8, unit qubits      8 qubits
///     6GB, 1.5KiB         6000000000, 1536

#include "../statements.hpp"

#include <sublet/core/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace workflow {

/// With two decimals at most. `unit` is empty for bytes.
inline std::string amount(sublet::byte_count count, std::string const& unit)
{
    if (!unit.empty()) return std::to_string(count) + ' ' + unit;
    static constexpr char const* units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    std::size_t power = 0;
    auto scaled = static_cast<double>(count);
    for (; scaled >= 1023.995 && power != 6; ++power) scaled /= 1024;
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", power == 0 ? 0 : 2, scaled);
    std::string shown = text;
    if (power != 0) {
        shown.erase(shown.find_last_not_of('0') + 1);
        if (shown.ends_with('.')) shown.pop_back();
    }
    return shown + units[power];
}

/// The bytes of a number with B, kB, MB, ..., EB (powers of 1000), KiB, MiB, ..., EiB (powers of 1024) or
/// nothing behind it; a fraction of a byte is dropped. Nothing for other words, and from 2^64 - 1.
inline std::optional<sublet::byte_count> bytes_in(std::string_view word)
{
    std::size_t const digits = std::min(word.find_first_not_of("0123456789."), word.size());
    std::string_view const number = word.substr(0, digits);
    std::string_view unit = word.substr(digits);
    sublet::byte_count scale = 1;
    if (unit.ends_with('B')) unit.remove_suffix(1);
    else if (!unit.empty()) return std::nullopt;
    if (!unit.empty()) {
        bool const is_binary = unit.size() == 2 && unit[1] == 'i';
        std::size_t const power = std::string_view("KMGTPE").find(unit[0] == 'k' ? 'K' : unit[0]);
        if ((unit.size() != 1 && !is_binary) || power == unit.npos) return std::nullopt;
        for (std::size_t i = 0; i <= power; ++i) scale *= is_binary ? 1024 : 1000;
    }
    std::size_t const point = number.find('.');
    auto whole = statements::number_in<sublet::byte_count>(number.substr(0, point));
    if (!whole || *whole > (sublet::no_size - 1) / scale) return std::nullopt;
    *whole *= scale;
    if (point == number.npos) return whole;
    std::string_view const rest = number.substr(point + 1);
    if (rest.empty() || rest.find('.') != rest.npos) return std::nullopt;
    sublet::byte_count part = 0; // of the scale, from the last digit to the first
    for (std::size_t i = std::min<std::size_t>(rest.size(), 18); i-- != 0;)
        part = (static_cast<sublet::byte_count>(rest[i] - '0') * scale + part) / 10;
    if (part > sublet::no_size - 1 - *whole) return std::nullopt;
    return *whole + part;
}

} // namespace workflow

#endif
