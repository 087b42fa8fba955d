// SPDX-License-Identifier: BSL-1.0

// handoffs [--smoke] [--tasks N] [--family NAME] [--csv FILE] [FILE.onnx | FILE.txt ...]: what hand-offs
// save, and what they cost, on graphs of nine families (test/task_families.hpp has pictures), or on the
// networks and task graphs of files; every step takes one unit of time. Prints for each graph and network
// the bytes of the plan for every schedule without hand-offs, and a line for each accepted makespan, that of
// 1, 2, 3, 4, 8 workers or of one per step:
//
//     makespan  as a multiple of the critical path
//     path      the critical path with the hand-offs, at most the makespan
//     bytes     of the arena, and in percent of the plan without hand-offs
//     waits     number of hand-offs, if everything that the schedule allows is shared
//     few       number of hand-offs, if each must save a minimum: the plan of the other columns
//     ms        processor time, with the check
//
// For each task graph of a .txt file (ordering_tasks.hpp) and 2, 4, 8 workers, a line about the schedules
// between the shortest and the one of fewest live bytes, with the bounds of both. Tasks are listed as in the
// file, or where a task reads what is made later, in the nearest order that can run.
//
//
//     least     no schedule is shorter; no schedule has fewer live bytes
//     makespan, live bytes   of the shortest, and of the one of fewest bytes
//     arena     bytes of the plan with hand-offs in the shortest
//     points    number of schedules, of which none beats another; --csv writes them all
//     ms        processor time of schedules(), with the check

#include "../test/task_families.hpp"
#include "measure.hpp"
#include "ordering_rules.hpp"
#include "ordering_tasks.hpp"

#include <sublet/graph/snapshot.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/schedules.hpp>

#ifdef SUBLET_BENCH_READS_ONNX
#include "../examples/plan_model/network.hpp"
#include "../examples/plan_model/read_onnx.hpp"
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace sublet;

struct subject {
    std::string name;
    snapshot program;
    plan_options options;
};

void run(subject const& s)
{
    bool is_first = true;
    for (std::size_t const workers : {1u, 2u, 3u, 4u, 8u, 0u}) {
        handoff_options wanted{.workers = workers};
        auto const two_level_plan = plan_with_handoffs(s.program, s.options, wanted);
        wanted.few_waits = false;
        auto const all = plan_with_handoffs(s.program, s.options, wanted);
        if (!bool(two_level_plan) || !bool(all)) throw std::runtime_error(s.name + ": there is no plan");
        if (std::exchange(is_first, false)) {
            std::printf("\n%s: %zu steps, %llu bytes without waiting\n", s.name.c_str(), s.program.steps(),
                        static_cast<unsigned long long>(two_level_plan.bytes_without));
            std::printf("%8s %9s %9s %16s %7s %9s %9s %9s\n", "workers", "makespan", "path", "bytes", "",
                        "waits", "few", "ms");
        }
        auto times = [&two_level_plan](std::uint64_t t) {
            return two_level_plan.critical_path == 0
                       ? 1
                       : static_cast<double>(t) / static_cast<double>(two_level_plan.critical_path);
        };
        std::printf("%8s %9.3f %9.3f %16llu %7.3f %9zu %9zu %9.1f\n",
                    workers == 0 ? "all" : std::to_string(workers).c_str(), times(two_level_plan.makespan),
                    times(two_level_plan.critical_path_with),
                    static_cast<unsigned long long>(two_level_plan.report().arena_bytes),
                    static_cast<double>(two_level_plan.report().arena_bytes) /
                        static_cast<double>(two_level_plan.bytes_without),
                    all.plan.handoffs.size(), two_level_plan.plan.handoffs.size(),
                    1000 * two_level_plan.report().seconds);
    }
}

std::string reason(counterexample const& error)
{
    std::ostringstream text;
    text << error;
    return text.str();
}

/// A row of text for each number of workers, and one of the table for each schedule.
void run_tasks(std::string const& file, std::ostream* table)
{
    std::ifstream text(file);
    if (!text) throw std::runtime_error(file + ": cannot be read");
    bench::task_graph const g = bench::read_tasks(text, file);
    auto const list = bench::as_listing(g, bench::listed_order(bench::touch_graph(g)));
    std::string const name = std::filesystem::path(file).stem().string();
    for (std::size_t const workers : {2u, 4u, 8u}) {
        schedule_curve curve;
        double const seconds =
            bench::processor_seconds([&] { curve = schedules(list, {.workers = workers}); });
        if (!curve) throw std::runtime_error(file + ": " + reason(curve.error()));
        step_schedule const& shortest = curve.points.front();
        step_schedule const& lowest = curve.points.back();
        auto const planned = plan_with_handoffs(list, {.workers = workers, .schedule = shortest.steps});
        if (!planned) throw std::runtime_error(file + ": " + reason(planned.error()));
        auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
        std::printf("%-24s %7zu %6llu %8llu %12llu %12llu %8llu %12llu %12llu %6zu %8.1f\n", name.c_str(),
                    workers, number(curve.least_makespan), number(shortest.makespan),
                    number(shortest.live_bytes), number(planned.bytes()), number(lowest.makespan),
                    number(lowest.live_bytes), number(curve.least_bytes), curve.points.size(),
                    1000 * seconds);
        for (step_schedule const& point : curve.points)
            if (table != nullptr)
                *table << name << ',' << workers << ',' << point.makespan << ',' << point.live_bytes << ','
                       << curve.least_makespan << ',' << curve.least_bytes << '\n';
    }
}

void run_all_tasks(std::vector<std::string> const& files, std::string const& csv)
{
    std::ofstream table;
    if (!csv.empty()) {
        table.open(csv, std::ios::binary);
        table << "workflow,workers,makespan,live_bytes,least_makespan,least_bytes\n";
    }
    std::printf("%-24s %7s %6s %34s %34s %6s %8s\n", "", "", "", "the shortest       ",
                "the fewest bytes     ", "", "");
    std::printf("%-24s %7s %6s %8s %12s %12s %8s %12s %12s %6s %8s\n", "tasks", "workers", "least",
                "makespan", "live bytes", "arena", "makespan", "live bytes", "least", "points", "ms");
    for (std::string const& file : files) run_tasks(file, csv.empty() ? nullptr : &table);
    table.close();
    if (!csv.empty() && !table) throw std::runtime_error(csv + ": cannot be written");
}

subject read_network(std::string const& file)
{
#ifdef SUBLET_BENCH_READS_ONNX
    plan_model::network const net = plan_model::read_onnx(file);
    plan_options options = plan_model::as_options(net);
    snapshot program = plan_model::as_program(net);
    options.bytes = options.bytes.tabulate(program.values()); // outlives the network
    options.role = options.role.tabulate(program.values());
    options.alias_of = options.alias_of.tabulate(program.values());
    return {file, std::move(program), options};
#else
    throw std::runtime_error(file + ": this program was built without ONNX and reads no networks");
#endif
}

constexpr char usage[] = "usage: bench_handoffs [--smoke] [--tasks N] [--family NAME]\n"
                         "                      [--csv FILE] [FILE.onnx | FILE.txt ...]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        std::size_t tasks = 2000;
        std::string family, csv;
        std::vector<std::string> networks, graphs;
        for (int i = 1; i != count; ++i) {
            std::string const word = words[i];
            auto operand = [&] {
                if (++i == count) throw std::runtime_error(word + " needs an operand");
                return std::string(words[i]);
            };
            if (word == "--smoke") tasks = 50;
            else if (word == "--tasks") tasks = bench::number_in(operand());
            else if (word == "--family") family = operand();
            else if (word == "--csv") csv = operand();
            else if (word[0] != '-') (word.ends_with(".txt") ? graphs : networks).push_back(word);
            else bench::refuse_option(word);
        }
        if (!csv.empty() && graphs.empty())
            throw std::runtime_error("--csv is about task graphs, and no .txt file is given");
        for (std::string const& file : networks) run(read_network(file));
        if (!graphs.empty()) run_all_tasks(graphs, csv);
        if (!networks.empty() || !graphs.empty()) return 0;
        if (!family.empty() &&
            std::find(std::begin(family_names), std::end(family_names), family) == std::end(family_names))
            throw std::runtime_error("there is no family '" + family + "'");
        for (std::string_view const name : family_names) {
            if (!family.empty() && name != family) continue;
            task_family drawn = draw_family(name, tasks);
            run({std::string(name), drawn.program(), {.bytes = std::move(drawn.bytes)}});
        }
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "handoffs: %s\n", e.what());
        return 2;
    }
}
