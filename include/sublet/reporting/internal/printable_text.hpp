// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_INTERNAL_PRINTABLE_TEXT_HPP
#define SUBLET_REPORTING_INTERNAL_PRINTABLE_TEXT_HPP

/// Names come from files and may be any bytes; these functions make them text that a report can hold:
/// UTF-8 without control characters, or the inside of a string of JSON or Graphviz. One pass over the bytes;
/// what is not UTF-8 becomes '?'.

#include <cstddef>
#include <vector>

namespace sublet::detail {

/// Whether it is the first byte of a character in UTF-8.
constexpr bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

/// Drops control characters and replaces what is not UTF-8 by '?'; returns the number of characters left.
std::size_t keep_printable(std::vector<char>& text);

/// Makes it the inside of a JSON string: quotes, backslashes and control characters are escaped, and what is
/// not UTF-8 is replaced by '?'.
void escape_json(std::vector<char>& text);

/// Makes it the inside of a string of Graphviz: keep_printable(), and quotes, backslashes and ampersands,
/// which begin entities, are escaped.
void escape_dot(std::vector<char>& text);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/printable_text.ipp>
#endif

#endif
