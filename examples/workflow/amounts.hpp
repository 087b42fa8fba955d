// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_WORKFLOW_AMOUNTS_HPP
#define SUBLET_EXAMPLES_WORKFLOW_AMOUNTS_HPP

/// Bytes as the library's reports write them, or counts of a unit.
///
///     1536                1.5 KiB
///     8, unit qubits      8 qubits

#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdio>
#include <string>

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

} // namespace workflow

#endif
