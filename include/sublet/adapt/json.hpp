// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ADAPT_JSON_HPP
#define SUBLET_ADAPT_JSON_HPP

/// Reads a plan from JSON, as reporting/json.hpp describes and writes it, with the parser of nlohmann's
/// library (Debian: nlohmann-json3-dev). Link `sublet::json` to use it. The library never includes this
/// header.
///
///     std::ifstream file("plan.json");
///     sublet::json_plan const read = sublet::read_json(file);
///     if (!read) std::cerr << "plan.json: " << read.error() << '\n'; // line 3, column 4: this is not JSON
///     else if (auto const valid = sublet::check_plan(program, read.plan, options); !valid)
///         std::cerr << valid.error() << '\n';
///
/// A file may come from anywhere. What needs no program is checked here: the schema, types and ranges, ids
/// that name a buffer, pool or value of the file, and that all sums fit 64 bits. Call check_plan() for the
/// rest, with your program and options: it finds every plan that is not valid for them.
///
/// The document is never built: the parser calls a function for each token, which ends at the first error.
/// Depth is at most 3, whatever the text.

#include <sublet/adapt/detail/json_plan_reader.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

namespace sublet {

/// A plan with the names of its values, or why there is none. Reports take it as they take the result of a
/// planner: `write_csv(out, read, {.names = read.names})`.
struct json_plan {
    /// What is wrong first, and where.
    struct failure {
        std::string sentence = {}; ///< without the place
        std::size_t line = 1;      ///< from 1
        std::size_t column = 1;    ///< in bytes, from 1
        friend bool operator==(json_plan::failure const&, json_plan::failure const&) = default;
    };

    memory_plan plan = {};                             ///< empty if there is none
    table<value_id, std::string> names = {};           ///< by value; empty where the file has none
    std::optional<json_plan::failure> unreadable = {}; ///< what error() returns

    /// There is a plan.
    explicit operator bool() const noexcept { return !unreadable; }

    /// Why there is no plan.
    /// Requires: there is none.
    [[nodiscard]] json_plan::failure const& error() const&
    {
        SUBLET_EXPECTS(unreadable.has_value(), "sublet: a plan has no error");
        return *unreadable;
    }
    /// The same of a temporary: a copy, which stays valid.
    [[nodiscard]] json_plan::failure error() && { return error(); }
};

/// Writes one sentence: "line 3, column 4: this is not JSON".
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, json_plan::failure const& why)
{
    detail::plain_text<Stream>{out} << "line " << why.line << ", column " << why.column << ": "
                                    << why.sentence.c_str();
    return out;
}

/// Reads one plan of version 1.
///
/// Ensures:    plan and names are those that `write_json` has written, or there is no plan, and error() says
///             what is wrong first and where. Unknown and repeated members are refused. Names are UTF-8.
/// Complexity: O(text) time and memory, and sorting of the order; the same for any text.
/// Throws:     std::bad_alloc.
[[nodiscard]] inline json_plan read_json(std::string_view text)
{
    json_plan result;
    detail::json_plan_reader(text, result).read();
    return result;
}

/// The same from a stream, to its end.
[[nodiscard]] inline json_plan read_json(std::istream& in)
{
    std::string text;
    char block[4096];
    while (in.read(block, sizeof block), in.gcount() != 0)
        text.append(block, static_cast<std::size_t>(in.gcount()));
    json_plan result;
    if (in.bad()) result.unreadable = {.sentence = "the text cannot be read to its end"};
    else detail::json_plan_reader(text, result).read();
    return result;
}

} // namespace sublet

#endif
