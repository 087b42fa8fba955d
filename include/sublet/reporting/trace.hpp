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
#include <sublet/reporting/detail/trace_rows.hpp>
#include <sublet/reporting/internal/printable_text.hpp>
#include <sublet/reporting/internal/trace_writer.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

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

#endif
