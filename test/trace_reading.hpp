// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_TRACE_READING_HPP
#define SUBLET_TEST_TRACE_READING_HPP

/// Reads trace events with a JSON parser, as a viewer does.

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct trace_reading {
    struct event {
        std::string name;
        std::int64_t first = 0, last = 0; ///< in nanoseconds
        nlohmann::json arguments;
    };
    using place = std::pair<int, int>; ///< process and row

    std::map<int, std::string> processes;
    std::map<place, std::string> rows;
    std::map<place, std::vector<event>> events;                   ///< in the order of the file
    std::map<int, std::vector<std::pair<double, double>>> counts; ///< by process: time and number

    /// Checks that each process and row with an event has a name, once.
    explicit trace_reading(std::string const& text)
    {
        auto const document = nlohmann::json::parse(text);
        for (auto const& e : document.at("traceEvents")) {
            std::string const phase = e.at("ph"), name = e.at("name");
            int const process = e.at("pid");
            place const at{process, e.value("tid", 0)};
            if (phase == "M" && name == "process_name") {
                CHECK(processes.insert({process, e.at("args").at("name")}).second);
            } else if (phase == "M" && name == "thread_name") {
                CHECK(rows.insert({at, e.at("args").at("name")}).second);
            } else if (phase == "M") {
                CHECK(name == "thread_sort_index");
            } else if (phase == "C") {
                counts[process].push_back({e.at("ts"), e.at("args").at(name)});
            } else {
                REQUIRE(phase == "X");
                std::int64_t const first = nanoseconds(e.at("ts"));
                events[at].push_back({name, first, first + nanoseconds(e.at("dur")), e.at("args")});
                CHECK(rows.count(at) == 1);
                CHECK(processes.count(process) == 1);
            }
        }
    }

    /// Events of a row are in order and do not overlap, which nests them properly.
    bool are_disjoint() const
    {
        for (auto const& [where, of_row] : events)
            for (std::size_t i = 0; i != of_row.size(); ++i)
                if (of_row[i].last < of_row[i].first || (i != 0 && of_row[i].first < of_row[i - 1].last))
                    return false;
        return true;
    }

private:
    static std::int64_t nanoseconds(double microseconds) { return std::llround(1000 * microseconds); }
};

#endif
