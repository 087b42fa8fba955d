// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_NAME_TEXT_HPP
#define SUBLET_REPORTING_DETAIL_NAME_TEXT_HPP

/// What a name of a value or a step may be, and its characters: text, a range of char, an integer or an
/// id.
///
///     names_callable    x(v) returns one        "conv1", std::string, std::u8string, 7
///     names_table       x[v] is one, x.size()   std::vector<std::string>
///     append_name       its characters, or its digits, behind those that are there

#include <sublet/core/internal/text.hpp>
#include <sublet/core/units.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Numbers are none, although they convert to one.
template <class C>
concept character =
    std::same_as<std::remove_cvref_t<C>, char> || std::same_as<std::remove_cvref_t<C>, char8_t> ||
    std::same_as<std::remove_cvref_t<C>, unsigned char>;

template <class R>
concept character_range = requires(R& text) {
    { *text.begin() } -> character;
    text.begin() != text.end();
};

/// A name: an integer, an id, or text.
template <class T>
concept text_like = integer<std::remove_cvref_t<T>> || is_id<std::remove_cvref_t<T>> ||
                    std::convertible_to<T, std::string_view> || character_range<std::remove_reference_t<T>>;

template <class X, class Id>
concept names_callable = std::invocable<X const&, Id> && text_like<std::invoke_result_t<X const&, Id>>;

template <class X, class Id>
concept names_table = !names_callable<X, Id> && requires(X const& x, Id i) {
    { x[i] } -> text_like;
    { x.size() } -> std::convertible_to<std::size_t>;
};

/// Appends a text or the digits of a number.
template <class Name>
void append_name(std::vector<char>& text, Name&& name)
{
    using named = std::remove_cvref_t<Name>;
    if constexpr (integer<named> || is_id<named>) {
        appended_text digits{text};
        plain_text<appended_text>{digits} << name;
    } else if constexpr (std::convertible_to<Name, std::string_view>) {
        if constexpr (std::is_pointer_v<named>)
            SUBLET_EXPECTS(name != nullptr, "sublet: a name is a null pointer");
        for (char c : std::string_view(name)) text.push_back(c);
    } else {
        for (auto c = name.begin(), end = name.end(); c != end; ++c) text.push_back(static_cast<char>(*c));
    }
}

} // namespace sublet::detail

#endif
