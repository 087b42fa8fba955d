// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_NAMES_HPP
#define SUBLET_REPORTING_NAMES_HPP

/// Reads the names of values for reports, from any function that returns text or an integer, and writes a
/// plan as CSV, one row per buffer, in O(output). The columns are those of Moffitt, "MiniMalloc: A
/// Lightweight Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS 2023; names are quoted as
/// in Shafranovich, RFC 4180, 2005.

#include <sublet/detail/text.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <vector>

// --- names -----------------------------------------------------------------------------------------------

/// Names come from files, so they may be any bytes.

namespace sublet {

namespace detail {

template <class R>
concept character_range = requires(R& text) {
                              {
                                  *text.begin()
                                  } -> std::convertible_to<char>;
                              text.begin() != text.end();
                          };

template <class T>
concept text_like = integer<std::remove_cvref_t<T>> || is_id<std::remove_cvref_t<T>> ||
                    std::convertible_to<T, std::string_view> || character_range<std::remove_reference_t<T>>;

/// A function from values, or from steps, to names.
///
/// Semantics:      the same value always has the same name.  A `char const*` is not null.
/// Ordinary model: [&](auto v) -> auto& { return ir.tensors[v].name; }
template <class F, class Id = value_id>
concept name_function = std::invocable<F&, Id> && text_like<std::invoke_result_t<F&, Id>>;

template <class Id, name_function<Id> Names>
void read_name(std::vector<char>& text, Names& name_of, Id of)
{
    text.clear();
    decltype(auto) name = call_user(name_of, of);
    using named = std::remove_cvref_t<decltype(name)>;
    if constexpr (integer<named> || is_id<named>) {
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

constexpr bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

/// Drops control characters and replaces what is not UTF-8 by '?'; returns the number of characters left.
std::size_t keep_printable(std::vector<char>& text);

/// Makes it the inside of a JSON string: quotes, backslashes and control characters are escaped, and what is
/// not UTF-8 is replaced by '?'.
void escape_json(std::vector<char>& text);

struct own_id {
    template <class Id>
    Id operator()(Id of) const
    {
        return of;
    }
};

// --- csv -------------------------------------------------------------------------------------------------

/// A plan as a table for spreadsheets and other allocators.
///
///     id,lower,upper,size,offset
///     conv1,0,2,64,0                 live at positions 0 and 1, bytes [0, 64)
///     "a, ""quoted"" name",1,3,32,64
///
/// Rows end with a line feed alone, as in MiniMalloc's files (the RFC's CR LF would leave a CR in the last
/// field of many readers).

inline constexpr pool_id every_pool = -1;

/// A space at either end is quoted too: the RFC counts it as part of the field, many readers drop it.
template <class Text>
bool needs_quotes(Text const& field)
{
    if (field.empty()) return false;
    if (field.front() == ' ' || field.back() == ' ') return true;
    for (char c : field)
        if (c == '"' || c == ',' || c == '\r' || c == '\n') return true;
    return false;
}

} // namespace detail

/// Writes one row per buffer, in the order of the plan; `id` is the name of the buffer's root value.
///
/// Ensures:    live ranges are half-open. Buffers of 0 bytes have no row; a buffer without an offset, which
///             no valid plan contains, has an empty last field. Equal plans and names give equal bytes.
/// Complexity: O(output); `name_of` is called once per row.
/// Throws:     whatever the stream and `name_of` throw, std::bad_alloc.
template <detail::text_stream Stream, detail::name_function Names>
Stream& write_csv(Stream& out, memory_plan const& plan, Names name_of, pool_id only = detail::every_pool)
{
    detail::plain_text<Stream> text{out};
    text << "id,lower,upper,size,offset\n";
    std::vector<char> name;
    for (memory_plan::placed_buffer const& b : plan.buffers) {
        if (b.size == 0 || (only != detail::every_pool && b.pool != only)) continue;
        detail::read_name(name, name_of, b.root);
        bool const quoted = detail::needs_quotes(name);
        if (quoted) text << '"';
        for (char c : name) {
            if (c == '"') text << '"';
            text << c;
        }
        if (quoted) text << '"';
        text << ',' << b.life.first << ',' << b.life.last << ',' << b.size << ',';
        if (b.offset != no_offset) text << b.offset;
        text << '\n';
    }
    return out;
}

/// The same with numbers as names.
template <detail::text_stream Stream>
Stream& write_csv(Stream& out, memory_plan const& plan, pool_id only = detail::every_pool)
{
    return write_csv(out, plan, detail::own_id{}, only);
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/names.ipp>
#endif

#endif
