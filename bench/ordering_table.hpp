// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_ORDERING_TABLE_HPP
#define SUBLET_BENCH_ORDERING_TABLE_HPP

/// Task graphs of files: the peak of the library's order beside those of simple rules and the least that is
/// known, one line for each graph, and one for each family of graphs that differ in a last number only.

#include "measure.hpp"
#include "ordering_rules.hpp"
#include "ordering_tasks.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/ordering/order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

using sublet::node_order;

inline char const* name_of(node_order::method method)
{
    switch (method) {
    case node_order::method::listed: return "listed";
    case node_order::method::longest_path: return "longest_path";
    case node_order::method::breadth_first: return "breadth_first";
    case node_order::method::depth_first: return "depth_first";
    case node_order::method::on_demand: return "on_demand";
    case node_order::method::series_parallel: return "series_parallel";
    case node_order::method::least_peak: return "least_peak";
    case node_order::method::reversed: return "reversed";
    case node_order::method::exact: return "exact";
    case node_order::method::improved: return "improved";
    }
    return "?";
}

inline task_order tasks_of(node_order const& found)
{
    task_order order;
    for (sublet::node_id n : found.order) order.push_back(+n);
    return order;
}

/// The least peak known of a graph, and the highest bound.
struct known_peak {
    std::size_t steps = 0;
    std::uint64_t peak = 0, bound = 0;
};

/// Lines of name, steps, peak and bound; those with # are comments. Empty if there is no such file.
///
/// Throws: std::runtime_error for another line.
inline std::map<std::string, known_peak> read_known_peaks(std::filesystem::path const& file)
{
    std::map<std::string, known_peak> known;
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line);
        std::string name, rest;
        known_peak k;
        if (!(words >> name >> k.steps >> k.peak >> k.bound) || words >> rest)
            throw std::runtime_error(file.string() + ": not a name, steps, peak and bound: " + line);
        if (!known.emplace(name, k).second)
            throw std::runtime_error(file.string() + ": '" + name + "' has two lines");
    }
    return known;
}

/// What is measured of one graph.
struct task_peaks {
    std::string name;
    std::size_t steps = 0;
    std::uint64_t listed = 0, lifo = 0, greedy = 0, cones = 0;
    std::uint64_t found = 0, bound = 0;
    node_order::method found_by = node_order::method::listed;
    double seconds = 0; ///< of processor time, for sublet::order()
    std::optional<known_peak> known;
    std::string faults; ///< empty: none

    bool is_proved() const { return found == bound; }
};

/// Orders the graph in all ways, and compares.
inline task_peaks measure_tasks(std::string const& name, task_graph const& g, sublet::effort effort,
                                std::optional<known_peak> known)
{
    task_peaks m;
    m.name = name;
    m.steps = g.tasks();
    m.known = known;
    auto fault = [&](std::string const& what) { m.faults += (m.faults.empty() ? "" : "; ") + what; };

    auto list = as_listing(g);
    list.effort = effort;
    sublet::snapshot const p = list.program();
    sublet::plan_options const options = list.sized_options();
    node_order found;
    m.seconds = processor_seconds([&] { found = sublet::order(p, options); });
    if (!found) {
        std::ostringstream why;
        why << name << ": no order: " << list.named(found).error();
        throw std::runtime_error(why.str());
    }

    touch_graph const touched(g);
    m.listed = painted_peak(g, listed_order(touched));
    m.lifo = std::min(painted_peak(g, last_in_first_out(touched, true)),
                      painted_peak(g, last_in_first_out(touched, false)));
    m.greedy = painted_peak(g, greedy_order(touched));
    m.cones = peak_by_cones(g);

    m.found = painted_peak(g, tasks_of(found));
    m.bound = found.lower_bound;
    m.found_by = found.found_by;
    if (m.found != found.peak) fault("peak is said to be " + std::to_string(found.peak));
    if (found.given_peak != m.listed)
        fault("peak as listed is said to be " + std::to_string(found.given_peak));
    if (m.found > m.listed) fault("above listed");
    if (m.found > m.lifo) fault("above lifo");
    if (m.found > m.greedy) fault("above greedy");
    std::uint64_t least = std::min({m.found, m.listed, m.lifo, m.greedy, m.cones});
    using enum node_order::method;
    for (node_order::method rule :
         {longest_path, breadth_first, depth_first, on_demand, series_parallel, least_peak}) {
        node_order const other = sublet::order(p, options, rule);
        std::uint64_t const peak = painted_peak(g, tasks_of(other));
        if (peak != other.peak)
            fault(std::string("peak of ") + name_of(rule) + " is said to be " + std::to_string(other.peak));
        if (m.found > peak) fault(std::string("above ") + name_of(rule));
        least = std::min(least, peak);
    }
    if (known) least = std::min(least, known->peak);
    if (m.bound > least) fault("bound is above " + std::to_string(least) + ", which an order needs");
    return m;
}

/// Columns of a table of peaks, and the sums below it.
class task_table {
public:
    task_table()
    {
        print_row("graph", "steps", {"listed", "lifo", "greedy", "cones", "order", "known", "bound"},
                  "proved", "found by", "seconds");
    }

    /// Prints its line.
    void add(task_peaks m)
    {
        auto text = [](std::uint64_t bytes) { return std::to_string(bytes); };
        print_row(m.name, std::to_string(m.steps),
                  {text(m.listed), text(m.lifo), text(m.greedy), text(m.cones), text(m.found),
                   m.known ? text(m.known->peak) : "-", text(m.bound)},
                  m.is_proved() ? "yes" : "no", name_of(m.found_by), shown(m.seconds, 3), m.faults);
        rows_.push_back(std::move(m));
    }

    /// Prints the means of families and the sums. Returns whether there was no fault.
    bool finish() const
    {
        std::map<std::string, std::vector<task_peaks const*>> families;
        for (task_peaks const& m : rows_) {
            std::size_t const end = m.name.find_last_not_of("0123456789");
            if (end != std::string::npos && end != 0 && end + 1 != m.name.size() && m.name[end] == '_')
                families[m.name.substr(0, end + 1)].push_back(&m);
        }
        for (auto const& [prefix, members] : families)
            if (members.size() > 1) print_means(prefix, members);

        double sum = 0;
        task_peaks const* longest = &rows_.front();
        std::size_t known = 0, as_low = 0, known_proved = 0, proved_of_these = 0, proved = 0, faults = 0;
        for (task_peaks const& m : rows_) {
            sum += m.seconds;
            if (m.seconds > longest->seconds) longest = &m;
            proved += m.is_proved();
            faults += !m.faults.empty();
            if (!m.known) continue;
            ++known;
            as_low += m.found <= m.known->peak;
            if (m.known->peak != m.known->bound) continue;
            ++known_proved;
            proved_of_these += m.is_proved();
        }
        std::printf("%zu graphs: %.3f s, longest %.3f s (%s); proved %zu", rows_.size(), sum,
                    longest->seconds, longest->name.c_str(), proved);
        if (known != 0)
            std::printf(", %zu of %zu known to be proved; as low as the least known: %zu of %zu",
                        proved_of_these, known_proved, as_low, known);
        std::printf("; with faults: %zu\n", faults);
        return faults == 0;
    }

private:
    static std::string shown(double number, int digits)
    {
        char text[64];
        std::snprintf(text, sizeof text, "%.*f", digits, number);
        return text;
    }
    static void print_row(std::string const& name, std::string const& steps,
                          std::vector<std::string> const& peaks, std::string const& proved,
                          std::string const& found_by, std::string const& seconds,
                          std::string const& faults = {})
    {
        std::printf("%-26s %6s", name.c_str(), steps.c_str());
        for (std::string const& peak : peaks) std::printf(" %12s", peak.c_str());
        std::printf(" %-6s %-13s %8s%s%s\n", proved.c_str(), found_by.c_str(), seconds.c_str(),
                    faults.empty() ? "" : "  FAULT: ", faults.c_str());
        std::fflush(stdout);
    }
    static void print_means(std::string const& prefix, std::vector<task_peaks const*> const& members)
    {
        auto mean = [&](auto of) {
            double sum = 0;
            for (task_peaks const* m : members) sum += static_cast<double>(of(*m));
            return sum / static_cast<double>(members.size());
        };
        auto bytes = [&](auto of) { return shown(mean(of), 1); };
        bool const all_known =
            std::all_of(members.begin(), members.end(), [](task_peaks const* m) { return m->known; });
        std::size_t proved = 0;
        for (task_peaks const* m : members) proved += m->is_proved();
        print_row(prefix + "*: mean of " + std::to_string(members.size()),
                  shown(mean([](auto& m) { return m.steps; }), 0),
                  {bytes([](auto& m) { return m.listed; }), bytes([](auto& m) { return m.lifo; }),
                   bytes([](auto& m) { return m.greedy; }), bytes([](auto& m) { return m.cones; }),
                   bytes([](auto& m) { return m.found; }),
                   all_known ? bytes([](auto& m) { return m.known->peak; }) : "-",
                   bytes([](auto& m) { return m.bound; })},
                  std::to_string(proved), "", shown(mean([](auto& m) { return m.seconds; }), 3));
    }

    std::vector<task_peaks> rows_;
};

/// The graphs of files and of the .txt files of folders, by name. The least peaks known are those of
/// orders_best.txt beside the folder of the graph, if it is there.
///
/// Returns whether there was no fault. Throws: std::runtime_error for a file that cannot be read.
inline bool measure_task_files(std::vector<std::string> const& words, sublet::effort effort)
{
    namespace fs = std::filesystem;
    std::vector<fs::path> files;
    for (std::string const& word : words) {
        if (!fs::is_directory(word)) {
            files.emplace_back(word);
            continue;
        }
        std::size_t const before = files.size();
        for (fs::directory_entry const& entry : fs::directory_iterator(word))
            if (entry.path().extension() == ".txt") files.push_back(entry.path());
        if (files.size() == before) throw std::runtime_error(word + ": has no .txt file");
        std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
    }
    std::map<fs::path, std::map<std::string, known_peak>> known_in; // by folder
    task_table table;
    for (fs::path const& file : files) {
        std::ifstream text(file);
        if (!text) throw std::runtime_error(file.string() + ": cannot be read");
        task_graph const g = read_tasks(text, file.string());
        fs::path const folder = fs::absolute(file).lexically_normal().parent_path().parent_path();
        auto const [at, is_new] = known_in.try_emplace(folder);
        if (is_new) at->second = read_known_peaks(folder / "orders_best.txt");
        std::string const name = file.stem().string();
        std::optional<known_peak> known;
        if (auto const entry = at->second.find(name); entry != at->second.end()) {
            known = entry->second;
            if (known->steps != g.tasks())
                throw std::runtime_error((folder / "orders_best.txt").string() + ": '" + name + "' has " +
                                         std::to_string(known->steps) + " steps, but the graph " +
                                         std::to_string(g.tasks()));
        }
        table.add(measure_tasks(name, g, effort, known));
    }
    return table.finish();
}

} // namespace bench

#endif
