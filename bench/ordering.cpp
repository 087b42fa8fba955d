// SPDX-License-Identifier: BSL-1.0

// ordering [--smoke] [--most N] [FILE.onnx ...]: what reordering saves, and the cost of finding the order.
// For each network, in MiB:
//
//     listed apart   the arena in the order of the file, without in-place results
//     listed         the arena in the order of the file, with in-place results
//     best           the arena in the order of order(), with in-place results, and its lower bound
//     saved %        of "listed apart"; by the order alone, of "listed"
//
// and the milliseconds for the order, and for everything from the program to the checked plan. Exit status 1
// if an order is worse than that of its file, or a plan is refuted.
//
// Without files: graphs of 1000 to 100000 operations of four families, with the processor time in
// milliseconds of the dependence graph and of least_peak(), and the peaks in GiB as listed, of the graph
// traversals, and of all schedules:
//
//     wide       a thousand parallel branches, each grows and shrinks, all join at the end
//     deep       one chain; each operation also reads one of the last ten results
//     layered    sixty-four operations per layer, each reads up to three of the previous layer
//     attention  blocks of eight heads, then backward with kept values, updates last

#include "measure.hpp"

#include <sublet/graph/snapshot.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/orders.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/plan_memory.hpp>

#ifdef SUBLET_BENCH_READS_ONNX
#include "../examples/plan_model/network.hpp"
#include "../examples/plan_model/read_onnx.hpp"
#endif

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace sublet;
using namespace sublet::detail;

/// Each operation defines one value.
struct operations {
    std::vector<std::vector<value_id>> uses;
    std::vector<byte_count> bytes;
    value_id add(std::vector<value_id> operands, byte_count size)
    {
        uses.push_back(std::move(operands));
        bytes.push_back(size);
        return static_cast<value_id>(uses.size() - 1);
    }
};

using generator = std::mt19937;

byte_count random_size(generator& pick) { return byte_count{1 + pick() % 64} << (10 + pick() % 6); }

operations wide(std::size_t n, generator& pick)
{
    operations ops;
    std::size_t const branches = std::min<std::size_t>(1000, n / 10);
    std::vector<value_id> ends(branches);
    for (value_id& end : ends) end = ops.add({}, random_size(pick));
    while (ops.uses.size() + 1 < n) // listed in turn, so the branches alternate
        for (value_id& end : ends) end = ops.add({end}, random_size(pick));
    ops.add(ends, 1024);
    return ops;
}

operations deep(std::size_t n, generator& pick)
{
    operations ops;
    ops.add({}, 1024);
    while (ops.uses.size() < n) {
        auto const last = static_cast<value_id>(ops.uses.size() - 1);
        auto const back = static_cast<value_id>(pick() % std::min<std::size_t>(last + 1, 10));
        ops.add({last, last - back}, random_size(pick));
    }
    return ops;
}

operations layered(std::size_t n, generator& pick)
{
    operations ops;
    std::size_t const width = 64;
    while (ops.uses.size() < n) {
        std::vector<value_id> operands;
        auto const index = ops.uses.size(), layer = index / width;
        for (std::size_t i = layer == 0 ? 0 : 1 + pick() % 3; i != 0; --i)
            operands.push_back(static_cast<value_id>((layer - 1) * width + pick() % width));
        ops.add(operands, random_size(pick));
    }
    return ops;
}

operations attention(std::size_t n, generator& pick)
{
    operations ops;
    std::size_t const heads = 8, blocks = std::max<std::size_t>(1, n / (12 * heads));
    std::vector<std::vector<value_id>> kept;
    std::vector<value_id> gradients;
    value_id x = ops.add({}, 1 << 20);
    for (std::size_t b = 0; b != blocks; ++b) {
        std::vector<value_id> outs, keeps{x};
        for (std::size_t h = 0; h != heads; ++h) {
            value_id const q = ops.add({x}, 1 << 17), k = ops.add({x}, 1 << 17), v = ops.add({x}, 1 << 17);
            value_id const scores = ops.add({q, k}, 1 << (18 + pick() % 3));
            outs.push_back(ops.add({scores, v}, 1 << 17));
            keeps.insert(keeps.end(), {q, k, v, scores});
        }
        x = ops.add(outs, 1 << 20);
        kept.push_back(keeps);
    }
    for (std::size_t b = blocks; b-- != 0;) {
        std::vector<value_id> back;
        for (std::size_t h = 0; h != heads; ++h) {
            auto const* keep = kept[b].data() + 1 + 4 * h;
            value_id const d = ops.add({x, keep[3], keep[2]}, 1 << 18);
            back.push_back(ops.add({d, keep[0], keep[1]}, 1 << 17));
            gradients.push_back(ops.add({d, kept[b][0]}, 1 << 19));
        }
        x = ops.add(back, 1 << 20);
    }
    for (value_id g : gradients) ops.add({g}, 0); // writes external weights
    return ops;
}

struct family {
    char const* name;
    operations (*make)(std::size_t n, generator& pick);
};
family const families[] = {{"wide", wide}, {"deep", deep}, {"layered", layered}, {"attention", attention}};

/// Processor time, independent of other programs.
template <class Work>
double processor_ms(Work&& work)
{
    std::clock_t const start = std::clock();
    work();
    return 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

node_order best_traversal(order_graph const& g)
{
    order_incumbent incumbent(g);
    incumbent.offer(on_demand(g), node_order::method::on_demand);
    incumbent.offer(depth_first_order(g), node_order::method::depth_first);
    incumbent.offer(breadth_first(g), node_order::method::breadth_first);
    incumbent.offer(longest_path(g), node_order::method::longest_path);
    return incumbent.best();
}

void measure_families(std::size_t most)
{
    std::printf("%-10s %8s %8s | %9s %11s %9s | %9s %9s %9s\n", "family", "nodes", "edges", "graph ms",
                "least ms", "all ms", "listed", "walks", "least");
    for (std::size_t n : {std::size_t{1000}, std::size_t{10'000}, std::size_t{100'000}})
        for (family const& f : families) {
            if (n > most) continue;
            generator pick(n);
            operations const ops = f.make(n, pick);
            snapshot const p = sequence(
                ops.uses.size(), ops.uses.size(), [&](auto op) -> auto& { return ops.uses[op]; },
                [](auto op) { return std::vector<value_id>{+op}; });
            order_graph g;
            node_order found, first;
            double const graph =
                bench::milliseconds([&] { g = order_graph_of(p, {.bytes = std::span(ops.bytes)}); });
            double const least = processor_ms([&] { found = least_peak(g); });
            first = best_traversal(g);
            double const gib = 1.0 / (1u << 30);
            std::printf("%-10s %8zu %8zu | %9.1f %11.1f %9.1f | %9.4f %9.4f %9.4f\n", f.name, g.nodes(),
                        g.after.items(), graph, least, graph + least,
                        static_cast<double>(found.given_peak) * gib, static_cast<double>(first.peak) * gib,
                        static_cast<double>(found.peak) * gib);
            std::fflush(stdout);
        }
}

#ifdef SUBLET_BENCH_READS_ONNX
planned_memory checked_plan(snapshot const& p, plan_options const& options)
{
    planned_memory planned = plan_memory(p, options);
    if (!planned) throw std::runtime_error("a plan is refuted");
    return planned;
}

/// Returns whether no network got worse.
bool measure_networks(std::vector<std::string> const& files)
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

constexpr char usage[] = "usage: bench_ordering [--smoke] [--most N] [FILE.onnx ...]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        std::size_t most = 100'000;
        std::vector<std::string> files;
        for (int i = 1; i != count; ++i) {
            if (std::strcmp(words[i], "--smoke") == 0) most = 1000;
            else if (std::strcmp(words[i], "--most") == 0 && i + 1 != count)
                most = bench::number_in(words[++i]);
            else if (words[i][0] != '-') files.push_back(words[i]);
            else bench::refuse_option(words[i]);
        }
#ifdef SUBLET_BENCH_READS_ONNX
        if (!files.empty()) return measure_networks(files) ? 0 : 1;
#endif
        measure_families(most);
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "ordering: %s\n", e.what());
        return 2;
    }
}
