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

/// Whether a new character begins with this byte of UTF-8.
constexpr bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

/// Drops control characters and puts '?' for what is not UTF-8; says how many characters are left.
std::size_t keep_printable(std::vector<char>& text);

/// The name of a value that has none.
struct own_id {
    value_id operator()(value_id v) const { return v; }
};

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/names.ipp>
#endif

#endif
