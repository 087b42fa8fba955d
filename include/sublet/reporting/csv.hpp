// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_CSV_HPP
#define SUBLET_REPORTING_CSV_HPP

/// A plan as a table that spreadsheets and other allocators read.
///
///     id,lower,upper,size,offset
///     conv1,0,2,64,0                 alive at positions 0 and 1, bytes [0, 64)
///     "a, ""quoted"" name",1,3,32,64
///
/// The columns are those of the MiniMalloc benchmark. Names are quoted as RFC 4180 says; rows end with a line
/// feed alone, as in MiniMalloc's files (the RFC's CR LF would leave a CR in the last field of many readers).
///
/// Source: Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning",
/// ASPLOS 2023; Shafranovich, RFC 4180, 2005.

#include <sublet/plan.hpp>
#include <sublet/reporting/names.hpp>
#include <sublet/reporting/text.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

inline constexpr pool_id every_pool = ~pool_id{0};

namespace detail {

/// A space at either end is quoted too: the RFC counts it as part of the field, many readers trim it.
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

/// Write one row for each buffer, in the order of the plan; `id` is the name of the buffer's root value.
///
/// Ensures:    positions are half-open. Buffers of 0 bytes have no row; one without an offset, which no sound
///             plan contains, has an empty last field. Equal plans and names give equal bytes.
/// Complexity: O(output); `name_of` is called once for each row.
/// Throws:     whatever the stream and `name_of` throw, std::bad_alloc.
template <text_stream Stream, name_function Names>
Stream& write_csv(Stream& out, memory_plan const& plan, Names name_of, pool_id only = every_pool)
{
    detail::plain_text<Stream> text{out};
    text << "id,lower,upper,size,offset\n";
    std::vector<char> name;
    for (placed_buffer const& b : plan.buffers) {
        if (b.size == 0 || (only != every_pool && b.pool != only)) continue;
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

/// The same with the ids of the root values for names.
template <text_stream Stream>
Stream& write_csv(Stream& out, memory_plan const& plan, pool_id only = every_pool)
{
    return write_csv(out, plan, detail::own_id{}, only);
}

} // namespace sublet

#endif
