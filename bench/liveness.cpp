// SPDX-License-Identifier: BSL-1.0

// liveness [--smoke] [--rounds N] [--policy P] [--growth] [FILE ...]: what liveness costs on the control-flow
// graphs of files (test/cfg_file.hpp has the format), and what it finds there. Without files: all of
// $SUBLET_DATA/cfg. Uses are early, except for maxlive_sum_held; the sets are the same with ordinary ones.
//
// A time is that of all functions of a file, the best of N rounds, from a program to its sets: making the
// snapshot counts. --policy runs one alone (snapshot, worklist, loop_forest, per_value, automatic); its
// instructions, the same on every run, are those of
//
//     valgrind --tool=callgrind --toggle-collect='*one_round*' bench_liveness --policy P --rounds 1 FILE
//
// and callgrind_annotate tells where they went. --growth grows a chain of blocks: each defines a value that
// the next but one uses, and of the "long" chain every eighth value is used in the last block too.

#include "cfg_file.hpp"
#include "max_live.hpp"
#include "measure.hpp"

#include <sublet/analysis/liveness.hpp>
#include <sublet/graph/snapshot.hpp>

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
#include <vector>

namespace {

using namespace sublet;
using cfg_file::function;
using early = cfg_file::as_program<touch_kind::use_early>;
using held = cfg_file::as_program<touch_kind::use>;
using functions = std::vector<function>;

using question = std::size_t (*)(function const&);

std::size_t sum_over(functions const& all, question of)
{
    std::size_t sum = 0;
    for (function const& f : all) sum += of(f);
    return sum;
}

/// What is timed. Never inlined: a profiler finds it by its name.
[[gnu::noinline]] std::size_t one_round(functions const& all, question work) { return sum_over(all, work); }

double best_of(unsigned rounds, functions const& all, question work)
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

std::size_t steps_of(function const& f) { return snapshot(early{f}).steps(); }

template <liveness_policy Policy>
std::size_t solve(function const& f)
{
    return liveness(early{f}, {.policy = Policy}).nodes();
}
template <liveness_policy Policy>
std::size_t live_in_of(function const& f)
{
    return live_in_sum(liveness(early{f}, {.policy = Policy}));
}

template <class P>
std::size_t max_live_of(function const& f)
{
    snapshot const program(P{f});
    return max_live(program, liveness(program));
}

/// What is measured, and a sum over all functions that shows what it found.
struct way {
    char const* name;
    question work;
    char const* found;
    question find;
};

template <liveness_policy Policy>
constexpr way by_policy(char const* name, char const* found)
{
    return {name, solve<Policy>, found, live_in_of<Policy>};
}

way const ways[] = {
    {"snapshot", steps_of, "steps", steps_of},
    by_policy<liveness_policy::worklist>("worklist", "sum_live_in_worklist"),
    by_policy<liveness_policy::loop_forest>("loop_forest", "sum_live_in_loop_forest"),
    by_policy<liveness_policy::per_value>("per_value", "sum_live_in_per_value"),
    by_policy<liveness_policy::automatic>("automatic", "sum_live_in_automatic"),
};

void tell(char const* key, std::size_t number) { std::printf("%s: %zu\n", key, number); }

void run(functions const& all, std::string const& only, unsigned rounds)
{
    if (only.empty()) {
        tell("functions", all.size());
        tell("blocks", sum_over(all, [](function const& f) { return f.blocks(); }));
        tell("values", sum_over(all, [](function const& f) { return f.values; }));
        tell("sum_live_in", sum_over(all, live_in_of<liveness_policy::automatic>));
        tell("maxlive_sum", sum_over(all, max_live_of<early>));
        tell("maxlive_sum_held", sum_over(all, max_live_of<held>));
    }
    for (way const& w : ways) {
        if (!only.empty() && only != w.name) continue;
        try {
            tell(w.found, sum_over(all, w.find));
            std::printf("ms_%s: %.2f\n", w.name, best_of(rounds, all, w.work));
        } catch (precondition_error const&) {
            std::printf("ms_%s: not SSA\n", w.name);
        }
        std::fflush(stdout);
    }
}

/// Value n is defined by block n and used by the next but one; the long ones also by the last.
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
                s.def(n);
                for (value_id v = 0; n == last && v != last; ++v)
                    if (is_long(v)) s.use_early(v);
            });
    }
    /// What the sets take: a bit a node and value, or a number for each value in each; lists are made twice,
    /// by value and by node.
    double gibibytes(liveness_policy policy) const
    {
        double const n = static_cast<double>(blocks);
        double const bits = 2 * n * n / 8;
        double const lists = 2 * 2 * 4 * (2 * n + (has_long ? n * n / 16 : 0));
        double const bytes = policy == liveness_policy::per_value   ? lists
                             : policy == liveness_policy::automatic ? std::min(bits, lists)
                                                                    : bits;
        return bytes / (1 << 30);
    }
};

struct named_policy {
    char const* name;
    liveness_policy policy;
};
named_policy const policies[] = {{"worklist", liveness_policy::worklist},
                                 {"loop_forest", liveness_policy::loop_forest},
                                 {"per_value", liveness_policy::per_value},
                                 {"automatic", liveness_policy::automatic}};

double machine_gibibytes()
{
    std::ifstream info("/proc/meminfo");
    for (std::string line; std::getline(info, line);)
        if (line.rfind("MemTotal:", 0) == 0) return std::stod(line.substr(9)) / (1 << 20);
    return 4;
}

/// The rows of one chain; "x best" is the time of `automatic` as a multiple of the best of the others.
void grow(chain const& c, unsigned rounds)
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
        bench::forget_peak();
        double const before = bench::process_mebibytes("VmRSS");
        double ms = 0;
        std::size_t sum = 0;
        for (unsigned i = 0; i != rounds; ++i) {
            live_sets live;
            double const once = bench::milliseconds([&] { live = liveness(program, {.policy = p.policy}); });
            ms = i == 0 ? once : std::min(ms, once);
            sum = live_in_sum(live);
        }
        if (first_sum == unknown) first_sum = sum;
        if (sum != first_sum) throw std::runtime_error("two policies find different sets");
        std::printf(" %10.1f %8.0f", ms, bench::process_mebibytes("VmHWM") - before);
        if (p.policy != liveness_policy::automatic) best = best == 0 ? ms : std::min(best, ms);
        else if (best > 0) std::printf(" %8.2f", ms / best);
        std::puts("");
        std::fflush(stdout);
    }
}

char const* const tiny = "F countdown 3 4 1 3 5\n"
                         "B 0 1\nI 3 0\n"
                         "B 1 1 2\nH 1 0:0 1:2\nI 2 1\nI - 2\n"
                         "B 2\nI - 3\n";

} // namespace

int main(int count, char** words)
{
    try {
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
                rounds = static_cast<unsigned>(std::stoul(words[++i]));
            } else if (std::strcmp(words[i], "--policy") == 0 && i + 1 != count) {
                only = words[++i];
            } else if (words[i][0] == '-') {
                std::fputs("usage: liveness [--smoke] [--rounds N] [--policy P] [--growth] [FILE ...]\n",
                           stderr);
                return 2;
            } else {
                files.emplace_back(words[i]);
            }
        }
        auto has_its_name = [&](way const& w) { return only == w.name; };
        if (!only.empty() && std::none_of(std::begin(ways), std::end(ways), has_its_name))
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
        if (smoke) run(cfg_file::functions_in(tiny, "tiny"), only, 1);
        for (std::string const& file : files) {
            std::printf("file: %s\n", file.c_str());
            run(cfg_file::functions_of(file), only, rounds);
        }
        if (growth || smoke) {
            std::printf("%-6s %8s %-12s %10s %8s %8s\n", "chain", "blocks", "policy", "ms", "MiB", "x best");
            for (std::size_t const blocks : {smoke ? 20u : 20'000u, smoke ? 200u : 200'000u}) {
                grow({"short", blocks, false}, rounds);
                grow({"long", blocks, true}, rounds);
            }
        }
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "liveness: %s\n", e.what());
        return 2;
    }
}
