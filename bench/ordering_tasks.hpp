// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_ORDERING_TASKS_HPP
#define SUBLET_BENCH_ORDERING_TASKS_HPP

/// Task graphs: tasks that make files and read those of others. One line for each task: its name, the files
/// that it makes as file:bytes, the files that it reads, with a tab between these and blanks between files.
///
///     fold    sheet:40        flat        a reader may stand before the maker
///     cut     flat:30 rest:5              "rest" is read by none: it is kept to the end
///     pack                    sheet       makes no file
///
/// A file is live from the task that makes it to the last that reads it. The peak is the most bytes of files
/// live while a task runs.

#include <sublet/core/plan.hpp>
#include <sublet/listing.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <limits>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bench {

using task_order = std::vector<std::uint32_t>; ///< each task once
constexpr std::uint32_t no_task = std::numeric_limits<std::uint32_t>::max();

struct task_graph {
    std::vector<std::string> name;                        ///< by task
    std::vector<std::vector<std::uint32_t>> makes, reads; ///< by task: files
    std::vector<std::uint64_t> bytes;                     ///< by file
    std::vector<std::uint32_t> maker;                     ///< by file
    std::vector<unsigned char> is_kept;                   ///< by file: no task reads it

    std::size_t tasks() const { return makes.size(); }
    std::size_t files() const { return bytes.size(); }

    /// Adds a task without a name that makes files of these sizes, and returns the first of them.
    std::uint32_t add(std::vector<std::uint64_t> const& sizes, std::vector<std::uint32_t> read)
    {
        auto const first = static_cast<std::uint32_t>(files());
        makes.emplace_back();
        for (std::uint64_t size : sizes) {
            makes.back().push_back(static_cast<std::uint32_t>(files()));
            maker.push_back(static_cast<std::uint32_t>(tasks() - 1));
            bytes.push_back(size);
            is_kept.push_back(1);
        }
        for (std::uint32_t f : read) is_kept[f] = 0;
        reads.push_back(std::move(read));
        return first;
    }
};

/// Reads the text form; `source` names it in errors.
///
/// Throws: std::runtime_error with the line for one without three columns, for bytes that are no number or
///         more than 64 bits in all, for a file that is made twice, read twice by one task, or made by none;
///         and without any task.
inline task_graph read_tasks(std::istream& text, std::string const& source)
{
    task_graph g;
    std::unordered_map<std::string, std::uint32_t> number_of;
    std::vector<std::string> file_name;
    std::vector<std::size_t> line_of; // by task
    std::uint64_t all = 0;
    std::size_t at_line = 0;
    auto fail = [&](std::string const& what) {
        throw std::runtime_error(source + ":" + std::to_string(at_line) + ": " + what);
    };
    auto number = [&](std::string const& file) {
        auto const [at, is_new] = number_of.try_emplace(file, static_cast<std::uint32_t>(g.files()));
        if (is_new) {
            file_name.push_back(file);
            g.bytes.push_back(0);
            g.maker.push_back(no_task);
            g.is_kept.push_back(1);
        }
        return at->second;
    };
    for (std::string line; std::getline(text, line);) {
        ++at_line;
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line.empty()) continue;
        std::size_t const first = line.find('\t'), second = line.find('\t', first + 1);
        if (first == std::string::npos || second == std::string::npos ||
            line.find('\t', second + 1) != std::string::npos)
            fail("a task has three columns: its name, files made, files read");
        auto const task = static_cast<std::uint32_t>(g.tasks());
        g.name.push_back(line.substr(0, first));
        line_of.push_back(at_line);
        g.makes.emplace_back();
        g.reads.emplace_back();
        std::istringstream made(line.substr(first + 1, second - first - 1)), read(line.substr(second + 1));
        for (std::string word; made >> word;) {
            std::size_t const colon = word.rfind(':');
            std::uint64_t bytes = 0;
            if (colon != std::string::npos) {
                char const* const end = word.data() + word.size();
                auto const [stop, error] = std::from_chars(word.data() + colon + 1, end, bytes);
                if (error != std::errc() || stop != end) fail("'" + word + "' has no number of bytes");
            }
            if (colon == std::string::npos || colon == 0) fail("'" + word + "' is not file:bytes");
            std::uint32_t const f = number(word.substr(0, colon));
            if (g.maker[f] != no_task)
                fail("file '" + file_name[f] + "' is made by '" + g.name[g.maker[f]] + "' already");
            if (bytes > std::numeric_limits<std::uint64_t>::max() - 1 - all)
                fail("all files up to '" + word + "' have 2^64 - 1 bytes or more");
            all += bytes;
            g.bytes[f] = bytes;
            g.maker[f] = task;
            g.makes[task].push_back(f);
        }
        for (std::string word; read >> word;) {
            std::uint32_t const f = number(word);
            g.is_kept[f] = 0;
            if (std::find(g.reads[task].begin(), g.reads[task].end(), f) != g.reads[task].end())
                fail("'" + g.name[task] + "' reads file '" + word + "' twice");
            g.reads[task].push_back(f);
        }
    }
    for (std::uint32_t t = 0; t != g.tasks(); ++t)
        for (std::uint32_t f : g.reads[t]) {
            at_line = line_of[t];
            if (g.maker[f] == no_task)
                fail("'" + g.name[t] + "' reads file '" + file_name[f] + "', which no task makes");
            if (g.maker[f] == t) fail("'" + g.name[t] + "' reads file '" + file_name[f] + "' of its own");
        }
    if (g.tasks() == 0) throw std::runtime_error(source + ": no task");
    return g;
}

/// The same graph for the library, its tasks in an order.
inline sublet::listing<std::uint32_t> as_listing(task_graph const& g, task_order const& order)
{
    sublet::listing<std::uint32_t> list;
    for (std::uint32_t t : order) {
        auto step = list.step(g.name.empty() ? std::string_view() : std::string_view(g.name[t]));
        for (std::uint32_t f : g.reads[t]) step.read(f);
        for (std::uint32_t f : g.makes[t]) {
            auto const role =
                g.is_kept[f] != 0 ? sublet::value_role::output : sublet::value_role::intermediate;
            step.make(f, {.bytes = g.bytes[f], .role = role});
        }
    }
    return list;
}

/// As they are listed.
inline sublet::listing<std::uint32_t> as_listing(task_graph const& g)
{
    task_order order(g.tasks());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    return as_listing(g, order);
}

/// The peak of an order, by painting each file from its maker to its last reader.
///
/// Throws: std::runtime_error unless each task stands in it once, after those that make what it reads.
/// Complexity: O(tasks + files made and read).
inline std::uint64_t painted_peak(task_graph const& g, task_order const& order)
{
    std::vector<std::size_t> position(g.tasks(), order.size());
    for (std::size_t i = 0; i != order.size(); ++i) {
        if (order[i] >= g.tasks() || position[order[i]] != order.size())
            throw std::runtime_error("an order names task " + std::to_string(order[i]) +
                                     " twice, or there is none");
        position[order[i]] = i;
    }
    if (order.size() != g.tasks()) throw std::runtime_error("an order does not name every task");
    std::vector<std::size_t> last(g.files());
    for (std::size_t f = 0; f != g.files(); ++f)
        last[f] = g.is_kept[f] != 0 ? order.size() - 1 : position[g.maker[f]];
    for (std::size_t t = 0; t != g.tasks(); ++t)
        for (std::uint32_t f : g.reads[t]) {
            if (position[g.maker[f]] >= position[t])
                throw std::runtime_error("an order runs task " + std::to_string(t) + " before task " +
                                         std::to_string(g.maker[f]) + ", which makes what it reads");
            last[f] = std::max(last[f], position[t]);
        }
    std::vector<std::uint64_t> begins(order.size() + 1), ends(order.size() + 1);
    for (std::size_t f = 0; f != g.files(); ++f) {
        begins[position[g.maker[f]]] += g.bytes[f];
        ends[last[f] + 1] += g.bytes[f];
    }
    std::uint64_t live = 0, most = 0;
    for (std::size_t i = 0; i != order.size(); ++i) {
        live = live - ends[i] + begins[i];
        most = std::max(most, live);
    }
    return most;
}

} // namespace bench

#endif
