// SPDX-License-Identifier: BSL-1.0

// assign [--smoke] [--values N] [--graphs N] [--nodes N] [FILE.onnx ...]: the cost of finding slots of the
// fewest bytes, and what they save.
//
// Without files: random interference graphs (test/sized_interferences.hpp), of ranges and of orders in turn,
// by default 50 of 55 values. Prints a line for each: the lower bound from cliques, the bound and the plan
// found, the plan of the largest first, nodes and milliseconds; then the number of proved plans, and median
// and maximum of nodes and milliseconds.
//
// With files: networks, as in sharing.cpp. Prints a line for the order of the file, where values interfere if
// both are live at a step, and one for every schedule: the bytes of slots by the largest first, by the best
// chains if the order is not fixed, and the minimum.

#include "../test/sized_interferences.hpp"
#include "measure.hpp"

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/planning/detail/concurrent_bounds.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/sharing/color_graph.hpp>
#include <sublet/sharing/detail/chains.hpp>

#ifdef SUBLET_BENCH_READS_ONNX
#include "../examples/plan_model/network.hpp"
#include "../examples/plan_model/read_onnx.hpp"

#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace sublet;
using namespace sublet::detail;

struct arguments {
    unsigned values = 55;
    unsigned graphs = 50;
    std::uint64_t nodes = 10'000'000;
    std::vector<std::string> files;
};

/// Processor time, not wall time.
template <class Work>
double cpu_milliseconds(Work&& work)
{
    std::clock_t const start = std::clock();
    work();
    return 1000 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

unsigned long long printed(std::uint64_t number) { return number; }

void run_drawn(arguments const& args)
{
    std::vector<double> ms;
    std::vector<std::uint64_t> nodes;
    unsigned proved = 0;
    for (unsigned i = 0; i != args.graphs; ++i) {
        auto const drawn = draw_interferences(i, args.values);
        csr_graph const graph = drawn.all.graph();
        exact_assignment found;
        ms.push_back(cpu_milliseconds(
            [&] { found = assign_exact(graph, {.bytes = drawn.bytes, .nodes = args.nodes}); }));
        nodes.push_back(found.nodes);
        proved += found.is_optimal();
        std::printf(
            "%3u %s: cliques %9llu bound %9llu plan %9llu %-8s largest first %9llu; %9llu nodes %9.2f ms\n",
            i, i % 2 == 0 ? "ranges" : "orders", printed(found.clique_bytes), printed(found.lower_bound),
            printed(found.total_bytes), found.is_optimal() ? "proved" : "",
            printed(color(graph, {.bytes = drawn.bytes}).total_bytes), printed(found.nodes), ms.back());
    }
    if (ms.empty()) return;
    std::sort(nodes.begin(), nodes.end());
    auto const time = bench::timing_of(ms);
    std::printf("%u of %u proved; nodes: median %llu, most %llu; ms: median %.2f, most %.2f\n", proved,
                args.graphs, printed(nodes[nodes.size() / 2]), printed(nodes.back()), time.median, time.high);
}

struct subject {
    snapshot program;
    plan_options options{.bytes = 0};
};

void print_network(char const* what, std::size_t buffers, byte_count by_size, byte_count by_chains,
                   exact_assignment const& found, double ms)
{
    std::printf("   %-14s %6zu buffers; largest first %13llu", what, buffers, printed(by_size));
    if (by_chains != no_size) std::printf(" chains %13llu", printed(by_chains));
    std::printf(" fewest %13llu %-8s (bound %13llu) %9llu nodes %9.2f ms\n", printed(found.total_bytes),
                found.is_optimal() ? "proved" : "", printed(found.lower_bound), printed(found.nodes), ms);
    std::fflush(stdout);
}

void run_network(std::string const& file, subject const& s, std::uint64_t nodes)
{
    auto const role = s.options.role.tabulate(s.program.values());
    buffer_table const table = gather_buffers(detail::touch_ranges(s.program, role), s.options);
    memory_plan plan;
    placement_problem problem;
    if (detail::list_planned(table, plan, problem)) throw std::runtime_error(file + ": pins");
    auto const buffers = static_cast<buffer_id>(problem.buffers.size());
    std::vector<byte_count> bytes;
    for (placement_problem::buffer const& b : problem.buffers) bytes.push_back(b.size);
    std::printf("%s\n", file.c_str());

    auto solve = [&](char const* what, byte_count by_chains, auto interfere) {
        std::vector<std::vector<node_id>> rows(buffers);
        for (buffer_id v = 0; v != buffers; ++v)
            for (buffer_id u = 0; u != v; ++u)
                if (interfere(u, v)) {
                    rows[u].push_back(+v);
                    rows[v].push_back(+u);
                }
        csr_graph const graph = as_graph(
            buffers, [&](auto v) -> auto& { return rows[v]; });
        exact_assignment found;
        double const ms =
            cpu_milliseconds([&] { found = assign_exact(graph, {.bytes = bytes, .nodes = nodes}); });
        print_network(what, buffers, color(graph, {.bytes = bytes}).total_bytes, by_chains, found, ms);
    };
    solve("in order", no_size, [&](buffer_id u, buffer_id v) {
        return overlaps(problem.buffers[u].life, problem.buffers[v].life);
    });

    dependence_graph const order = dependences(s.program, detail::dependences_of(s.options, {}));
    if (!order) throw std::runtime_error(file + ": cannot be read as concurrent");
    concurrent_live_ranges const lives =
        concurrent_lifetimes(s.program, order, buffers, plan.buffer_of, role);
    conflict_ranges const conflicts = find_conflict_ranges(order, lives);
    byte_count const by_chains =
        share_in_chains(lives, conflicts, [&](buffer_id b) { return bytes[b]; }).total_bytes;
    solve("every schedule", by_chains, [&](buffer_id u, buffer_id v) {
        return !detail::reusable_by(conflicts, lives, u, v) && !detail::reusable_by(conflicts, lives, v, u);
    });
}

subject read_network([[maybe_unused]] std::string const& file)
{
#ifdef SUBLET_BENCH_READS_ONNX
    plan_model::network const net = plan_model::read_onnx(file);
    plan_options options = plan_model::as_options(net);
    options.in_place = false;
    snapshot program = plan_model::as_program(net);
    options.bytes = options.bytes.tabulate(program.values()); // outlives the network
    options.role = options.role.tabulate(program.values());
    options.alias_of = options.alias_of.tabulate(program.values());
    return {std::move(program), options};
#else
    throw std::runtime_error("this program was built without ONNX and reads no files");
#endif
}

arguments read_arguments(int count, char** words)
{
    arguments args;
    for (int i = 1; i != count; ++i) {
        std::string const word = words[i];
        auto operand = [&] {
            if (++i == count) throw std::runtime_error(word + " needs an operand");
            return bench::number_in(words[i]);
        };
        if (word == "--smoke") args.graphs = 8;
        else if (word == "--values") args.values = operand();
        else if (word == "--graphs") args.graphs = operand();
        else if (word == "--nodes") args.nodes = operand();
        else if (word[0] != '-') args.files.push_back(word);
        else bench::refuse_option(word);
    }
    return args;
}

constexpr char usage[] = "usage: bench_assign [--smoke] [--values N] [--graphs N] [--nodes N] [FILE ...]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        arguments const args = read_arguments(count, words);
        for (std::string const& file : args.files) run_network(file, read_network(file), args.nodes);
        if (args.files.empty()) run_drawn(args);
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "assign: %s\n", e.what());
        return 2;
    }
}
