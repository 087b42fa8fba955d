// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_NAMES_HPP
#define SUBLET_REPORTING_NAMES_HPP

/// What is value 3 called? Whatever you answer is a name:
///
///     std::string, char const*, a view of characters, 17
///
/// Names come from files, so nothing is taken for granted of them but that they are bytes.

#include <sublet/reporting/text.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sublet {

template <class R>
concept character_range = requires(R& text) {
                              {
                                  *text.begin()
                                  } -> std::convertible_to<char>;
                              text.begin() != text.end();
                          };

/// Something that can be written as a name: a number, or characters.
template <class T>
concept text_like = integer<std::remove_cvref_t<T>> || std::convertible_to<T, std::string_view> ||
                    character_range<std::remove_reference_t<T>>;

/// From a value to what it is called.
///
/// Semantics:      the same value always has the same name.  A `char const*` is not null.
/// Ordinary model: [&](auto v) -> auto& { return ir.tensors[v].name; }
template <class F>
concept name_function = std::invocable<F&, value_id> && text_like<std::invoke_result_t<F&, value_id>>;

namespace detail {

/// The characters of the value's name, in the storage of the last one.
template <name_function Names>
void read_name(std::vector<char>& text, Names& name_of, value_id v)
{
    text.clear();
    decltype(auto) name = ask(name_of, v);
    using named = std::remove_cvref_t<decltype(name)>;
    if constexpr (integer<named>) {
        struct appender {
            std::vector<char>& text;
            void operator<<(char const* s)
            {
                for (; *s != '\0'; ++s) text.push_back(*s);
            }
            void operator<<(char c) { text.push_back(c); }
        } digits{text};
        plain_text<appender>{digits} << name;
    } else if constexpr (std::convertible_to<decltype(name), std::string_view>) {
        for (char c : std::string_view(name)) text.push_back(c);
    } else {
        for (auto c = name.begin(), end = name.end(); c != end; ++c) text.push_back(static_cast<char>(*c));
    }
}

/// How many bytes of the character at the front; 0: it is not UTF-8, or one that no XML may contain.
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

/// Whether a new character begins with this byte of UTF-8.
constexpr bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

/// Drops control characters and puts '?' for what is not UTF-8; says how many characters are left.
inline std::size_t keep_printable(std::vector<char>& text)
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

/// The name of a value that has none.
struct own_id {
    value_id operator()(value_id v) const { return v; }
};

} // namespace detail
} // namespace sublet

#endif
