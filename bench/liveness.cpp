// SPDX-License-Identifier: BSL-1.0

// liveness [--smoke] [--rounds N] [--policy P] [--growth] [FILE ...]: the cost of liveness, and of colouring
// by it, on the control-flow graphs of files (test/cfg_file.hpp has the format), and their results. Without
// files: all of $SUBLET_DATA/cfg. Uses are early, except for maxlive_sum_held.
//
// A time is the sum over all functions of a file, the best of N rounds, from a program to the result,
// including the snapshot. Only ms_color begins with a snapshot and its live sets.
//
// --policy runs one alone (snapshot, worklist, loop_forest, per_value, automatic, color,
// color_end_to_end). Its instructions, the same on every run, are counted by
//
//     valgrind --tool=callgrind --toggle-collect='*one_round*' bench_liveness --policy P --rounds 1 FILE
//
// and listed by callgrind_annotate.
//
// --growth solves a chain of blocks: each defines a value that the next but one uses; in the "long" chain the
// last block also uses every eighth value.

#include "cfg_file.hpp"
#include "max_live.hpp"
#include "measure.hpp"

#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/interference.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/sharing/color_graph.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace sublet;
using cfg_file::function;
using early = cfg_file::as_program<touch::access::use_early>;
using held = cfg_file::as_program<touch::access::use>;

struct subject {
    function source;
    snapshot program; // with early uses
    live_sets live;
};
using subjects = std::vector<subject>;
using metric = std::size_t (*)(subject const&);

subjects with_liveness(std::vector<function> functions)
{
    subjects all;
    for (function& f : functions) {
        snapshot program(early{f});
        live_sets live = liveness(program);
        all.push_back({std::move(f), std::move(program), std::move(live)});
    }
    return all;
}

std::size_t sum_over(subjects const& all, metric of)
{
    std::size_t sum = 0;
    for (subject const& s : all) sum += of(s);
    return sum;
}

/// The timed function. Never inlined: a profiler finds it by its name.
[[gnu::noinline]] std::size_t one_round(subjects const& all, metric work) { return sum_over(all, work); }

double best_of(unsigned rounds, subjects const& all, metric work)
{
    double best = 0;
    for (unsigned i = 0; i != rounds; ++i) {
        double const ms = bench::milliseconds([&] { one_round(all, work); });
        best = i == 0 ? ms : std::min(best, ms);
    }
    return best;
}

std::size_t live_in_sum(live_sets const& live)
{
    std::size_t sum = 0;
    for (node_id n = 0; n != live.nodes(); ++n) sum += live.live_in_count(n);
    return sum;
}

template <liveness_options::method Policy>
live_sets solve(subject const& s)
{
    return liveness(early{s.source}, {.policy = Policy});
}

/// A benchmark, and a sum over all functions that shows its result.
struct benchmark {
    char const* name;
    bool needs_ssa;
    metric work;
    char const* found;
    metric find;
};

template <liveness_options::method Policy>
constexpr benchmark by_policy(char const* name, char const* found, bool needs_ssa = false)
{
    return {name, needs_ssa, [](subject const& s) { return solve<Policy>(s).nodes(); }, found,
            [](subject const& s) { return live_in_sum(solve<Policy>(s)); }};
}

std::size_t edges_of(subject const& s) { return std::size_t{interference(s.program, s.live).edges()}; }
std::size_t steps_of(subject const& s) { return snapshot(early{s.source}).steps(); }
std::size_t colors_of(subject const& s) { return color(s.program, s.live).plan.slots; }
std::size_t colors_end_to_end(subject const& s) { return color(early{s.source}).plan.slots; }

benchmark const benchmarks[] = {
    {"snapshot", false, steps_of, "steps", steps_of},
    by_policy<liveness_options::method::worklist>("worklist", "sum_live_in_worklist"),
    by_policy<liveness_options::method::loop_forest>("loop_forest", "sum_live_in_loop_forest", true),
    by_policy<liveness_options::method::per_value>("per_value", "sum_live_in_per_value"),
    by_policy<liveness_options::method::automatic>("automatic", "sum_live_in_automatic"),
    {"color", true, colors_of, "colors_sum", colors_of},
    {"color_end_to_end", true, colors_end_to_end, "colors_sum_end_to_end", colors_end_to_end},
};

void print_metric(char const* key, std::size_t number) { std::printf("%s: %zu\n", key, number); }

void run(subjects const& all, std::string const& only, unsigned rounds)
{
    bool const is_ssa =
        sum_over(all, [](subject const& s) -> std::size_t { return check_ssa(s.program) ? 0 : 1; }) == 0;
    if (only.empty()) {
        print_metric("functions", all.size());
        print_metric("blocks", sum_over(all, [](subject const& s) { return s.program.nodes(); }));
        print_metric("values", sum_over(all, [](subject const& s) { return s.program.values(); }));
        print_metric("sum_live_in", sum_over(all, [](subject const& s) { return live_in_sum(s.live); }));
        print_metric("maxlive_sum",
                     sum_over(all, [](subject const& s) { return max_live(s.program, s.live); }));
        print_metric("maxlive_sum_held", sum_over(all, [](subject const& s) {
                         return max_live(snapshot(held{s.source}), s.live);
                     }));
        print_metric("interference_edges", sum_over(all, edges_of));
    }
    for (benchmark const& w : benchmarks) {
        if (!only.empty() && only != w.name) continue;
        if (w.needs_ssa && !is_ssa) {
            std::printf("ms_%s: not SSA\n", w.name);
            continue;
        }
        print_metric(w.found, sum_over(all, w.find));
        std::printf("ms_%s: %.2f\n", w.name, best_of(rounds, all, w.work));
        std::fflush(stdout);
    }
}

/// Value n is defined by block n and used by the next but one; in the long chain every eighth also by the
/// last.
struct chain {
    char const* name;
    std::size_t blocks;
    bool has_long;

    bool is_long(std::size_t v) const { return has_long && v % 8 == 0; }
    snapshot program() const
    {
        node_id const last = static_cast<node_id>(blocks - 1);
        node_id next = 0;
        return flow(
            blocks, blocks,
            [&](node_id n) {
                next = n + 1;
                return std::span(&next, n == last ? 0 : 1);
            },
            [&](node_id n, effect_sink& s) {
                if (n >= 2) s.use_early(n - 2);
                s.def(+n);
                for (value_id v = 0; n == last && +v != last; ++v)
                    if (is_long(v)) s.use_early(v);
            });
    }
    /// Memory of the sets: one bit per node and value, or one number per value in each list; lists exist
    /// twice, by value and by node.
    double gibibytes(liveness_options::method policy) const
    {
        double const n = static_cast<double>(blocks);
        double const bits = 2 * n * n / 8;
        double const lists = 2 * 2 * 4 * (2 * n + (has_long ? n * n / 16 : 0));
        double const bytes = policy == liveness_options::method::per_value   ? lists
                             : policy == liveness_options::method::automatic ? std::min(bits, lists)
                                                                             : bits;
        return bytes / (1 << 30);
    }
};

struct named_policy {
    char const* name;
    liveness_options::method policy;
};
named_policy const policies[] = {{"worklist", liveness_options::method::worklist},
                                 {"loop_forest", liveness_options::method::loop_forest},
                                 {"per_value", liveness_options::method::per_value},
                                 {"automatic", liveness_options::method::automatic}};

double machine_gibibytes()
{
    std::ifstream info("/proc/meminfo");
    for (std::string line; std::getline(info, line);)
        if (line.rfind("MemTotal:", 0) == 0) return std::stod(line.substr(9)) / (1 << 20);
    return 4;
}

/// The rows of one chain; "x best" is the time of `automatic` as a multiple of the best of the others.
/// Benchmarks of a second or more are not repeated.
void measure_growth(chain const& c, unsigned rounds)
{
    snapshot const program = c.program();
    constexpr std::size_t unknown = ~std::size_t{0};
    double best = 0;
    std::size_t first_sum = unknown;
    for (named_policy const& p : policies) {
        std::printf("%-6s %8zu %-12s", c.name, c.blocks, p.name);
        if (double const needed = c.gibibytes(p.policy); needed > machine_gibibytes() / 2) {
            std::printf(" needs %.0f GiB\n", needed);
            continue;
        }
        bench::reset_peak_rss();
        double const before = bench::process_mebibytes("VmRSS");
        double ms = 0;
        std::size_t sum = 0;
        for (unsigned i = 0; i == 0 || (i < rounds && ms < 1000); ++i) {
            live_sets live;
            double const once = bench::milliseconds([&] { live = liveness(program, {.policy = p.policy}); });
            ms = i == 0 ? once : std::min(ms, once);
            sum = live_in_sum(live);
        }
        if (first_sum == unknown) first_sum = sum;
        if (sum != first_sum) throw std::runtime_error("two policies find different sets");
        std::printf(" %10.1f %8.0f", ms, bench::process_mebibytes("VmHWM") - before);
        if (p.policy != liveness_options::method::automatic) best = best == 0 ? ms : std::min(best, ms);
        else if (best > 0) std::printf(" %8.2f", ms / best);
        std::puts("");
        std::fflush(stdout);
    }
}

char const* const tiny = "F countdown 3 4 1 3 5\n"
                         "B 0 1\nI 3 0\n"
                         "B 1 1 2\nH 1 0:0 1:2\nI 2 1\nI - 2\n"
                         "B 2\nI - 3\n";

constexpr char usage[] = "usage: bench_liveness [--smoke] [--rounds N] [--policy P] [--growth] [FILE ...]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        std::vector<std::string> files;
        std::string only;
        unsigned rounds = 5;
        bool smoke = false, growth = false;
        for (int i = 1; i != count; ++i) {
            if (std::strcmp(words[i], "--smoke") == 0) {
                smoke = true;
            } else if (std::strcmp(words[i], "--growth") == 0) {
                growth = true;
            } else if (std::strcmp(words[i], "--rounds") == 0 && i + 1 != count) {
                rounds = bench::number_in(words[++i]);
            } else if (std::strcmp(words[i], "--policy") == 0 && i + 1 != count) {
                only = words[++i];
            } else if (words[i][0] == '-') {
                bench::refuse_option(words[i]);
            } else {
                files.emplace_back(words[i]);
            }
        }
        auto has_its_name = [&](benchmark const& w) { return only == w.name; };
        if (!only.empty() && std::none_of(std::begin(benchmarks), std::end(benchmarks), has_its_name))
            throw std::runtime_error("there is no policy " + only);
        char const* const data = std::getenv("SUBLET_DATA");
        if (files.empty() && !smoke && !growth) {
            if (data == nullptr || *data == '\0') {
                std::puts("liveness: no files are given, and SUBLET_DATA is empty");
                return 0;
            }
            for (auto const& entry : std::filesystem::directory_iterator(std::string(data) + "/cfg"))
                files.push_back(entry.path().string());
            std::sort(files.begin(), files.end());
        }
        if (smoke) run(with_liveness(cfg_file::functions_in(tiny, "tiny")), only, 1);
        for (std::string const& file : files) {
            std::printf("file: %s\n", file.c_str());
            run(with_liveness(cfg_file::functions_of(file)), only, rounds);
        }
        if (growth || smoke) {
            std::printf("%-6s %8s %-12s %10s %8s %8s\n", "chain", "blocks", "policy", "ms", "MiB", "x best");
            for (std::size_t const blocks : {smoke ? 20u : 20'000u, smoke ? 200u : 200'000u}) {
                measure_growth({"short", blocks, false}, rounds);
                measure_growth({"long", blocks, true}, rounds);
            }
        }
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "liveness: %s\n", e.what());
        return 2;
    }
}
