// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PACK_READ_LIFETIMES_HPP
#define SUBLET_EXAMPLES_PACK_READ_LIFETIMES_HPP

/// Reads buffers with fixed lifetimes from a MiniMalloc table, and writes offsets into a copy of that table.
///
///     id,lower,upper,size,alignment,gaps        columns in any order; the first four are required
///     conv1,0,9,4096,64,                        live in [0, 9), at a multiple of 64
///     relu1,3,8,4096,,4-6 6-7@0:9               no byte of it is live in [4, 6), 9 bytes in [6, 7)
///
///     id      also buffer, buffer_id      any text
///     lower   also begin, start           the first position of its lifetime
///     upper                               one more than the last; in a column `end`: the last, in gaps too
///     offset                              a fixed offset; empty: any
///     hint                                a preferred offset, if it costs nothing; below 0: none
///
/// With several threads, lower and upper are vector clocks: a counter for each thread, as 3:0:7. Then there
/// are no gaps.
///
/// A first line `# pool_offset=N`, which omnimalloc writes, and the columns `kind` and others are kept and
/// ignored. An empty alignment is 1. Unlike in MiniMalloc these are errors:
/// positions and offsets below 0 (except hints), positions beyond 32 bits, sizes beyond 62 bits, and rows
/// after an empty line, where MiniMalloc stops silently.
///
/// Source: Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning",
/// ASPLOS 2023.

#include "csv_rows.hpp"

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace pack {

struct lifetimes {
    struct row {
        text_span all, id, offset, kind; ///< in `text`; the last two are empty without such a column
    };
    sublet::placement_problem problem; ///< one buffer per row, all in pool 0
    std::string text;
    text_span header;
    std::vector<row> rows;
    std::vector<std::string> unused; ///< ignored columns
    bool has_offsets = false;        ///< there is an offset column
    bool has_kinds = false;          ///< there is a column `kind`
    bool has_quotes = true;          ///< fields may be quoted
    std::string pool_offset;         ///< the line before the header, if there is one

    std::string id_of(sublet::buffer_id b) const { return unquoted(rows[b].id.of(text), has_quotes); }
};

/// The largest numbers allowed.
inline constexpr std::uint64_t last_position = sublet::no_step - 1;
inline constexpr std::uint64_t most_bytes = (std::uint64_t{1} << 62) - 1;

/// A field, with its place for error messages.
struct table_cell {
    std::string_view text; ///< without spaces around it
    std::string_view column;
    std::size_t line;

    [[noreturn]] void fail(std::string const& why) const
    {
        throw input_error("line " + std::to_string(line) + ", column " + in_quotes(column) + ": " + why);
    }

    /// Throws: input_error unless it is a whole number from 0 to `most`.
    std::uint64_t number(std::string_view part, std::uint64_t most) const
    {
        if (part.empty()) fail(text.empty() ? "it is empty" : in_quotes(text) + " lacks a number");
        std::uint64_t read = 0;
        bool const negative = part[0] == '-';
        char const* const end = part.data() + part.size();
        auto const [stop, error] = std::from_chars(part.data() + negative, end, read);
        if (stop != end || error == std::errc::invalid_argument)
            fail(in_quotes(part) + " is not a whole number");
        if (negative && (read != 0 || error != std::errc{})) fail(in_quotes(part) + " is negative");
        if (error == std::errc::result_out_of_range || read > most)
            fail(in_quotes(part) + " is more than " + std::to_string(most));
        return read;
    }
    std::uint64_t number(std::uint64_t most) const { return number(text, most); }
};

namespace detail {

inline std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

enum column : std::size_t { id, lower, upper, size, alignment, gaps, offset, hint, kind, columns };

struct column_name {
    std::string_view name;
    column what;
};

inline constexpr column_name column_names[] = {
    {"id", id},       {"lower", lower},   {"upper", upper}, {"size", size}, {"alignment", alignment},
    {"gaps", gaps},   {"offset", offset}, {"hint", hint},   {"buffer", id}, {"buffer_id", id},
    {"begin", lower}, {"start", lower},   {"end", upper},   {"kind", kind}};

/// The meaning of each field.
struct column_places {
    static constexpr std::size_t none = ~std::size_t{0};
    std::size_t count = 0; ///< number of fields
    std::size_t field[columns] = {none, none, none, none, none, none, none, none, none};
    std::string_view name[columns] = {};
    std::uint64_t exclusive_shift = 0; ///< added to make an end exclusive

    bool has(column what) const { return field[what] != none; }
};

inline column_places read_header(csv_rows const& header, lifetimes& into)
{
    std::string const line = "line " + std::to_string(header.line);
    column_places places{.count = header.fields.size()};
    for (std::size_t f = 0; f != places.count; ++f) {
        std::string const name = unquoted(trimmed(header.fields[f].of(header.text)), header.has_quotes);
        auto const* const known = std::find_if(std::begin(column_names), std::end(column_names),
                                               [&](column_name const& c) { return c.name == name; });
        bool const twice = known != std::end(column_names)
                               ? places.has(known->what)
                               : std::find(into.unused.begin(), into.unused.end(), name) != into.unused.end();
        if (twice)
            throw input_error(line + ", column " + in_quotes(name) + ": another column has the same meaning");
        if (known == std::end(column_names)) {
            into.unused.push_back(name);
        } else {
            places.field[known->what] = f;
            places.name[known->what] = known->name;
        }
    }
    for (column needed : {id, lower, upper, size})
        if (!places.has(needed))
            throw input_error(line + ": there is no column " + in_quotes(column_names[needed].name));
    places.exclusive_shift = places.name[upper] == "end" ? 1 : 0;
    return places;
}

/// Half-open; `cell` holds the second number.
inline sublet::live_range range_of(table_cell const& cell, std::uint64_t first, std::uint64_t last)
{
    if (last < first) cell.fail(in_quotes(cell.text) + " ends before it begins");
    return {sublet::position_id(first), sublet::position_id(last)};
}

/// The two numbers around `separator`.
inline std::pair<std::string_view, std::string_view> split_at(table_cell const& cell, std::string_view text,
                                                              char separator)
{
    std::size_t const cut = text.find(separator, 1); // the first character may be a minus
    if (cut == text.npos)
        cell.fail(in_quotes(text) + " is no " + (separator == '-' ? "gap a-b" : "window a:b"));
    return {text.substr(0, cut), text.substr(cut + 1)};
}

/// Gaps a-b or a-b@w0:w1 separated by spaces. Empty gaps are ignored.
inline void read_gaps(table_cell const& cell, sublet::buffer_id buffer, sublet::byte_count bytes,
                      std::uint64_t exclusive_shift, std::vector<sublet::placement_problem::gap>& into)
{
    std::size_t const first_gap = into.size();
    for (std::string_view rest = cell.text; !rest.empty();) {
        std::size_t const length = std::min(rest.find(' '), rest.size());
        std::string_view const text = rest.substr(0, length);
        rest = trimmed(rest.substr(length));
        std::size_t const at = std::min(text.find('@'), text.size());
        auto const [from, to] = split_at(cell, text.substr(0, at), '-');
        std::uint64_t const first = cell.number(from, last_position);
        std::uint64_t const last = cell.number(to, last_position - exclusive_shift) + exclusive_shift;
        sublet::placement_problem::gap gap{.buffer = buffer, .when = range_of(cell, first, last)};
        if (at != text.size()) {
            auto const [low, high] = split_at(cell, text.substr(at + 1), ':');
            gap.begin = cell.number(low, bytes);
            gap.end = cell.number(high, bytes);
            if (gap.end < gap.begin) cell.fail(in_quotes(text) + " has a window that ends before it begins");
        }
        if (!is_empty(gap.when)) into.push_back(gap);
    }
    auto const own = into.begin() + static_cast<std::ptrdiff_t>(first_gap);
    std::sort(own, into.end(), [](auto const& a, auto const& b) { return a.when.first < b.when.first; });
    for (std::size_t g = first_gap + 1; g < into.size(); ++g)
        if (into[g].when.first < into[g - 1].when.last)
            cell.fail("two gaps meet at position " + std::to_string(into[g].when.first));
}

/// The counters of a:b:c, one for each thread, `shift` added.
inline void read_clock(table_cell const& cell, std::uint64_t most, std::uint64_t shift,
                       std::vector<std::uint32_t>& into)
{
    for (std::size_t begin = 0;;) {
        std::size_t const end = std::min(cell.text.find(':', begin), cell.text.size());
        std::string_view const counter = trimmed(cell.text.substr(begin, end - begin));
        into.push_back(static_cast<std::uint32_t>(cell.number(counter, most) + shift));
        if (end == cell.text.size()) return;
        begin = end + 1;
    }
}

/// The lifetime of a buffer: positions, or clocks if the first buffer has clocks.
inline void read_lifetime(table_cell const& begins, table_cell const& ends, std::uint64_t exclusive_shift,
                          sublet::placement_problem& into, sublet::placement_problem::buffer& buffer)
{
    std::vector<std::uint32_t> begin, end;
    read_clock(begins, last_position, 0, begin);
    read_clock(ends, last_position - exclusive_shift, exclusive_shift, end);
    bool const is_first = into.buffers.empty();
    std::size_t const threads = is_first ? begin.size() : std::max<std::size_t>(1, into.clocks.threads);
    auto expect = [&](table_cell const& cell, std::size_t counters) {
        if (counters != threads)
            cell.fail(in_quotes(cell.text) + " has " + std::to_string(counters) +
                      (counters == 1 ? " counter" : " counters") + " and not " + std::to_string(threads) +
                      (is_first ? ", as where it begins" : ", as the first row"));
    };
    expect(begins, begin.size());
    expect(ends, end.size());
    for (std::size_t t = 0; t != threads; ++t)
        if (end[t] < begin[t]) ends.fail(in_quotes(ends.text) + " ends before it begins");
    if (threads == 1) {
        buffer.life = {begin[0], end[0]};
        return;
    }
    into.clocks.threads = static_cast<std::uint32_t>(threads);
    into.clocks.begin.insert(into.clocks.begin.end(), begin.begin(), begin.end());
    into.clocks.end.insert(into.clocks.end.end(), end.begin(), end.end());
}

inline void read_row(csv_rows const& row, column_places const& places, lifetimes& into)
{
    if (row.fields.size() != places.count)
        throw input_error("line " + std::to_string(row.line) + ": " + std::to_string(row.fields.size()) +
                          " fields, and the header has " + std::to_string(places.count));
    auto cell = [&](column what) {
        auto text = places.has(what) ? row.fields[places.field[what]].of(row.text) : std::string_view{};
        if (row.has_quotes && text.starts_with('"')) text = text.substr(1, text.size() - 2);
        return table_cell{trimmed(text), places.name[what], row.line};
    };
    auto const buffer = static_cast<sublet::buffer_id>(into.rows.size());
    sublet::placement_problem::buffer b;
    read_lifetime(cell(lower), cell(upper), places.exclusive_shift, into.problem, b);
    b.size = cell(size).number(most_bytes);
    if (auto const c = cell(alignment); !c.text.empty()) {
        b.alignment = c.number(most_bytes);
        if (b.alignment == 0) c.fail("an alignment is at least 1");
    }
    if (auto const c = cell(offset); !c.text.empty()) b.pinned = c.number(most_bytes - b.size);
    if (auto const c = cell(hint); !c.text.empty()) {
        bool const is_negative = c.text[0] == '-';
        sublet::byte_count const at = c.number(c.text.substr(is_negative), most_bytes);
        if (!is_negative) b.preferred = at;
    }
    if (auto const c = cell(gaps); into.problem.clocks.threads != 0 && !c.text.empty())
        c.fail("a lifetime of several threads has no gaps");
    read_gaps(cell(gaps), buffer, b.size, places.exclusive_shift, into.problem.gaps);
    into.problem.buffers.push_back(b);
    auto span = [&](column what) { return places.has(what) ? row.fields[places.field[what]] : text_span{}; };
    into.rows.push_back({row.row, span(id), span(offset), span(kind)});
}

} // namespace detail

/// Ensures: buffer i of the problem is row i; the problem has no contradictions except possibly between pins.
/// Throws:  input_error, naming line and column.
inline lifetimes parse_lifetimes(std::string text, bool has_quotes = true)
{
    lifetimes read;
    read.has_quotes = has_quotes;
    read.text = std::move(text);
    if (read.text.starts_with("\xEF\xBB\xBF")) read.text.erase(0, 3); // a UTF-8 byte order mark
    csv_rows rows{read.text, has_quotes};
    if (!rows.next()) throw input_error("it is empty");
    if (rows.row.of(read.text).starts_with("# pool_offset=")) {
        read.pool_offset = rows.row.of(read.text);
        if (!rows.next()) throw input_error("line 2: there is no header");
    }
    read.header = rows.row;
    detail::column_places const places = detail::read_header(rows, read);
    read.has_offsets = places.has(detail::offset);
    read.has_kinds = places.has(detail::kind);
    bool is_over = false;
    while (rows.next()) {
        bool const empty = rows.row.begin == rows.row.end;
        if (is_over && !empty)
            throw input_error("line " + std::to_string(rows.line) + ": a row after an empty line");
        is_over = is_over || empty;
        if (!empty) detail::read_row(rows, places, read);
    }
    return read;
}

/// Throws: input_error, naming the file.
inline std::string file_contents(std::string const& file)
{
    std::error_code none;
    if (std::filesystem::is_directory(file, none)) throw input_error(file + ": is a directory, not a table");
    std::ifstream in(file, std::ios::binary);
    if (!in) throw input_error(file + ": cannot be read, or does not exist");
    std::string text;
    char block[4096];
    while (in.read(block, sizeof block), in.gcount() != 0)
        text.append(block, static_cast<std::size_t>(in.gcount()));
    if (in.bad()) throw input_error(file + ": cannot be read to its end");
    return text;
}

/// Throws: input_error, naming file, line and column.
inline lifetimes read_lifetimes(std::string const& file)
{
    std::string text = file_contents(file);
    try {
        return parse_lifetimes(std::move(text));
    } catch (input_error const& e) {
        throw input_error(file + ": " + e.what());
    }
}

/// Writes the rows with their offsets: in the offset column, or in a new last column. A buffer of 0 bytes
/// gets its pin or 0, so that the table can be read again.
inline void write_lifetimes(std::ostream& out, lifetimes const& table,
                            std::vector<sublet::byte_count> const& offset)
{
    std::string_view const text = table.text;
    char const* const line_end = text.substr(table.header.end, 2) == "\r\n" ? "\r\n" : "\n";
    if (!table.pool_offset.empty()) out << table.pool_offset << line_end;
    out << table.header.of(text) << (table.has_offsets ? "" : ",offset") << line_end;
    for (std::size_t b = 0; b != table.rows.size(); ++b) {
        lifetimes::row const& row = table.rows[b];
        sublet::byte_count at = offset[b];
        if (at == sublet::no_offset) at = table.problem.buffers[b].pinned;
        if (at == sublet::no_offset) at = 0;
        if (table.has_offsets)
            out << text.substr(row.all.begin, row.offset.begin - row.all.begin) << at
                << text.substr(row.offset.end, row.all.end - row.offset.end) << line_end;
        else out << row.all.of(text) << ',' << at << line_end;
    }
}

} // namespace pack

#endif
