// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_PRINTED_HPP
#define SUBLET_TEST_PRINTED_HPP

#include <sublet/core/counterexample.hpp>

#include <optional>
#include <sstream>
#include <string>

/// What a diagnostic prints.
template <class Diagnostic>
std::string printed(Diagnostic const& found)
{
    std::ostringstream out;
    out << found;
    return out.str();
}

/// The same for an optional one; empty if there is none.
template <class Diagnostic>
std::string printed(std::optional<Diagnostic> const& found)
{
    return found ? printed(*found) : std::string();
}

/// Why something does not hold; empty if it does.
inline std::string printed(sublet::verdict const& valid)
{
    return valid ? std::string() : printed(valid.error());
}

#endif
