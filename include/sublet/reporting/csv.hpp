// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_CSV_HPP
#define SUBLET_REPORTING_CSV_HPP

/// Writes a plan as a table for spreadsheets and other allocators, one row per buffer, in O(output).
///
///     id,lower,upper,size,offset
///     conv1,0,2,64,0                 live at positions 0 and 1, bytes [0, 64)
///     "a, ""quoted"" name",1,3,32,64
///
/// The columns are those of Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated
/// Machine Learning", ASPLOS 2023; names are quoted as in Shafranovich, RFC 4180, 2005. Rows end with a line
/// feed alone, as in MiniMalloc's files (the RFC's CR LF would leave a CR in the last field of many readers).

#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/reporting/detail/shown_plan.hpp>
#include <sublet/reporting/names.hpp>

#include <vector>

namespace sublet {

namespace detail {

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

/// What a table holds.
struct csv_options {
    static constexpr pool_id every_pool = -1; ///< buffers of all pools

    names_of<value_id> names = {};          ///< of values; default: their numbers
    pool_id pool = csv_options::every_pool; ///< only buffers of this one
};

/// Writes one row per buffer, in the order of the plan; `id` is the name of the buffer's root value.
/// `planned` is the result of a planner, or a plan by itself; of planned_flow, one row per range of a buffer.
///
/// Ensures:    live ranges are half-open. Buffers of 0 bytes have no row; a buffer without an offset, which
///             no valid plan contains, has an empty last field. Equal plans and names give equal bytes.
/// Complexity: O(output); a name is asked for once per row.
/// Throws:     precondition_error, with the error, if there is no plan; whatever the stream and the names
///             throw; std::bad_alloc.
template <detail::text_stream Stream, detail::planned_or_plan Planned = memory_plan>
Stream& write_csv(Stream& out, Planned const& planned, csv_options const& options = {})
{
    memory_plan const& plan = detail::plan_by_range(planned);
    detail::plain_text<Stream> text{out};
    text << "id,lower,upper,size,offset\n";
    std::vector<char> name;
    for (memory_plan::placed_buffer const& b : plan.buffers) {
        if (b.size == 0 || (options.pool != csv_options::every_pool && b.pool != options.pool)) continue;
        options.names.read(name, b.root);
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

} // namespace sublet

#endif
