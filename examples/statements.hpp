// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_STATEMENTS_HPP
#define SUBLET_EXAMPLES_STATEMENTS_HPP

/// Reads texts of one statement per line: the text behind `#` is a comment, the rest are words.
///
///     size h 4096     # bytes        {"size", "h", "4096"}

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace statements {

inline bool is_control(char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }

/// A word of a file for a message of one line: shortened, without control characters.
inline std::string in_quotes(std::string_view word)
{
    constexpr std::size_t most = 80;
    std::string text(word.substr(0, most));
    for (char& c : text)
        if (is_control(c)) c = '?';
    return "'" + text + (word.size() > most ? "...'" : "'");
}

/// The number that the whole word denotes, if it fits.
template <class Number>
std::optional<Number> number_in(std::string_view word)
{
    Number number{};
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return number;
}

inline std::vector<std::string> words_of(std::string_view line)
{
    constexpr std::string_view blanks = " \t\r\v\f";
    line = line.substr(0, line.find('#'));
    std::vector<std::string> words;
    for (std::size_t at = line.find_first_not_of(blanks); at != line.npos;) {
        std::size_t const end = line.find_first_of(blanks, at);
        words.emplace_back(line.substr(at, end - at));
        at = end == line.npos ? end : line.find_first_not_of(blanks, end);
    }
    return words;
}

/// Calls `take(words, line)` for each statement; lines count from 1.
///
/// Throws: Error if there is no statement or the text cannot be read to its end. Errors that `take` throws
///         get the line in front.
template <class Error, class Take>
void read_each(std::istream& in, Take take)
{
    bool is_empty = true;
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        std::vector<std::string> const words = words_of(line);
        if (words.empty()) continue;
        is_empty = false;
        try {
            take(words, number);
        } catch (Error const& e) {
            throw Error("line " + std::to_string(number) + ": " + e.what());
        }
    }
    if (in.bad()) throw Error("cannot be read");
    if (is_empty) throw Error("has no statement");
}

/// Opens a text for reading.
///
/// Throws: Error for a directory, and for a file that cannot be opened.
template <class Error>
std::ifstream open_text(std::string const& file)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) throw Error("is a directory");
    std::ifstream in(file, std::ios::binary);
    if (!in) throw Error("cannot be read");
    return in;
}

} // namespace statements

#endif
