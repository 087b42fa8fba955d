// SPDX-License-Identifier: BSL-1.0

// modes [--count-only] [--most BYTES] [--csv] [--smoke] [FILE.onnx | FOLDER ...]: what the memory modes cost
// on networks; without files, on those of examples/models.
//
//     no_plan     every value has bytes of its own until the run ends
//     recycle     reference counts, on new and delete
//     pool        the same on a std::pmr::unsynchronized_pool_resource
//     arena       the plan
//
//     peak        most bytes of values at once, counted; no plan in this order goes below the bound
//     RSS         by how much the process grew from the first run on (Linux); what is freed late counts
//     allocs      while running
//     ms          of one run: the first, and the median of the others
//
// Every number of a row comes from processes that did nothing else: this program starts itself again, mode
// after mode, in rounds (`--one MODE FILE RUNS`). Networks above --most bytes without a plan (200 MB) are
// left out. Exit status: 1 if two modes end with different digests.
//
// --count-only runs nothing: the kernel does nothing, and blocks are addresses that no memory lies behind. So
// the peaks of a training network can be had on any machine:
//
//     bench_modes --count-only resnet50_b32_sgd.onnx

#include "../examples/plan_model/read_onnx.hpp"
#include "../examples/plan_model/run_network.hpp"
#include "measure.hpp"

#include <sublet/execution.hpp>
#include <sublet/planner.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory_resource>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/mman.h>

namespace {

using namespace sublet;
using plan_model::network;

enum mode_index { without_plan, recycling, pooling, planned, mode_count };
char const* const mode_names[] = {"no_plan", "recycle", "pool", "arena"};

struct measured {
    byte_count peak = 0, bound = 0;
    std::uint64_t allocations = 0, digest = 0;
    double mebibytes = 0;             // that the process grew by
    std::vector<double> first, later; // milliseconds
};

double in_mebibytes(byte_count bytes) { return static_cast<double>(bytes) / (1 << 20); }

/// Calls `see` with the mode, and where its storage comes from.
template <class See>
void with_mode(mode_index index, snapshot const& program, plan_options const& options, See see)
{
    // Pools are made for small blocks; here, for as large ones as the implementation takes.
    std::pmr::unsynchronized_pool_resource pool({0, std::size_t{1} << 30});
    switch (index) {
    case without_plan: return see(no_plan{}, memory_source{});
    case recycling: return see(recycle{}, memory_source{});
    case pooling: return see(recycle{}, memory_source{&pool});
    default: return see(arena{plan_memory(program, options).plan}, memory_source{});
    }
}

// --- counting only --------------------------------------------------------------------------------------

/// Addresses that no memory lies behind: to touch them ends the program.
struct address_space {
    void* allocate(std::size_t bytes, std::size_t /* a page is aligned enough */)
    {
        void* const block =
            mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (block == MAP_FAILED) throw std::bad_alloc();
        return block;
    }
    void deallocate(void* block, std::size_t bytes, std::size_t) { munmap(block, bytes); }
};

struct counted {
    byte_count peak[mode_count] = {};
    byte_count bound = 0, external = 0;
};

counted count(network const& net)
{
    counted result;
    snapshot const program = as_program(net);
    plan_options const options = as_options(net);
    address_space nowhere;
    for (mode_index mode : {without_plan, recycling, planned})
        with_mode(mode, program, options, [&](auto const& chosen, memory_source) {
            cpu_executor run(program, options, chosen, [](cpu_call const&) {}, {.upstream = &nowhere});
            byte_count external = 0;
            for (value_id v = 0; v != net.values.size(); ++v) {
                auto const& its = net.values[v];
                if (its.role == value_role::input) (void)run.input(v);
                if (!has_role(its.role, value_role::external) || its.bytes == 0) continue;
                auto const bytes = its.bytes == no_size ? 1 : static_cast<std::size_t>(its.bytes);
                run.bind(v, std::span(static_cast<std::byte*>(nowhere.allocate(bytes, 1)), bytes));
                external += bytes;
            }
            run_report const report = run.run();
            result.peak[mode] = report.run.bytes.peak;
            result.bound = report.lower_bound;
            result.external = external;
        });
    return result;
}

double percent_less(byte_count few, byte_count many)
{
    return many == 0 ? 0 : 100 * (1 - static_cast<double>(few) / static_cast<double>(many));
}

void print_counts(std::vector<std::string> const& files, bool as_csv)
{
    std::printf(as_csv ? "%s,%s,%s,%s,%s,%s,%s,%s\n" : "%-28s %10s %10s %10s %10s %8s %10s %8s\n", "model",
                "no_plan", "recycle", "arena", "bound", "less %", "caller's", "less %");
    for (std::string const& file : files) {
        counted const c = count(plan_model::read_onnx(file));
        byte_count const none = c.peak[without_plan], arena = c.peak[planned];
        std::printf(as_csv ? "%s,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f\n"
                           : "%-28s %10.2f %10.2f %10.2f %10.2f %8.2f %10.2f %8.2f\n",
                    std::filesystem::path(file).stem().c_str(), in_mebibytes(none),
                    in_mebibytes(c.peak[recycling]), in_mebibytes(arena), in_mebibytes(c.bound),
                    percent_less(arena, none), in_mebibytes(c.external),
                    percent_less(arena + c.external, none + c.external));
    }
    if (as_csv) return;
    std::puts(
        "MiB, counted. Less: the arena than no_plan; then both with the caller's own (weights, momenta, "
        "batch).\n"
        "Apache SINGA reports 37.41 % and 35.56 % for its graph, ResNet-50 training, batch 16 and 32 "
        "(pull request\n"
        "626). That is device memory of a whole process, with workspaces and a pool; here values are "
        "counted. These\n"
        "are two measures, and no comparison of the systems.");
}

// --- running, each mode in processes of its own -------------------------------------------------------

measured run(network const& net, mode_index mode, int runs)
{
    measured result;
    snapshot const program = as_program(net);
    plan_options const options = as_options(net);
    plan_model::external_storage external(net, 1);
    with_mode(mode, program, options, [&](auto const& chosen, memory_source upstream) {
        cpu_executor execute(program, options, chosen, synthetic_kernel{}, {.upstream = upstream});
        external.bind(execute); // so that it is there, and no part of what the run grows by
        bench::forget_peak();   // what an arena is has been allocated, and not been touched
        double const before = bench::process_mebibytes("VmRSS");
        for (int i = 0; i != runs; ++i) {
            give(execute, net, external);
            run_report report;
            double const ms = bench::milliseconds([&] { report = execute.run(); });
            (i == 0 ? result.first : result.later).push_back(ms);

            std::uint64_t const left = left_behind(execute, net, external);
            if (i != 0 && left != result.digest) throw std::runtime_error("two runs differ");
            result.digest = left;
            result.peak = report.run.bytes.peak;
            result.bound = report.lower_bound;
            result.allocations = report.run.allocations.total;
        }
        result.mebibytes = bench::process_mebibytes("VmHWM") - before;
    });
    return result;
}

mode_index mode_named(char const* name)
{
    for (int i = 0; i != mode_count; ++i)
        if (std::strcmp(name, mode_names[i]) == 0) return static_cast<mode_index>(i);
    throw std::runtime_error("no such mode: " + std::string(name));
}

using number = unsigned long long;

/// In a process of its own: what the other one reads.
void run_one(char const* mode, char const* file, int runs)
{
    measured const m = run(plan_model::read_onnx(file), mode_named(mode), runs);
    std::printf("%llu %llu %llu %llu %f %f", static_cast<number>(m.peak), static_cast<number>(m.bound),
                static_cast<number>(m.allocations), static_cast<number>(m.digest), m.mebibytes,
                m.first.at(0));
    for (double ms : m.later) std::printf(" %f", ms);
}

std::string shell_quoted(std::string const& word)
{
    std::string quoted = "'";
    for (char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + '\'';
}

void start_one(std::string const& self, mode_index mode, std::string const& file, int runs, measured& all)
{
    std::string const command = shell_quoted(self) + " --one " + mode_names[mode] + ' ' + shell_quoted(file) +
                                ' ' + std::to_string(runs);
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("this program cannot start itself again");
    number peak = 0, bound = 0, allocations = 0, digest = 0;
    double mebibytes = 0, ms = 0;
    int const read = std::fscanf(pipe, "%llu %llu %llu %llu %lf %lf", &peak, &bound, &allocations, &digest,
                                 &mebibytes, &ms);
    all.first.push_back(ms);
    while (std::fscanf(pipe, "%lf", &ms) == 1) all.later.push_back(ms);
    if (pclose(pipe) != 0 || read != 6) throw std::runtime_error(file + ": cannot be run: " + command);
    all.peak = peak;
    all.bound = bound;
    all.allocations = allocations;
    all.digest = digest;
    all.mebibytes = std::max(all.mebibytes, mebibytes);
}

/// Geometric means of what one mode needs by what another needs.
struct comparison {
    mode_index one, other;
    double log_peak = 0, log_rss = 0, log_ms = 0;
};

struct wishes {
    std::vector<std::string> files;
    byte_count most = 200'000'000;
    int rounds = 4, runs = 6;
    bool count_only = false, as_csv = false, smoke = false;
};

/// Whether all modes agree on all networks.
bool run_all(std::string const& self, wishes const& asked)
{
    std::printf(asked.as_csv ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n"
                             : "%-24s %-8s %9s %9s %9s %7s %9s %9s %8s %17s\n",
                "model", "mode", "peak MiB", "bound MiB", "RSS MiB", "allocs", "first ms", "ms", "spread %",
                "digest");
    comparison pairs[] = {
        {recycling, without_plan}, {pooling, recycling}, {planned, recycling}, {planned, without_plan}};
    int networks = 0, left_out = 0;
    bool agree = true;
    for (std::string const& file : asked.files) {
        byte_count const most = count(plan_model::read_onnx(file)).peak[without_plan];
        if (most == 0 || most > asked.most) {
            ++left_out;
            continue;
        }
        measured rows[mode_count];
        for (int round = 0; round != asked.rounds; ++round)
            for (int i = 0; i != mode_count; ++i)
                start_one(self, static_cast<mode_index>(i), file, asked.runs, rows[i]);
        for (measured const& m : rows) {
            bench::timing const ms = bench::timing_of(m.later);
            std::printf(asked.as_csv ? "%s,%s,%.3f,%.3f,%.1f,%llu,%.2f,%.2f,%.0f,%016llx\n"
                                     : "%-24s %-8s %9.2f %9.2f %9.1f %7llu %9.2f %9.2f %8.0f  %016llx\n",
                        std::filesystem::path(file).stem().c_str(), mode_names[&m - rows],
                        in_mebibytes(m.peak), in_mebibytes(m.bound), m.mebibytes,
                        static_cast<number>(m.allocations), bench::timing_of(m.first).median, ms.median,
                        100 * ms.spread(), static_cast<number>(m.digest));
            agree = agree && m.digest == rows[0].digest;
        }
        std::fflush(stdout);
        for (comparison& c : pairs) {
            auto log_of = [&](auto what) { return std::log(what(rows[c.one]) / what(rows[c.other])); };
            c.log_peak += log_of([](measured const& m) { return static_cast<double>(m.peak); });
            c.log_rss += log_of([](measured const& m) { return std::max(m.mebibytes, 0.01); });
            c.log_ms += log_of([](measured const& m) { return bench::timing_of(m.later).median; });
        }
        ++networks;
    }
    if (!asked.as_csv && networks != 0) {
        std::printf("\n%d networks, %d left out; geometric means:\n%-20s %8s %8s %8s\n", networks, left_out,
                    "", "peak", "RSS", "ms");
        for (comparison const& c : pairs)
            std::printf("%-20s %8.3f %8.3f %8.3f\n",
                        (std::string(mode_names[c.one]) + " / " + mode_names[c.other]).c_str(),
                        std::exp(c.log_peak / networks), std::exp(c.log_rss / networks),
                        std::exp(c.log_ms / networks));
        std::puts(
            "Synthetic kernels only read and write memory: these times are an upper bound of the effect.");
    }
    if (!agree) std::fputs("modes: two modes end with different digests\n", stderr);
    return agree;
}

wishes read_words(int count, char** words)
{
    wishes asked;
    auto add = [&](std::string const& path) {
        if (!std::filesystem::is_directory(path)) return asked.files.push_back(path);
        auto const before = static_cast<std::ptrdiff_t>(asked.files.size());
        for (auto const& entry : std::filesystem::directory_iterator(path))
            if (entry.path().extension() == ".onnx") asked.files.push_back(entry.path().string());
        std::sort(asked.files.begin() + before, asked.files.end());
    };
    for (int i = 1; i != count; ++i) {
        std::string const word = words[i];
        if (word == "--count-only") asked.count_only = true;
        else if (word == "--csv") asked.as_csv = true;
        else if (word == "--smoke") asked.smoke = true;
        else if (word == "--most" && i + 1 != count) asked.most = std::stoull(words[++i]);
        else if (word[0] != '-') add(word);
        else throw std::invalid_argument(word);
    }
    std::string const bundled = SUBLET_BUNDLED_MODELS;
    if (asked.smoke) {
        asked.files = {bundled + "/light_shufflenet.onnx"};
        asked.rounds = 1;
        asked.runs = 2;
    } else if (asked.files.empty()) {
        add(bundled);
    }
    return asked;
}

} // namespace

int main(int count, char** words)
{
    try {
        if (count == 5 && std::strcmp(words[1], "--one") == 0)
            return run_one(words[2], words[3], std::stoi(words[4])), 0;
        wishes const asked = read_words(count, words);
        if (asked.count_only || asked.smoke) print_counts(asked.files, asked.as_csv);
        return asked.count_only || run_all(words[0], asked) ? 0 : 1;
    } catch (std::invalid_argument const&) {
        std::fputs("usage: modes [--count-only] [--most BYTES] [--csv] [--smoke] [FILE.onnx | FOLDER ...]\n",
                   stderr);
    } catch (std::exception const& e) {
        std::fprintf(stderr, "modes: %s\n", e.what());
    }
    return 2;
}
