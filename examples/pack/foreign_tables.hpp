// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PACK_FOREIGN_TABLES_HPP
#define SUBLET_EXAMPLES_PACK_FOREIGN_TABLES_HPP

/// Lifetimes and offsets in the formats of other planners, read and written as these do.
///
///     minimalloc   id,lower,upper,size[,alignment][,hint][,gaps],offset    google/minimalloc,
///     src/converter.cc omnimalloc   id,lower,upper,size,offset[,kind], CR LF; clocks a:b fpedd/omnimalloc,
///     omnimalloc/io.py idealloc     a job is 8 big-endian numbers of 64 bits: id, birth,
///     cappadokes/idealloc, .plc,
///                  death, size, heap, offset, alignment or 0, bytes        coreba/src/helpe.rs, sanity/
///                  requested
///     tflm         little-endian numbers of 32 bits: version, subgraph,    tensorflow/tflite-micro,
///                  n, then an offset or -1 for each of n tensors           docs/memory_management.md
///
/// In the tables a lifetime is [lower, upper). A job of idealloc is live strictly between birth and death, so
/// that jobs conflict exactly if [birth, death) overlap; but an interval of length 1 would be no time at all:
/// if there is one, times are doubled when they are written.
///
/// The last one is the contents of a model's buffer that its metadata call "OfflineMemoryAllocation". It
/// holds no lifetimes: what is read are pins for another table.

#include "csv_rows.hpp"
#include "formats.hpp"
#include "read_lifetimes.hpp"

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace pack {

// --- numbers of bytes ------------------------------------------------------------------------------------

namespace detail {

inline std::uint64_t big_endian(std::string_view bytes)
{
    std::uint64_t number = 0;
    for (char c : bytes) number = number << 8 | static_cast<unsigned char>(c);
    return number;
}
inline void write_big_endian(std::ostream& out, std::uint64_t number)
{
    for (int shift = 56; shift >= 0; shift -= 8) out.put(static_cast<char>(number >> shift & 0xFF));
}
inline void write_little_endian(std::ostream& out, std::int32_t number)
{
    for (int shift = 0; shift != 32; shift += 8)
        out.put(static_cast<char>(static_cast<std::uint32_t>(number) >> shift & 0xFF));
}

/// The whole number that a text is, without leading zeros and below `limit`; otherwise `limit`.
inline std::uint64_t plain_number(std::string_view text, std::uint64_t limit)
{
    std::uint64_t number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    bool const is_plain =
        error == std::errc{} && end == text.data() + text.size() && (text[0] != '0' || text.size() == 1);
    return is_plain && number < limit ? number : limit;
}

/// The numbers that the ids of a table are, if all are different ones below `limit`; otherwise its rows'.
inline std::vector<std::uint64_t> numbers_of_ids(lifetimes const& table, std::uint64_t limit)
{
    std::vector<std::uint64_t> number;
    for (std::size_t b = 0; b != table.rows.size(); ++b)
        number.push_back(plain_number(table.id_of(static_cast<sublet::buffer_id>(b)), limit));
    std::vector<std::uint64_t> sorted = number;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() ||
        (!sorted.empty() && sorted.back() == limit))
        for (std::size_t b = 0; b != number.size(); ++b) number[b] = b;
    return number;
}

/// An offset for each row: as the placement has it, or for a buffer that it does not place its pin or 0.
inline sublet::byte_count offset_in(lifetimes const& table, std::vector<sublet::byte_count> const& offset,
                                    std::size_t b)
{
    if (offset[b] != sublet::no_offset) return offset[b];
    return table.problem.buffers[b].pinned != sublet::no_offset ? table.problem.buffers[b].pinned : 0;
}

/// Whether the row has bytes that are live at some time.
inline bool is_live(lifetimes const& table, std::size_t b)
{
    auto const& clocks = table.problem.clocks;
    bool has_time = !is_empty(table.problem.buffers[b].life);
    for (std::size_t i = b * clocks.threads; i != (b + 1) * clocks.threads; ++i)
        has_time = has_time || clocks.begin[i] != clocks.end[i];
    return table.problem.buffers[b].size != 0 && has_time;
}

inline bool has_alignments(lifetimes const& table)
{
    return std::any_of(table.problem.buffers.begin(), table.problem.buffers.end(),
                       [](auto const& b) { return b.alignment != 1; });
}

} // namespace detail

// --- idealloc --------------------------------------------------------------------------------------------

/// The jobs as a table: offsets are left out, because 0 also stands for none. Times beyond 32 bits are
/// replaced by their ranks, which changes no conflict.
///
/// Throws: input_error, naming the job.
inline std::string table_of_jobs(std::string_view bytes)
{
    constexpr std::size_t words = 8, job_bytes = 8 * words;
    if (bytes.size() % job_bytes != 0)
        throw input_error("it has " + std::to_string(bytes.size()) +
                          " bytes, which are no whole number of jobs of 64 bytes");
    std::size_t const jobs = bytes.size() / job_bytes;
    auto word = [&](std::size_t job, std::size_t i) {
        return detail::big_endian(bytes.substr(job * job_bytes + 8 * i, 8));
    };
    std::vector<std::uint64_t> times;
    bool has_long_times = false;
    for (std::size_t j = 0; j != jobs; ++j) {
        auto refuse = [&](std::string const& why) {
            throw input_error("job " + std::to_string(j + 1) + ": " + why);
        };
        std::uint64_t const birth = word(j, 1), death = word(j, 2), size = word(j, 3);
        if (death <= birth)
            refuse("its death, " + std::to_string(death) + ", is not after its birth, " +
                   std::to_string(birth));
        if (size > most_bytes || word(j, 6) > most_bytes)
            refuse("a size or alignment is more than " + std::to_string(most_bytes));
        if (word(j, 4) != word(0, 4)) refuse("its heap is another one than that of the first job");
        has_long_times = has_long_times || death > last_position;
    }
    for (std::size_t j = 0; has_long_times && j != jobs; ++j)
        for (std::size_t i : {std::size_t{1}, std::size_t{2}}) times.push_back(word(j, i));
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    auto position = [&](std::uint64_t time) {
        if (!has_long_times) return time;
        return static_cast<std::uint64_t>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
    };
    std::string table = "id,lower,upper,size,alignment\n";
    for (std::size_t j = 0; j != jobs; ++j) {
        std::uint64_t const alignment = word(j, 6);
        for (std::uint64_t number : {word(j, 0), position(word(j, 1)), position(word(j, 2)), word(j, 3)})
            table += std::to_string(number) + ',';
        table += std::to_string(alignment == 0 ? 1 : alignment) + '\n';
    }
    return table;
}

inline void write_jobs(std::ostream& out, lifetimes const& table,
                       std::vector<sublet::byte_count> const& offset)
{
    std::vector<std::uint64_t> const id = detail::numbers_of_ids(table, std::uint64_t{1} << 32);
    auto const& buffers = table.problem.buffers;
    bool const is_short =
        std::any_of(buffers.begin(), buffers.end(), [](auto const& b) { return length(b.life) == 1; });
    std::uint64_t const scale = is_short ? 2 : 1;
    for (std::size_t b = 0; b != buffers.size(); ++b) {
        if (!detail::is_live(table, b)) continue;
        bool const is_multiple = buffers[b].size % buffers[b].alignment == 0; // the only ones that it accepts
        for (std::uint64_t number :
             {id[b], scale * buffers[b].life.first, scale * buffers[b].life.last, buffers[b].size,
              std::uint64_t{0}, detail::offset_in(table, offset, b),
              buffers[b].alignment == 1 || !is_multiple ? 0 : buffers[b].alignment, buffers[b].size})
            detail::write_big_endian(out, number);
    }
}

// --- tflm ------------------------------------------------------------------------------------------------

struct offline_offsets {
    std::int32_t subgraph = 0;
    std::vector<std::int32_t> offset; ///< by tensor; -1: allocated at run time
};

/// Throws: input_error.
inline offline_offsets read_offline_offsets(std::string_view bytes)
{
    auto word = [&](std::size_t i) {
        std::uint32_t number = 0;
        for (std::size_t k = 4; k-- != 0;)
            number = number << 8 | static_cast<unsigned char>(bytes[4 * i + k]);
        return static_cast<std::int32_t>(number);
    };
    if (bytes.size() < 12) throw input_error("it is shorter than its header of 12 bytes");
    if (word(0) != 0 && word(0) != 1)
        throw input_error("its version is " + std::to_string(word(0)) + ", and only 0 and 1 are known");
    if (word(1) < 0) throw input_error("its subgraph is " + std::to_string(word(1)));
    if (word(2) < 0 || (bytes.size() - 12) / 4 != static_cast<std::size_t>(word(2)) || bytes.size() % 4 != 0)
        throw input_error("it says " + std::to_string(word(2)) + " tensors, and has " +
                          std::to_string(bytes.size() - 12) + " bytes for their offsets");
    offline_offsets read{word(1), {}};
    for (std::size_t t = 0; t != static_cast<std::size_t>(word(2)); ++t) {
        if (word(3 + t) < -1)
            throw input_error("the offset of tensor " + std::to_string(t) + " is " +
                              std::to_string(word(3 + t)));
        read.offset.push_back(word(3 + t));
    }
    return read;
}

namespace detail {

/// The tensor of each row: its id if all ids are different numbers below a million, otherwise its row.
inline std::vector<std::uint64_t> tensors_of(lifetimes const& table)
{
    return numbers_of_ids(table, 1'000'000);
}

} // namespace detail

/// Pins the buffer of each tensor that has an offset.
///
/// Throws: input_error, naming the row.
inline void pin(lifetimes& table, offline_offsets const& offsets)
{
    std::vector<std::uint64_t> const tensor = detail::tensors_of(table);
    for (std::size_t b = 0; b != table.rows.size(); ++b) {
        if (tensor[b] >= offsets.offset.size())
            throw input_error("row " + std::to_string(b + 1) + " is tensor " + std::to_string(tensor[b]) +
                              ", and there are offsets of " + std::to_string(offsets.offset.size()));
        if (std::int32_t const at = offsets.offset[tensor[b]]; at >= 0)
            table.problem.buffers[b].pinned = static_cast<sublet::byte_count>(at);
    }
}

/// Tensors without a row, or with a row without bytes or lifetime, get -1. There are as many as in `given`,
/// or more.
///
/// Throws: input_error, naming the row.
inline offline_offsets offline_offsets_of(lifetimes const& table,
                                          std::vector<sublet::byte_count> const& offset,
                                          offline_offsets const& given)
{
    std::vector<std::uint64_t> const tensor = detail::tensors_of(table);
    std::uint64_t tensors = given.offset.size();
    for (std::uint64_t t : tensor) tensors = std::max(tensors, t + 1);
    offline_offsets all{given.subgraph, std::vector<std::int32_t>(tensors, -1)};
    for (std::size_t b = 0; b != table.rows.size(); ++b) {
        if (!detail::is_live(table, b)) continue;
        sublet::byte_count const at = detail::offset_in(table, offset, b);
        if (at > static_cast<sublet::byte_count>(std::numeric_limits<std::int32_t>::max()))
            throw input_error("row " + std::to_string(b + 1) + ": its offset, " + std::to_string(at) +
                              ", does not fit the 32 bits of tflm");
        all.offset[tensor[b]] = static_cast<std::int32_t>(at);
    }
    return all;
}

inline void write_offline_offsets(std::ostream& out, offline_offsets const& all)
{
    for (std::int32_t number : {std::int32_t{1}, all.subgraph, static_cast<std::int32_t>(all.offset.size())})
        detail::write_little_endian(out, number);
    for (std::int32_t at : all.offset) detail::write_little_endian(out, at);
}

// --- tables ----------------------------------------------------------------------------------------------

inline void write_minimalloc(std::ostream& out, lifetimes const& table,
                             std::vector<sublet::byte_count> const& offset)
{
    auto const& buffers = table.problem.buffers;
    bool const has_alignments = detail::has_alignments(table), has_gaps = !table.problem.gaps.empty();
    bool const has_hints = std::any_of(buffers.begin(), buffers.end(),
                                       [](auto const& b) { return b.preferred != sublet::no_offset; });
    out << "id,lower,upper,size" << (has_alignments ? ",alignment" : "") << (has_hints ? ",hint" : "")
        << (has_gaps ? ",gaps" : "") << ",offset\n";
    auto gap = table.problem.gaps.begin(); // by buffer, then by time, as read
    for (std::size_t b = 0; b != buffers.size(); ++b) {
        out << table.id_of(static_cast<sublet::buffer_id>(b)) << ',' << buffers[b].life.first << ','
            << buffers[b].life.last << ',' << buffers[b].size;
        if (has_alignments) out << ',' << buffers[b].alignment;
        if (has_hints && buffers[b].preferred == sublet::no_offset) out << ",-1";
        else if (has_hints) out << ',' << buffers[b].preferred;
        if (has_gaps) out << ',';
        for (char const* before = ""; gap != table.problem.gaps.end() && gap->buffer == b;
             ++gap, before = " ") {
            out << before << gap->when.first << '-' << gap->when.last;
            if (gap->begin != gap->end) out << '@' << gap->begin << ':' << gap->end;
        }
        out << ',' << detail::offset_in(table, offset, b) << '\n';
    }
}

inline void write_omnimalloc(std::ostream& out, lifetimes const& table,
                             std::vector<sublet::byte_count> const& offset)
{
    auto write_field = [&](std::string const& text) {
        bool const is_quoted = text.find_first_of(",\"\r\n") != text.npos;
        if (is_quoted) out << '"';
        for (char c : text) out << (c == '"' ? "\"\"" : std::string(1, c));
        if (is_quoted) out << '"';
    };
    auto write_time = [&](std::size_t b, sublet::position_id position,
                          std::vector<std::uint32_t> const& clocks) {
        std::size_t const threads = table.problem.clocks.threads;
        if (threads == 0) out << ',' << position;
        for (std::size_t t = 0; t != threads; ++t) out << (t == 0 ? ',' : ':') << clocks[b * threads + t];
    };
    if (!table.pool_offset.empty()) out << table.pool_offset << "\r\n";
    out << "id,lower,upper,size,offset" << (table.has_kinds ? ",kind\r\n" : "\r\n");
    for (std::size_t b = 0; b != table.rows.size(); ++b) {
        if (!detail::is_live(table, b)) continue;
        write_field(table.id_of(static_cast<sublet::buffer_id>(b)));
        write_time(b, table.problem.buffers[b].life.first, table.problem.clocks.begin);
        write_time(b, table.problem.buffers[b].life.last, table.problem.clocks.end);
        out << ',' << table.problem.buffers[b].size << ',' << detail::offset_in(table, offset, b);
        if (table.has_kinds) {
            out << ',';
            write_field(unquoted(table.rows[b].kind.of(table.text), table.has_quotes));
        }
        out << "\r\n";
    }
}

// --- what a format cannot hold ---------------------------------------------------------------------------

/// Sentences about what is left out; an offset says it anyway.
///
/// Throws: input_error for what would make the placement look invalid.
inline std::vector<std::string> lost_in(format to, lifetimes const& table)
{
    std::vector<std::string> lost;
    if (to == format::csv) return lost;
    auto refuse = [&](std::string const& what) {
        throw input_error(what + " cannot be written as " + name_of(to));
    };
    bool const keeps_times = to != format::tflm;
    if (keeps_times && to != format::omnimalloc && table.problem.clocks.threads != 0)
        refuse("lifetimes of several threads");
    if (keeps_times && to != format::minimalloc && !table.problem.gaps.empty()) refuse("gaps");
    std::size_t left_out = 0, odd = 0;
    for (std::size_t b = 0; b != table.rows.size(); ++b) {
        auto const& buffer = table.problem.buffers[b];
        left_out += !detail::is_live(table, b);
        odd += buffer.size % buffer.alignment != 0;
        std::string const id = table.id_of(static_cast<sublet::buffer_id>(b));
        if (to == format::minimalloc && id.find_first_of(",\r\n") != id.npos)
            refuse("the id " + in_quotes(id) + " of row " + std::to_string(b + 1));
    }
    auto rows = [](std::size_t count) { return std::to_string(count) + (count == 1 ? " row" : " rows"); };
    if (to == format::omnimalloc || to == format::idealloc) {
        if (left_out != 0)
            lost.push_back(rows(left_out) + " without bytes or lifetime left out: " + name_of(to) +
                           " has none");
    }
    if (to == format::omnimalloc && detail::has_alignments(table))
        lost.push_back("alignments left out: omnimalloc has none");
    if (to == format::idealloc && odd != 0)
        lost.push_back("alignment left out in " + rows(odd) + ": idealloc needs sizes that are multiples");
    return lost;
}

/// Throws: input_error for an offset that does not fit.
inline void write_table(std::ostream& out, format to, lifetimes const& table,
                        std::vector<sublet::byte_count> const& offset, offline_offsets const& given)
{
    switch (to) {
    case format::csv: return write_lifetimes(out, table, offset);
    case format::minimalloc: return write_minimalloc(out, table, offset);
    case format::omnimalloc: return write_omnimalloc(out, table, offset);
    case format::idealloc: return write_jobs(out, table, offset);
    case format::tflm: return write_offline_offsets(out, offline_offsets_of(table, offset, given));
    }
}

// --- files -----------------------------------------------------------------------------------------------

/// Throws: input_error, naming the file.
inline lifetimes read_table(std::string const& file, format from)
{
    std::string text = file_contents(file);
    try {
        if (from == format::tflm)
            throw input_error("offsets without lifetimes: they can only be pins of a table (see --pins)");
        if (from == format::idealloc) return parse_lifetimes(table_of_jobs(text));
        return parse_lifetimes(std::move(text), from != format::minimalloc);
    } catch (input_error const& e) {
        throw input_error(file + ": " + e.what());
    }
}

/// Throws: input_error, naming the file.
inline offline_offsets read_pins(std::string const& file)
{
    std::string const bytes = file_contents(file);
    try {
        return read_offline_offsets(bytes);
    } catch (input_error const& e) {
        throw input_error(file + ": " + e.what());
    }
}

} // namespace pack

#endif
