// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PACK_CSV_ROWS_HPP
#define SUBLET_EXAMPLES_PACK_CSV_ROWS_HPP

/// The rows of a CSV table and the fields of each, as positions in the text: nothing is copied.
///
///     id,"a, ""b""",7      three fields; the second reads  a, "b"  without its quotes
///
/// Rows end with LF or CR LF. A field that begins with a quote ends with one, and may hold commas, line ends
/// and doubled quotes (RFC 4180); in other fields, and in a table without quotes, a quote is a character like
/// any other.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pack {

/// A sentence about bad input or usage.
struct input_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A text for an error message: on one line and shortened.
inline std::string in_quotes(std::string_view text)
{
    std::string shown(text.substr(0, 40));
    for (char& c : shown)
        if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
    return "'" + shown + (text.size() > 40 ? "...'" : "'");
}

/// The characters [begin, end) of a text.
struct text_span {
    std::size_t begin = 0, end = 0;

    std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

/// A field without the quotes around it.
inline std::string unquoted(std::string_view field, bool has_quotes = true)
{
    if (!has_quotes || field.empty() || field[0] != '"') return std::string(field);
    std::string inside;
    for (std::size_t i = 1; i + 1 < field.size(); ++i) {
        inside += field[i];
        if (field[i] == '"') ++i;
    }
    return inside;
}

/// Iterates over the rows of a text.
struct csv_rows {
    explicit csv_rows(std::string_view whole, bool with_quotes = true) : text(whole), has_quotes(with_quotes)
    {
    }

    std::string_view text;
    bool has_quotes;
    std::size_t line = 0;               ///< where the row begins, from 1
    text_span row = {};                 ///< without its line end
    std::vector<text_span> fields = {}; ///< with their quotes

    /// Advances to the next row; false at the end. An empty line is a row of one empty field.
    /// Throws: input_error.
    bool next()
    {
        line = next_line;
        if (at == text.size()) return false;
        fields.clear();
        row.begin = at;
        for (;;) {
            std::size_t const begin = at;
            at = has_quotes && text[begin] == '"' ? after_quotes(begin) : end_of_plain(begin);
            fields.push_back({begin, at});
            if (at == text.size() || text[at] != ',') break;
            if (++at == text.size()) {
                fields.push_back({at, at});
                break;
            }
        }
        row.end = at;
        if (at != text.size() && text[at] == '\r') ++at;
        if (at != text.size()) ++at; // LF
        ++next_line;
        return true;
    }

private:
    std::size_t at = 0, next_line = 1;

    bool ends_row(std::size_t i) const
    {
        return i == text.size() || text[i] == '\n' ||
               (text[i] == '\r' && i + 1 != text.size() && text[i + 1] == '\n');
    }

    std::size_t end_of_plain(std::size_t i) const
    {
        while (!ends_row(i) && text[i] != ',') ++i;
        return i;
    }

    std::size_t after_quotes(std::size_t begin)
    {
        for (std::size_t i = begin + 1; i != text.size(); ++i) {
            if (text[i] == '\n') ++next_line;
            if (text[i] != '"') continue;
            ++i;
            if (ends_row(i) || text[i] == ',') return i;
            if (text[i] != '"')
                throw input_error("line " + std::to_string(next_line) + ": something follows a closed quote");
        }
        throw input_error("line " + std::to_string(line) + ": a quote is never closed");
    }
};

} // namespace pack

#endif
