// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_INTERNAL_TRACE_WRITER_HPP
#define SUBLET_REPORTING_INTERNAL_TRACE_WRITER_HPP

/// Writes trace events to a text stream, one JSON object a line: processes and their rows with names,
/// events with a begin and a duration, and counters. Nothing is kept but the separator of the next event.

#include <sublet/core/internal/text.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sublet::detail {

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

} // namespace sublet::detail

#endif
