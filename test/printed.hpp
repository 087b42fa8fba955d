// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_PRINTED_HPP
#define SUBLET_TEST_PRINTED_HPP

/// What diagnostics and exceptions say, as text.

#include <sublet/core/counterexample.hpp>

#include <exception>
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

/// Why something was not planned; empty if it was.
template <class Planned>
std::string failure_of(Planned const& planned)
{
    return planned ? std::string() : printed(planned.error());
}

/// What the cause of an error of a run says.
template <class RunError>
std::string cause_of(RunError const& error)
{
    try {
        std::rethrow_exception(error.cause());
    } catch (std::exception const& cause) {
        return cause.what();
    }
}

/// What a call throws; `otherwise` if nothing. Exceptions that are no `Error` pass.
template <class Error = std::exception, class Call>
std::string thrown_by(Call call, std::string const& otherwise = "")
{
    try {
        call();
    } catch (Error const& error) {
        return error.what();
    }
    return otherwise;
}

/// The text that a call returns, or what it throws.
template <class Call>
std::string said_by(Call call)
{
    try {
        return call();
    } catch (std::exception const& error) {
        return std::string("throws: ") + error.what();
    }
}

#endif
