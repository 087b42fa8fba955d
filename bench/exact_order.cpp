// SPDX-License-Identifier: BSL-1.0

// exact_order [--smoke] [--work N] [--in-place on|off] [FILE.onnx ...]: the order with the least peak by
// exhaustive search, for the networks of files, or for random graphs of branches that split and join. Prints
// a line for each:
//
//     nodes      to be ordered
//     segments   runs of consecutive nodes that every order consists of, in sequence
//     longest    nodes of the longest segment
//     searched   segments with a peak above the lower bound
//     sets       of executed nodes that the search visited
//     ms         from the program's graph to the proof, without reading the file
//     file       MiB of the peak in the order of the file
//     least      MiB of the best order found
//     bound      MiB of the lower bound of all orders
//
// and "optimal" if the last two are equal.

#include "../test/random_source.hpp"
#include "measure.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/orders.hpp>
#include <sublet/ordering/order.hpp>

#ifdef SUBLET_BENCH_READS_ONNX
#include "../examples/plan_model/network.hpp"
#include "../examples/plan_model/read_onnx.hpp"
#endif

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace sublet;
using namespace sublet::detail;

struct arguments {
    order_search_limits limits;
    bool is_smoke = false, in_place = true;
    std::vector<std::string> files;
};

arguments read_arguments(int count, char** words)
{
    arguments args;
    for (int i = 1; i < count; ++i) {
        std::string const word = words[i];
        auto operand = [&]() -> std::string {
            if (i + 1 == count) throw std::runtime_error(word + " needs an operand");
            return words[++i];
        };
        if (word == "--smoke") args.is_smoke = true;
        else if (word == "--work") args.limits.work = bench::number_in(operand());
        else if (word == "--in-place") args.in_place = operand() != "off";
        else if (word[0] == '-') bench::refuse_option(word);
        else args.files.push_back(word);
    }
    return args;
}

void show(std::string const& name, order_graph const& g, order_search_limits const& limits)
{
    exact_node_order found;
    double const ms = bench::milliseconds([&] { found = exact_order(g, {}, limits); });
    auto mib = [](byte_count bytes) { return static_cast<double>(bytes) / (1024 * 1024); };
    std::printf("%-28s %6zu %6zu %6zu %6zu %9llu %9.1f %10.3f %10.3f %10.3f  %s\n", name.c_str(), g.nodes(),
                found.report.segments, found.report.longest, found.report.searched,
                static_cast<unsigned long long>(found.report.sets), ms, mib(found.given_peak),
                mib(found.peak), mib(found.lower_bound), found.is_optimal() ? "optimal" : "");
    std::fflush(stdout);
}

#ifdef SUBLET_BENCH_READS_ONNX
void show_file(std::string const& file, arguments const& args)
{
    plan_model::network const net = plan_model::read_onnx(file);
    plan_options options = plan_model::as_options(net);
    options.in_place = args.in_place;
    std::size_t const slash = file.rfind('/');
    show(file.substr(slash == std::string::npos ? 0 : slash + 1),
         order_graph_of(plan_model::as_program(net), options), args.limits);
}
#endif

/// `cells` times: `branches` chains of up to `most` operations split from one value and join in another.
void show_cells(std::uint32_t cells, std::uint32_t branches, std::uint32_t most, arguments const& args)
{
    random_source pick{std::mt19937(cells * 100 + branches)};
    struct operation {
        std::vector<value_id> uses;
        value_id def;
    };
    std::vector<operation> operations{{{}, 0}};
    std::vector<byte_count> size{byte_count{1} << 20};
    auto add = [&](std::vector<value_id> uses) {
        auto const v = static_cast<value_id>(size.size());
        operations.push_back({std::move(uses), v});
        size.push_back((1 + pick.below(64)) * byte_count{1} << 14);
        return v;
    };
    value_id last = 0;
    for (std::uint32_t c = 0; c != cells; ++c) {
        std::vector<value_id> ends;
        for (std::uint32_t b = 0; b != branches; ++b) {
            value_id at = last;
            for (std::uint32_t k = 1 + pick.below(most); k != 0; --k) at = add({at});
            ends.push_back(at);
        }
        last = add(ends);
    }
    snapshot const p = sequence(
        operations.size(), size.size(), [&](step_id s) { return operations[s].uses; },
        [&](step_id s) { return std::vector<value_id>{operations[s].def}; });
    show(std::to_string(cells) + " cells of " + std::to_string(branches) + " branches",
         order_graph_of(p, {.bytes = size, .in_place = args.in_place}), args.limits);
}

constexpr char usage[] =
    "usage: bench_exact_order [--smoke] [--work N] [--in-place on|off] [FILE.onnx ...]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        arguments const args = read_arguments(count, words);
        std::printf("%-28s %6s %6s %6s %6s %9s %9s %10s %10s %10s\n", "", "nodes", "segments", "longest",
                    "searched", "sets", "ms", "file", "least", "bound");
        for (std::string const& file : args.files) {
#ifdef SUBLET_BENCH_READS_ONNX
            show_file(file, args);
#else
            throw std::runtime_error(file + ": this program was built without ONNX and reads no files");
#endif
        }
        if (!args.files.empty()) return 0;
        for (std::uint32_t const cells : {1u, 10u, 100u})
            for (std::uint32_t const branches : {2u, 4u, 8u, 12u})
                if (!args.is_smoke || (cells <= 10 && branches <= 4)) show_cells(cells, branches, 6, args);
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "exact_order: %s\n", e.what());
        return 2;
    }
}
