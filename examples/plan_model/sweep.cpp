// SPDX-License-Identifier: BSL-1.0

// sweep DATA: plans, proves and runs every network of a folder, and compares with the table in its README.md.
// Prints one line per file; at the end how far the arenas lie above the lower bounds and above reference
// counting. The table lists operations, values, buffers and bytes in file order without in-place reuse. Exit
// status: 0 if all of that agrees, every plan is verified, the arenas are small and all runs of a network
// have the same digest; 1 otherwise.

#include "read_onnx.hpp"
#include "run_modes.hpp"
#include "summary.hpp"
#include "timed_plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace plan_model;

struct table_row {
    std::string file;
    std::vector<std::string>
        cells; ///< file, nodes, values, aliases, buffers, unknown shapes, MiB, peak MiB ...
};

/// The rows of the tables of networks; the heading above a table names the folder.
std::vector<table_row> read_table(std::string const& data)
{
    std::ifstream in(data + "/README.md");
    if (!in) throw input_error(data + "/README.md: cannot be read");
    std::vector<table_row> rows;
    std::string folder;
    for (std::string line; std::getline(in, line);) {
        if (line.rfind("###", 0) == 0) folder = line == "### Inference graphs" ? "inference" : "training";
        std::vector<std::string> cells;
        for (std::size_t at = line.find('|'), bar; at != std::string::npos; at = bar) {
            bar = line.find('|', at + 1);
            if (bar == std::string::npos) break;
            std::string const cell = line.substr(at + 1, bar - at - 1);
            std::size_t const first = cell.find_first_not_of(' ');
            cells.push_back(
                first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
        }
        if (cells.size() >= 8 && cells[0].ends_with(".onnx"))
            rows.push_back({data + "/models/" + folder + '/' + cells[0], cells});
    }
    return rows;
}

/// Bytes in MiB, with as many decimals as `as` has.
std::string in_mebibytes(sublet::byte_count bytes, std::string const& as)
{
    std::size_t const point = as.find('.');
    auto const decimals = point == std::string::npos ? 0 : static_cast<int>(as.size() - point - 1);
    return with_decimals(static_cast<double>(bytes) / (1 << 20), decimals);
}

struct sweep {
    double log_sum = 0, worst = 0, slowest_ms = 0;
    int files = 0, within_2_percent = 0, disagreements = 0;

    void expect(std::string const& file, char const* what, std::string const& is, std::string const& wanted)
    {
        if (is == wanted) return;
        std::printf("FAILED %s: %s is %s and not %s\n", file.c_str(), what, is.c_str(), wanted.c_str());
        ++disagreements;
    }

    void run(table_row const& row, network const& net, bool in_place)
    {
        timed_plan const timed = plan(net, {.in_place = in_place});
        auto const& report = timed.planned.report();
        summary const s{.buffers = report.buffers,
                        .lower_bound_bytes = report.lower_bound_bytes,
                        .arena_bytes = report.arena_bytes};
        std::printf("%-32s %5zu %5zu %5zu %12llu %12llu %12llu %7.3f %9.3f\n", row.cells[0].c_str(),
                    net.operations.size(), net.results, s.buffers,
                    static_cast<unsigned long long>(report.naive_bytes),
                    static_cast<unsigned long long>(s.lower_bound_bytes),
                    static_cast<unsigned long long>(s.arena_bytes), s.overhead_percent(), timed.milliseconds);

        if (!timed.is_verified()) expect(row.file, "verified", "no", "yes");
        if (!in_place) {
            expect(row.file, "operations", std::to_string(net.operations.size()), row.cells[1]);
            expect(row.file, "values", std::to_string(net.results), row.cells[2]);
            expect(row.file, "buffers", std::to_string(s.buffers), row.cells[4]);
            expect(row.file, "bytes of all values", std::to_string(per_value_bytes(net, timed.planned.plan)),
                   std::to_string(report.naive_bytes));
            expect(row.file, "naive MiB", in_mebibytes(report.naive_bytes, row.cells[6]), row.cells[6]);
            expect(row.file, "lower bound MiB", in_mebibytes(s.lower_bound_bytes, row.cells[7]),
                   row.cells[7]);
        }
        ++files;
        within_2_percent += s.overhead_percent() <= 2;
        worst = std::max(worst, s.overhead_percent());
        log_sum += std::log1p(s.overhead_percent() / 100);
        slowest_ms = std::max(slowest_ms, timed.milliseconds);
    }

    /// At least 35 of 37 networks within 2 %, none above 8 %.
    bool conclude() const
    {
        double const mean = files == 0 ? 0 : 100 * std::expm1(log_sum / files);
        std::printf("%d files, %d within 2 %%; overhead %.3f %% in geometric mean, %.3f %% at worst; "
                    "slowest %.3f ms; %d disagreements\n\n",
                    files, within_2_percent, mean, worst, slowest_ms, disagreements);
        return files != 0 && disagreements == 0 && worst <= 8 && within_2_percent * 37 >= files * 35;
    }
};

/// Runs networks in three memory modes, with and without in-place reuse.
struct run_sweep {
    int networks = 0, within_2_percent = 0, different = 0;

    /// Scales the values of a large network down: the same operations, views and sharing in less time.
    static sublet::byte_count shrink(network& net)
    {
        sublet::byte_count const naive = plan(net, {.in_place = false}).planned.report().naive_bytes;
        sublet::byte_count divisor = 1;
        while (naive > 200'000'000 && naive / divisor > 50'000'000) divisor *= 2;
        for (network_value& v : net.values)
            if (v.bytes != sublet::no_size) v.bytes = v.bytes / divisor + (v.bytes % divisor != 0);
        return divisor;
    }

    void run(std::string const& file, network net)
    {
        sublet::byte_count const divisor = shrink(net);
        std::vector<sublet::byte_count> peaks;
        std::vector<std::string> faults;
        std::optional<std::uint64_t> left;
        bool is_small = true;
        for (bool in_place : {false, true}) {
            plan_settings const settings{.in_place = in_place};
            sublet::memory_plan const planned = plan(net, settings).planned.plan;
            auto const level =
                in_place ? sublet::executor_options::checks::digest : sublet::executor_options::checks::plan;
            mode_comparison const all = compare_modes(net, settings, planned, {.check = level});
            faults.insert(faults.end(), all.faults.begin(), all.faults.end());
            for (auto const& mode : {all.no_plan, all.recycle, all.arena})
                peaks.push_back(mode ? mode->peak_bytes : 0);
            if (!all.no_plan || !all.recycle || !all.arena) continue;
            if (all.arena->outputs != left.value_or(all.arena->outputs))
                faults.push_back("the result in place differs");
            left = all.arena->outputs;
            std::uint64_t pools = 0;
            for (sublet::byte_count bytes : planned.arena_bytes) pools += bytes != 0;
            if (all.arena->allocations != pools)
                faults.push_back(std::to_string(all.arena->allocations) + " allocations for " +
                                 std::to_string(pools) + " pools");
            is_small = is_small && static_cast<double>(all.arena->peak_bytes) <=
                                       1.02 * static_cast<double>(all.recycle->peak_bytes);
        }
        std::printf("%-32s %5llu", file.c_str(), static_cast<unsigned long long>(divisor));
        for (sublet::byte_count peak : peaks) std::printf(" %12llu", static_cast<unsigned long long>(peak));
        std::printf("\n");
        for (std::string const& fault : faults) std::printf("FAILED %s: %s\n", file.c_str(), fault.c_str());
        ++networks;
        within_2_percent += is_small;
        different += !faults.empty();
    }

    /// At least 90 % of the networks need at most 2 % more than reference counting.
    bool conclude() const
    {
        std::printf("%d networks run, %d within 2 %% of recycling, %d different\n", networks,
                    within_2_percent, different);
        return networks != 0 && different == 0 && within_2_percent * 10 >= networks * 9;
    }
};

} // namespace

int main(int count, char** words)
{
    bool const asks_for_help = count == 2 && std::string(words[1]) == "--help";
    if (count != 2 || asks_for_help)
        return std::fputs("usage: plan_model_sweep DATA\n", asks_for_help ? stdout : stderr),
               asks_for_help ? 0 : 2;
    try {
        std::vector<table_row> const rows = read_table(words[1]);
        std::vector<network> networks;
        for (table_row const& row : rows) networks.push_back(read_onnx(row.file, in_place_pairs::operators));
        auto const is_network = [](auto const& entry) { return entry.path().extension() == ".onnx"; };
        std::filesystem::recursive_directory_iterator const found(std::string(words[1]) + "/models");
        auto const files = static_cast<std::size_t>(std::count_if(begin(found), end(found), is_network));
        if (files != rows.size())
            throw input_error("the table has " + std::to_string(rows.size()) + " rows for " +
                              std::to_string(files) + " files");
        bool agrees = true;
        for (bool in_place : {false, true}) {
            std::printf("in-place %s\n%-32s %5s %5s %5s %12s %12s %12s %7s %9s\n", in_place ? "on" : "off",
                        "file", "ops", "vals", "bufs", "naive bytes", "lower bound", "arena bytes", "over %",
                        "ms");
            sweep all;
            for (std::size_t i = 0; i != rows.size(); ++i) all.run(rows[i], networks[i], in_place);
            agrees = all.conclude() && agrees;
        }
        std::printf("%-32s %5s %12s %12s %12s   and the same in place\n", "run", "part", "no_plan", "recycle",
                    "arena");
        run_sweep runs;
        for (std::size_t i = 0; i != rows.size(); ++i) runs.run(rows[i].cells[0], networks[i]);
        agrees = runs.conclude() && agrees;
        return agrees ? 0 : 1;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "sweep: %s\n", e.what());
        return 2;
    }
}
