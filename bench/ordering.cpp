// SPDX-License-Identifier: BSL-1.0

// ordering [--smoke] [--growth] [--most N] [--effort fast|balanced|thorough|N] [FILE.onnx | FILE.txt | FOLDER
// ...]: what reordering saves, and the cost of finding the order. For each network, in MiB:
//
//     listed apart   the arena in the order of the file, without in-place results
//     listed         the arena in the order of the file, with in-place results
//     best           the arena in the order of order(), with in-place results, and its lower bound
//     saved %        of "listed apart"; by the order alone, of "listed"
//
// and the milliseconds for the order, and for everything from the program to the checked plan. Exit status 1
// if an order is worse than that of its file, or a plan is refuted.
//
// For each task graph of a .txt file or a folder of them (ordering_tasks.hpp), in bytes:
//
//     listed, lifo, greedy, cones   peaks of simple orders (ordering_rules.hpp)
//     order                         that of order(), with its lower bound, and seconds of processor time
//     known                         the least known, from orders_best.txt beside the folder of the graph
//
// Every peak is painted from the graph. Exit status 1 if order() is above listed, lifo, greedy or a rule of
// the library, if a peak is not as the library says, or if a bound is above the peak of some order.
//
// With --growth, and without files: time and memory for graphs of 1000, 10000 ... tasks, at most N (1000000),
// of several families (ordering_growth.hpp).

#include "measure.hpp"
#include "ordering_growth.hpp"
#include "ordering_table.hpp"
#include "ordering_tasks.hpp"

#include <sublet/graph/snapshot.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/plan_memory.hpp>

#ifdef SUBLET_BENCH_READS_ONNX
#include "../examples/plan_model/network.hpp"
#include "../examples/plan_model/read_onnx.hpp"
#endif

#include <cstddef>
#include <cstdio>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace sublet;

#ifdef SUBLET_BENCH_READS_ONNX
planned_memory checked_plan(snapshot const& p, plan_options const& options)
{
    planned_memory planned = plan_memory(p, options);
    if (!planned) throw std::runtime_error("a plan is refuted");
    return planned;
}

/// Returns whether no network got worse.
bool measure_networks(std::vector<std::string> const& files, sublet::effort effort)
{
    std::printf("%-30s %6s | %12s %10s %10s %10s | %8s %8s %-7s | %9s %9s\n", "network", "nodes",
                "listed apart", "listed", "best", "bound", "saved %", "order %", "proved", "order ms",
                "all ms");
    double sum = 0, sum_by_order = 0, proved = 0;
    bool none_worse = true;
    for (std::string const& file : files) {
        plan_model::network const net = plan_model::read_onnx(file);
        snapshot const p = plan_model::as_program(net);
        plan_options options = plan_model::as_options(net);
        options.effort = effort;
        options.in_place = false;
        planned_memory const without_in_place = checked_plan(p, options);
        options.in_place = true;
        planned_memory const listed = checked_plan(p, options);
        node_order found;
        planned_memory best;
        double const order_ms = bench::milliseconds([&] { found = sublet::order(p, options); });
        options.order = found.order;
        double const plan_ms = bench::milliseconds([&] { best = checked_plan(p, options); });
        auto bytes = [](planned_memory const& m) { return static_cast<double>(m.report().arena_bytes); };
        double const mib = 1.0 / (1u << 20);
        double const saved = 100 * (1 - bytes(best) / bytes(without_in_place));
        double const by_order = 100 * (1 - bytes(best) / bytes(listed));
        std::string const name = file.substr(file.find_last_of('/') + 1);
        bool const is_worse = bytes(best) > bytes(without_in_place) || bytes(best) > bytes(listed);
        std::printf("%-30s %6zu | %12.2f %10.2f %10.2f %10.2f | %8.2f %8.2f %-7s | %9.1f %9.1f%s\n",
                    name.c_str(), net.operations.size(), bytes(without_in_place) * mib, bytes(listed) * mib,
                    bytes(best) * mib, static_cast<double>(found.lower_bound) * mib, saved, by_order,
                    found.is_optimal() ? "yes" : "no", order_ms, order_ms + plan_ms,
                    is_worse ? "  WORSE" : "");
        std::fflush(stdout);
        none_worse = none_worse && !is_worse;
        sum += saved;
        sum_by_order += by_order;
        proved += found.is_optimal();
    }
    double const n = static_cast<double>(files.size());
    std::printf("mean saved: %.2f %%, by the order alone %.2f %%; proved best: %.0f of %.0f\n", sum / n,
                sum_by_order / n, proved, n);
    return none_worse;
}
#endif

/// A workflow that lists a reader first, and a circuit of four qubits.
constexpr char example_workflow[] = "merge\tall:9\tleft right\n"
                                    "split\tl:40 r:30\t\n"
                                    "one\tleft:5\tl\n"
                                    "two\tright:6 log:1\tr\n";
constexpr char example_circuit[] = "p0\tq0:1\t\np1\tq1:1\t\np2\tq2:1\t\np3\tq3:1\t\n"
                                   "g0\t\tq0 q1\ng1\t\tq1 q2\ng2\t\tq2 q3\n";

bool measure_examples(sublet::effort effort)
{
    bench::task_table table;
    for (auto const& [name, text] : {std::pair{"workflow", example_workflow}, {"circuit", example_circuit}}) {
        std::istringstream lines(text);
        table.add(bench::measure_tasks(name, bench::read_tasks(lines, name), effort, {}));
    }
    return table.finish();
}

struct arguments {
    std::size_t least = 1000, most = 1'000'000; ///< tasks of graphs that are made
    bool is_smoke = false, grows = false;
    sublet::effort effort = sublet::effort::balanced;
    std::vector<std::string> networks, tasks; ///< files; the latter are files or folders of task graphs
};

sublet::effort effort_in(std::string const& word)
{
    if (word == "fast") return effort::fast;
    if (word == "balanced") return effort::balanced;
    if (word == "thorough") return effort::thorough;
    return bench::number_in(word);
}

arguments read_arguments(int count, char** words)
{
    arguments args;
    for (int i = 1; i != count; ++i) {
        std::string const word = words[i];
        auto operand = [&]() -> std::string {
            if (i + 1 == count) throw std::runtime_error(word + " needs an operand");
            return words[++i];
        };
        if (word == "--smoke") args.is_smoke = true;
        else if (word == "--growth") args.grows = true;
        else if (word == "--most") args.most = bench::number_in(operand());
        else if (word == "--effort") args.effort = effort_in(operand());
        else if (word.starts_with('-')) bench::refuse_option(word);
        else (word.ends_with(".onnx") ? args.networks : args.tasks).push_back(word);
    }
    if (args.is_smoke) args.least = args.most = 100;
    args.grows = args.grows || (args.networks.empty() && args.tasks.empty());
    return args;
}

constexpr char usage[] = "usage: bench_ordering [--smoke] [--growth] [--most N]\n"
                         "                      [--effort fast|balanced|thorough|N]\n"
                         "                      [FILE.onnx | FILE.txt | FOLDER ...]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        arguments const args = read_arguments(count, words);
        bool is_good = true;
        if (!args.networks.empty()) {
#ifdef SUBLET_BENCH_READS_ONNX
            is_good = measure_networks(args.networks, args.effort);
#else
            throw std::runtime_error(args.networks[0] +
                                     ": this program was built without ONNX and reads no networks");
#endif
        }
        if (!args.tasks.empty()) is_good = bench::measure_task_files(args.tasks, args.effort) && is_good;
        if (args.is_smoke) is_good = measure_examples(args.effort) && is_good;
        if (args.grows) is_good = bench::measure_growth(args.least, args.most, args.effort) && is_good;
        return is_good ? 0 : 1;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "ordering: %s\n", e.what());
        return 2;
    }
}
