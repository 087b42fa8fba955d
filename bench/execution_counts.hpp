// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_EXECUTION_COUNTS_HPP
#define SUBLET_BENCH_EXECUTION_COUNTS_HPP

/// Counts what memory modes need on whole networks, without allocating memory; and compares a network made in
/// code with a trace of it.

#include "address_space.hpp"
#include "execution_cases.hpp"
#include "read_network.hpp"

#include <sublet/execution.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace bench {

using namespace sublet;

inline double in_mebibytes(byte_count bytes) { return static_cast<double>(bytes) / (1 << 20); }

inline double percent_less(byte_count few, byte_count many)
{
    return many == 0 ? 0 : 100 * (1 - static_cast<double>(few) / static_cast<double>(many));
}

struct counted {
    byte_count peak = 0, bound = 0;
    std::uint64_t later_allocations = 0;
};

template <class Mode>
counted count(network const& net, snapshot const& program, plan_options const& options, Mode const& mode)
{
    address_space addresses(std::size_t{1} << 40);
    cpu_executor run(program, options, mode, empty_kernel{}, {.upstream = &addresses});
    auto set_inputs = [&] {
        for (value_id v = 0; v != net.values.size(); ++v) {
            auto const& value = net.values[v];
            if (value.role == value_role::input) (void)run.input(v);
            if (!has_role(value.role, value_role::external) || value.bytes == 0) continue;
            auto const bytes = value.bytes == no_size ? 1 : static_cast<std::size_t>(value.bytes);
            run.bind(v, std::span(static_cast<std::byte*>(addresses.allocate(bytes, 1)), bytes));
        }
    };
    set_inputs();
    run_report const first = run.run();
    set_inputs();
    return {first.run.bytes.peak, first.lower_bound, run.run().run.allocations.total};
}

/// What Apache SINGA reports for its graph, with the measurement here.
struct published_figure {
    char const* name;
    int before, after;
    char const* less;
};
inline constexpr published_figure singa_figures[] = {{"resnet50:16", 4961, 3105, "37.41"},
                                                     {"resnet50:32", 10113, 6517, "35.56"}};

inline void print_counts(std::vector<std::string> const& words, bool as_csv)
{
    std::printf(as_csv ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n"
                       : "%-26s %9s %9s %9s %9s %7s %6s %9s %9s %9s %7s\n",
                "network", "no_plan", "recycle", "arena", "bound", "over %", "allocs", "waiting", "any_order",
                "caller's", "less %");
    std::vector<std::string> comparison_lines;
    for (std::string const& word : words) {
        network const net = read_network(word);
        snapshot const program = as_program(net);
        plan_options const options = as_options(net);
        counted const none = count(net, program, options, no_plan{});
        counted const recycled = count(net, program, options, recycle{});
        counted const planned = count(net, program, options, arena{plan_memory(program, options).plan});
        auto const any_order_plan = plan_concurrent(program, options);
        auto const with_handoffs = plan_with_handoffs(program, options);
        byte_count const more = external_bytes(net);
        double const less = percent_less(planned.peak + more, none.peak + more);
        std::printf(as_csv ? "%s,%.2f,%.2f,%.2f,%.2f,%.3f,%llu,%.2f,%.2f,%.2f,%.2f\n"
                           : "%-26s %9.2f %9.2f %9.2f %9.2f %7.3f %6llu %9.2f %9.2f %9.2f %7.2f\n",
                    name_of(word).c_str(), in_mebibytes(none.peak), in_mebibytes(recycled.peak),
                    in_mebibytes(planned.peak), in_mebibytes(planned.bound),
                    std::max(0.0, -percent_less(planned.peak, planned.bound)),
                    static_cast<unsigned long long>(planned.later_allocations),
                    in_mebibytes(with_handoffs.report().arena_bytes),
                    in_mebibytes(any_order_plan.report().arena_bytes), in_mebibytes(more), less);
        std::fflush(stdout);
        for (published_figure const& row : singa_figures) {
            if (word != row.name && word != std::string(row.name) + ":operand") continue;
            char text[160];
            std::snprintf(text, sizeof text, "%-26s %6d -> %5d MB  %s %%    %7.0f -> %5.0f MB  %5.2f %%",
                          word.c_str(), row.before, row.after, row.less,
                          static_cast<double>(none.peak + more) / 1e6,
                          static_cast<double>(planned.peak + more) / 1e6, less);
            comparison_lines.push_back(text);
        }
    }
    if (as_csv) return;
    std::puts(
        "MiB, counted; allocs: in a run of the arena after the first; waiting: one arena for parallel steps\n"
        "with hand-offs that lengthen no run; any_order: one for every schedule. Less: the arena\n"
        "than no_plan, both with external bytes.");
    if (comparison_lines.empty()) return;
    std::printf("\n%-26s %-28s   %s\n", "", "Apache SINGA, its graph", "here, with external bytes");
    for (std::string const& line : comparison_lines) std::puts(line.c_str());
    std::puts(
        "\nSINGA's figures (pull request 626) are device memory of a whole process, with workspaces and a\n"
        "pool; here values are counted: two measures, and no comparison of the systems. SINGA's speedup of\n"
        "1.23 by the graph is no reference either: without it SINGA synchronizes with the device after the\n"
        "forward pass, after the loss and after each update of a parameter; with it SINGA does not.");
}

// --- comparison with a trace ------------------------------------------------------------------------------

struct totals {
    std::size_t operations = 0, buffers = 0;
    byte_count bytes = 0;
};

/// By type of operation, the results that are no views; under the empty name, their total.
inline std::map<std::string, totals> totals_of(network const& net)
{
    std::map<std::string, totals> by_type;
    for (auto const& operation : net.operations)
        for (totals* const sum : {&by_type[operation.type], &by_type[""]}) {
            ++sum->operations;
            for (value_id v : operation.outputs) {
                if (v == no_value || net.values[v].alias_of != no_value) continue;
                ++sum->buffers;
                sum->bytes += net.values[v].bytes;
            }
        }
    return by_type;
}

inline bool compare(std::string const& file, std::string const& word)
{
    network const pair[] = {read_network(file), read_network(word)};
    std::map<std::string, totals> const sums[] = {totals_of(pair[0]), totals_of(pair[1])};
    std::map<std::string, int> types;
    for (auto const& each : sums)
        for (auto const& row : each) ++types[row.first];
    std::printf("%-36s %-28s %-28s difference\n%-36s", "", name_of(file).c_str(), name_of(word).c_str(), "");
    for (int i = 0; i != 3; ++i) std::printf(" %5s %5s %15s ", "steps", "bufs", "bytes");
    std::puts("");
    auto row = [](std::string const& name, totals a, totals b) {
        std::printf("%-36s %5zu %5zu %15llu  %5zu %5zu %15llu  %5lld %5lld %15lld\n", name.c_str(),
                    a.operations, a.buffers, static_cast<unsigned long long>(a.bytes), b.operations,
                    b.buffers, static_cast<unsigned long long>(b.bytes),
                    static_cast<long long>(b.operations) - static_cast<long long>(a.operations),
                    static_cast<long long>(b.buffers) - static_cast<long long>(a.buffers),
                    static_cast<long long>(b.bytes - a.bytes));
    };
    auto of = [](std::map<std::string, totals> const& sum, std::string const& type) {
        auto const found = sum.find(type);
        return found == sum.end() ? totals{} : found->second;
    };
    for (auto const& type : types)
        if (!type.first.empty()) row(type.first, of(sums[0], type.first), of(sums[1], type.first));
    row("all", of(sums[0], ""), of(sums[1], ""));
    bool is_same = of(sums[0], "").bytes == of(sums[1], "").bytes;
    for (bool in_place : {false, true}) {
        totals found[2];
        byte_count arenas[2];
        for (int i = 0; i != 2; ++i) {
            plan_options options = as_options(pair[i]);
            options.in_place = in_place;
            auto const report = plan_memory(as_program(pair[i]), options).report();
            found[i] = {report.steps, report.buffers, report.lower_bound_bytes};
            arenas[i] = report.arena_bytes;
        }
        row(in_place ? "lower bound, in place" : "lower bound", found[0], found[1]);
        is_same = is_same && found[0].buffers == found[1].buffers && found[0].bytes == found[1].bytes &&
                  arenas[0] == arenas[1];
    }
    std::puts(is_same ? "The same buffers, bytes, bounds and arenas." : "They differ.");
    return is_same;
}

} // namespace bench

#endif
