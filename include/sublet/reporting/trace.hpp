// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_TRACE_HPP
#define SUBLET_REPORTING_TRACE_HPP

/// Writes the lifetimes of a plan as trace events, which Perfetto (ui.perfetto.dev) and chrome://tracing
/// show.
///
///     pool 0       offset 0     [  a  ][      c      ]      an event is a buffer, from its first to its last
///                  offset 64       [ b ]   [ d ]            position; a row is an offset
///                  live bytes   ▂▂▆▆▄▄▄▄▆▆▄▄                a counter
///
/// A position is a microsecond. execution/trace.hpp records and writes steps of real runs.
///
/// Source: "Trace Event Format", a document of the Chromium project: complete events, counters, metadata.

#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/reporting/detail/shown_plan.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sublet {

namespace detail {

/// One JSON document of trace events. Processes and rows are numbered from 0.
template <class Stream>
class trace_writer {
public:
    explicit trace_writer(Stream& out) : text_{out}
    {
        text_ << "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
    }

    /// Names are contents of JSON strings: see escape_json().
    void name_process(std::size_t process, std::string_view name, std::uint64_t number)
    {
        begin("M", process);
        text_ << ", \"name\": \"process_name\", \"args\": {\"name\": \"";
        write(name);
        text_ << number << "\"}}";
    }
    void name_process(std::size_t process, std::string_view name)
    {
        begin("M", process);
        text_ << ", \"name\": \"process_name\", \"args\": {\"name\": \"";
        write(name);
        text_ << "\"}}";
    }
    void name_row(std::size_t process, std::size_t row, std::string_view name, std::uint64_t number)
    {
        begin("M", process, row);
        text_ << ", \"name\": \"thread_name\", \"args\": {\"name\": \"";
        write(name);
        text_ << number << "\"}}";
        begin("M", process, row);
        text_ << ", \"name\": \"thread_sort_index\", \"args\": {\"sort_index\": " << row << "}}";
    }
    /// Times in nanoseconds. `write_arguments` adds members: ("name", "value") each.
    template <class Arguments>
    void event(std::size_t process, std::size_t row, std::vector<char> const& name, std::uint64_t first,
               std::uint64_t last, Arguments write_arguments)
    {
        begin("X", process, row);
        text_ << ", \"ts\": ";
        write_time(first);
        text_ << ", \"dur\": ";
        write_time(last - first);
        text_ << ", \"name\": \"";
        write({name.data(), name.size()});
        text_ << "\", \"args\": {";
        write_arguments(text_);
        text_ << "}}";
    }
    void count(std::size_t process, char const* name, std::uint64_t when, std::uint64_t number)
    {
        begin("C", process);
        text_ << ", \"ts\": ";
        write_time(when);
        text_ << ", \"name\": \"" << name << "\", \"args\": {\"" << name << "\": " << number << "}}";
    }
    void end() { text_ << "\n]}\n"; }

private:
    void begin(char const* phase, std::size_t process)
    {
        text_ << before_ << "{\"ph\": \"" << phase << "\", \"pid\": " << process + 1;
        before_ = ",\n";
    }
    void begin(char const* phase, std::size_t process, std::size_t row)
    {
        begin(phase, process);
        text_ << ", \"tid\": " << row + 1;
    }
    void write(std::string_view text)
    {
        for (char c : text) text_ << c;
    }
    /// In microseconds.
    void write_time(std::uint64_t nanoseconds)
    {
        text_ << nanoseconds / 1000;
        std::uint64_t const rest = nanoseconds % 1000;
        if (rest == 0) return;
        text_ << '.' << rest / 100 << rest / 10 % 10 << rest % 10;
    }

    plain_text<Stream> text_;
    char const* before_ = "\n";
};

/// What a trace of a plan shows, by pool.
struct trace_of_plan {
    struct row {
        pool_id pool = 0;
        std::size_t index = 0; ///< in its pool
        byte_count offset = 0;
    };
    struct event {
        buffer_id buffer = no_buffer;
        std::size_t row = 0; ///< in its pool
    };
    struct level {
        pool_id pool = 0;
        position_id position = 0;
        byte_count bytes = 0; ///< live from here on
    };
    std::vector<trace_of_plan::row> rows{};     ///< by pool and offset
    std::vector<trace_of_plan::event> events{}; ///< by pool and row, then by time
    std::vector<trace_of_plan::level> levels{}; ///< by pool and position
};

/// Buffers of one row have one offset and do not overlap in time: a valid plan has a row for each offset, an
/// invalid one may need several.
///
/// Complexity: O(n log n), n = buffers.
/// Throws:     precondition_error if the bytes live at once exceed 64 bits; std::bad_alloc.
[[nodiscard]] trace_of_plan rows_of_trace(memory_plan const& plan);

} // namespace detail

/// Writes the plan as one JSON document: a process for each pool, a row for each offset, an event for each
/// buffer, named by its root, with offset and size as strings of digits; and a counter of the live bytes.
/// `planned` is the result of a planner, or a plan by itself; of planned_flow, an event for each range of a
/// buffer.
///
/// Ensures:    buffers of 0 bytes, without an offset or never live have no event. Events of a row do not
///             overlap. Equal plans and names give equal bytes. The counter holds JSON numbers, which viewers
///             round from 2^53 on.
/// Complexity: O(n log n + output), n = buffers; a name is asked for once per event.
/// Throws:     precondition_error, with the error, if there is no plan, and if the bytes live at once exceed
///             64 bits; whatever the stream and the names throw; std::bad_alloc.
template <detail::text_stream Stream, detail::planned_or_plan Planned = memory_plan>
Stream& write_trace(Stream& out, Planned const& planned, name_options const& options = {})
{
    memory_plan const& plan = detail::plan_by_range(planned);
    constexpr std::uint64_t position = 1000; // in nanoseconds
    detail::trace_of_plan const trace = detail::rows_of_trace(plan);
    detail::trace_writer<Stream> events(out);
    for (std::size_t i = 0; i != trace.rows.size(); ++i) {
        detail::trace_of_plan::row const& row = trace.rows[i];
        if (row.index == 0) events.name_process(row.pool, "pool ", row.pool);
        events.name_row(row.pool, row.index, "offset ", row.offset);
    }
    std::vector<char> name;
    for (detail::trace_of_plan::event const& e : trace.events) {
        memory_plan::placed_buffer const& b = plan.buffers[e.buffer];
        options.names.read(name, b.root);
        detail::escape_json(name);
        events.event(b.pool, e.row, name, position * b.life.first, position * b.life.last, [&](auto& text) {
            text << "\"offset\": \"" << b.offset << "\", \"size\": \"" << b.size << '"';
        });
    }
    for (detail::trace_of_plan::level const& level : trace.levels)
        events.count(level.pool, "live bytes", position * level.position, level.bytes);
    events.end();
    return out;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/trace.ipp>
#endif

#endif
