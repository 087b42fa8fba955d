// SPDX-License-Identifier: BSL-1.0

/// All walk from character to character by the length that the first byte announces, and check
/// the bytes that follow: overlong forms, surrogates and what XML forbids are no characters.

#include <sublet/impl/config.hpp>
#include <sublet/reporting/internal/printable_text.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sublet::detail {

/// The length in bytes of the first character; 0: not UTF-8, or a character that XML forbids.
constexpr std::size_t character_length(std::string_view text)
{
    auto const at = [text](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(text[i])}; };
    std::uint32_t const lead = at(0);
    if (lead < 0x80) return 1;
    std::size_t const length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (length == 0 || length > text.size()) return 0;
    std::uint32_t code = lead & (0x7Fu >> length);
    for (std::size_t i = 1; i != length; ++i) {
        if ((at(i) & 0xC0) != 0x80) return 0;
        code = code << 6 | (at(i) & 0x3F);
    }
    if (length == 3 && (code < 0x800 || (code >= 0xD800 && code < 0xE000) || code > 0xFFFD)) return 0;
    if (length == 4 && (code < 0x10000 || code > 0x10FFFF)) return 0;
    return length;
}

SUBLET_DECL std::size_t keep_printable(std::vector<char>& text)
{
    std::size_t kept = 0, characters = 0;
    for (std::size_t i = 0; i != text.size();) {
        std::string_view const rest(text.data() + i, text.size() - i);
        std::size_t const length = character_length(rest);
        auto const lead = static_cast<unsigned char>(rest[0]);
        bool const control = lead < 0x20 || lead == 0x7F || (length == 2 && lead == 0xC2 && rest[1] < '\xA0');
        if (!control) {
            if (length == 0) text[kept++] = '?';
            for (std::size_t k = 0; k != length; ++k) text[kept++] = rest[k];
            ++characters;
        }
        i += length == 0 ? 1 : length;
    }
    while (text.size() != kept) text.pop_back();
    return characters;
}

SUBLET_DECL void escape_json(std::vector<char>& text)
{
    constexpr char const* digits = "0123456789abcdef";
    std::vector<char> escaped;
    escaped.reserve(text.size());
    for (std::size_t i = 0; i != text.size();) {
        char const c = text[i];
        std::size_t const length = character_length({text.data() + i, text.size() - i});
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            for (char e : {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]}) escaped.push_back(e);
        } else {
            if (c == '"' || c == '\\') escaped.push_back('\\');
            if (length == 0) escaped.push_back('?');
            for (std::size_t k = 0; k != length; ++k) escaped.push_back(text[i + k]);
        }
        i += length == 0 ? 1 : length;
    }
    text.swap(escaped);
}

SUBLET_DECL void escape_dot(std::vector<char>& text)
{
    keep_printable(text);
    std::vector<char> escaped;
    escaped.reserve(text.size());
    for (char c : text) {
        if (c == '"' || c == '\\') escaped.push_back('\\');
        escaped.push_back(c);
        if (c == '&')
            for (char e : {'a', 'm', 'p', ';'}) escaped.push_back(e);
    }
    text.swap(escaped);
}

} // namespace sublet::detail
