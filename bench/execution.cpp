// SPDX-License-Identifier: BSL-1.0

// execution [--rounds N] [--width N] [--most BYTES] [--csv] [--smoke] [NETWORK ...]
// execution --count-only [--csv] [NETWORK ...]
// execution --waits [--width N] [--csv] [NETWORK ...]
// execution --compare FILE.onnx [NETWORK]
//
// The cost of memory modes and executors (B0 to B6, see execution_cases.hpp) on whole networks:
//
//     peak        peak bytes of values, counted; the bound is the minimum of all plans in this order
//     RSS         growth of the process from the first run on (Linux); memory that is freed late counts
//     allocs      allocations for values, in a run after the first
//     heap        calls of operator new then, for values or anything else
//     plan ms     to plan and to prove the plan
//     ms          of one run: the first, and the median of the others
//     cpu ms      the same in processor time, of all threads together
//     ns/step     of a run with empty kernels: median
//
// A NETWORK is made in code, resnet50, densenet121, inception or transformer, and trained (forward, backward
// and an update of every parameter) at batch size 1 unless given otherwise:
//
//     resnet50:16     at batch size 16     :forward   not trained     :operand   a relu keeps its operand
//
// or a file or folder of ONNX, if this program was built with its reader. Every number of a row is measured
// in a process of its own: this program starts itself again for each case, in rounds. Networks that need more
// than --most bytes without a plan (2 GB) are skipped. Exit status: 1 if the digests of two cases differ.
//
// --count-only runs empty kernels on blocks without memory, to count peaks at any batch size. External bytes
// are weights, momenta, statistics and the batch itself.
//
// --waits plans within 100 to 150 % of the fewest bytes of a plan with hand-offs for four streams, and prints
// how many steps wait for storage then, and the waits between streams in a run.
//
// --compare compares a network made in code with a trace of the same network, by type of operation.

#include "execution_cases.hpp"
#include "execution_counts.hpp"
#include "measure.hpp"
#include "read_network.hpp"
#include "wait_curve.hpp"

#include <sublet/plan_memory.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

// --- calls of operator new --------------------------------------------------------------------------------

namespace {

std::atomic<std::uint64_t> blocks_from_heap{0};

void* from_heap(std::size_t bytes, std::size_t alignment)
{
    blocks_from_heap.fetch_add(1, std::memory_order_relaxed);
    std::size_t const whole = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    if (void* const block = std::aligned_alloc(alignment, whole)) return block;
    throw std::bad_alloc();
}

} // namespace

void* operator new(std::size_t bytes) { return from_heap(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    return from_heap(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }

namespace {

using namespace sublet;
using bench::execution_cases, bench::execution_case, bench::case_kind;
using bench::in_mebibytes, bench::name_of, bench::network, bench::read_network;

constexpr std::size_t case_count = std::size(execution_cases);

// --- running, each case in processes of its own -----------------------------------------------------------

struct measured {
    byte_count peak = 0, bound = 0;
    std::uint64_t allocations = 0, heap = 0, waits = 0, digest = 0;
    double mebibytes = 0;                   // growth of the process
    std::vector<double> plan, idle;         // milliseconds, nanoseconds per step
    std::vector<double> first, later, work; // milliseconds; of processor time
};

measured run(network const& net, case_kind kind, std::size_t width, int runs)
{
    measured result;
    plan_model::external_storage external(net, 1);
    bench::with_executor<plan_model::network_kernel>(kind, net, width, [&](auto& execute, auto const& ready) {
        result.plan.push_back(ready.plan_ms);
        external.bind(execute);  // touches the external storage, so that it is no part of the growth
        bench::reset_peak_rss(); // arenas have been allocated, and not been touched
        double const before = bench::process_mebibytes("VmRSS");
        for (int i = 0; i != runs; ++i) {
            set_inputs(execute, net, external);
            run_report report;
            std::uint64_t const blocks = blocks_from_heap;
            std::clock_t const begin = std::clock();
            double const ms = bench::milliseconds([&] { report = execute.run(); });
            result.heap = blocks_from_heap - blocks;
            (i == 0 ? result.first : result.later).push_back(ms);
            if (i != 0)
                result.work.push_back(1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);

            std::uint64_t const left = result_digest(execute, net, external);
            if (i != 0 && left != result.digest) throw std::runtime_error("two runs differ");
            result.digest = left;
            result.peak = report.run.bytes.peak;
            result.bound = report.lower_bound;
            result.allocations = report.run.allocations.total;
            result.waits = report.waits;
        }
        result.mebibytes = bench::process_mebibytes("VmHWM") - before;
    });
    bench::with_executor<bench::empty_kernel>(kind, net, width, [&](auto& execute, auto const&) {
        set_inputs(execute, net, external);
        bool const is_given = std::none_of(net.values.begin(), net.values.end(), [](auto const& v) {
            return v.role == value_role::input; // inputs would have to be set before every run
        });
        for (int i = 0; i != runs; ++i) {
            run_report report;
            int const times = is_given && runs > 2 ? 20 : 1;
            if (!is_given) set_inputs(execute, net, external);
            double const ms = bench::milliseconds([&] {
                for (int k = 0; k != times; ++k) report = execute.run();
            });
            auto const steps = static_cast<double>(report.steps * static_cast<std::size_t>(times));
            if (i != 0) result.idle.push_back(1e6 * ms / steps);
        }
    });
    return result;
}

using number = unsigned long long;

/// Runs one case in this process and prints what the parent process reads.
void run_one(char const* index, char const* word, std::size_t width, int runs)
{
    measured const m = run(read_network(word), execution_cases[std::stoul(index)].kind, width, runs);
    std::printf("%llu %llu %llu %llu %llu %llu %f %f %f %f %f", static_cast<number>(m.peak),
                static_cast<number>(m.bound), static_cast<number>(m.allocations), static_cast<number>(m.heap),
                static_cast<number>(m.waits), static_cast<number>(m.digest), m.mebibytes, m.plan.at(0),
                bench::timing_of(m.idle).median, bench::timing_of(m.work).median, m.first.at(0));
    for (double ms : m.later) std::printf(" %f", ms);
}

std::string shell_quoted(std::string const& word)
{
    std::string quoted = "'";
    for (char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + '\'';
}

void start_one(std::string const& self, std::size_t index, std::string const& word, std::size_t width,
               int runs, measured& all)
{
    std::string const command = shell_quoted(self) + " --one " + std::to_string(index) + ' ' +
                                shell_quoted(word) + ' ' + std::to_string(width) + ' ' + std::to_string(runs);
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("this program cannot start itself again");
    number peak = 0, bound = 0, allocations = 0, heap = 0, waits = 0, digest = 0;
    double mebibytes = 0, plan = 0, idle = 0, work = 0, ms = 0;
    int const read = std::fscanf(pipe, "%llu %llu %llu %llu %llu %llu %lf %lf %lf %lf %lf", &peak, &bound,
                                 &allocations, &heap, &waits, &digest, &mebibytes, &plan, &idle, &work, &ms);
    all.first.push_back(ms);
    while (std::fscanf(pipe, "%lf", &ms) == 1) all.later.push_back(ms);
    if (pclose(pipe) != 0 || read != 11) throw std::runtime_error(word + ": cannot be run: " + command);
    all.peak = peak;
    all.bound = bound;
    all.allocations = allocations;
    all.heap = heap;
    all.waits = waits;
    all.digest = digest;
    all.mebibytes = std::max(all.mebibytes, mebibytes);
    all.plan.push_back(plan);
    all.idle.push_back(idle);
    all.work.push_back(work);
}

struct arguments {
    std::vector<std::string> words;
    byte_count most = 2'000'000'000;
    std::size_t width = 0; ///< 0: 2, or 4 with --waits
    int rounds = 4, runs = 6;
    bool count_only = false, waits = false, as_csv = false, smoke = false;
    std::string compared;
};

/// Geometric means of the ratio of two cases.
struct comparison {
    case_kind one, other;
    double log_peak = 0, log_rss = 0, log_ms = 0, log_work = 0;
};

/// Returns whether all cases have the same digest on all networks.
bool run_all(std::string const& self, arguments const& args)
{
    std::printf(args.as_csv ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n"
                            : "%-24s %-2s %-9s %9s %9s %9s %6s %6s %6s %8s %8s %8s %5s %8s %8s %17s\n",
                "network", "", "case", "peak MiB", "bound MiB", "RSS MiB", "allocs", "heap", "waits",
                "plan ms", "first ms", "ms", "+- %", "cpu ms", "ns/step", "digest");
    comparison pairs[] = {{case_kind::recycle, case_kind::no_plan}, {case_kind::pooled, case_kind::recycle},
                          {case_kind::arena, case_kind::recycle},   {case_kind::arena, case_kind::no_plan},
                          {case_kind::threads, case_kind::arena},   {case_kind::any_order, case_kind::arena}};
    int networks = 0, left_out = 0;
    bool agree = true;
    for (std::string const& word : args.words) {
        network const net = read_network(word);
        plan_options naive_options = as_options(net);
        naive_options.in_place = naive_options.check = false;
        byte_count const most = plan_memory(as_program(net), naive_options).report().naive_bytes;
        if (most == 0 || most > args.most) {
            ++left_out;
            continue;
        }
        measured rows[case_count];
        for (int round = 0; round != args.rounds; ++round)
            for (std::size_t i = 0; i != case_count; ++i)
                start_one(self, i, word, args.width, args.runs, rows[i]);
        for (measured const& m : rows) {
            execution_case const& entry = execution_cases[&m - rows];
            bench::timing const ms = bench::timing_of(m.later);
            std::printf(args.as_csv
                            ? "%s,%s,%s,%.3f,%.3f,%.1f,%llu,%llu,%llu,%.3f,%.2f,%.2f,%.0f,%.2f,%.1f,%016llx\n"
                            : "%-24s %-2s %-9s %9.2f %9.2f %9.1f %6llu %6llu %6llu %8.2f %8.2f %8.2f "
                              "%5.0f %8.2f %8.1f  %016llx\n",
                        name_of(word).c_str(), entry.label, entry.name, in_mebibytes(m.peak),
                        in_mebibytes(m.bound), m.mebibytes, static_cast<number>(m.allocations),
                        static_cast<number>(m.heap), static_cast<number>(m.waits),
                        bench::timing_of(m.plan).median, bench::timing_of(m.first).median, ms.median,
                        100 * ms.spread(), bench::timing_of(m.work).median, bench::timing_of(m.idle).median,
                        static_cast<number>(m.digest));
            agree = agree && m.digest == rows[0].digest;
        }
        std::fflush(stdout);
        for (comparison& c : pairs) {
            measured const& one = rows[static_cast<std::size_t>(c.one)];
            measured const& other = rows[static_cast<std::size_t>(c.other)];
            auto log_of = [&](auto what) { return std::log(what(one) / what(other)); };
            c.log_peak += log_of([](measured const& m) { return static_cast<double>(m.peak); });
            c.log_rss += log_of([](measured const& m) { return std::max(m.mebibytes, 0.01); });
            c.log_ms += log_of([](measured const& m) { return bench::timing_of(m.later).median; });
            c.log_work +=
                log_of([](measured const& m) { return std::max(bench::timing_of(m.work).median, 0.01); });
        }
        ++networks;
    }
    if (!args.as_csv && networks != 0) {
        std::printf("\n%d networks, %d left out; geometric means:\n%-22s %8s %8s %8s %8s\n", networks,
                    left_out, "", "peak", "RSS", "ms", "cpu ms");
        for (comparison const& c : pairs)
            std::printf("%-22s %8.3f %8.3f %8.3f %8.3f\n",
                        (std::string(execution_cases[static_cast<std::size_t>(c.one)].name) + " / " +
                         execution_cases[static_cast<std::size_t>(c.other)].name)
                            .c_str(),
                        std::exp(c.log_peak / networks), std::exp(c.log_rss / networks),
                        std::exp(c.log_ms / networks), std::exp(c.log_work / networks));
        std::puts(
            "Synthetic kernels only read and write memory: these times are an upper bound of the effect.\n"
            "The simulated device queues every command and runs it later: its times say nothing of a GPU.");
    }
    if (networks == 0) std::fprintf(stderr, "execution: no network was run, %d left out\n", left_out);
    if (!agree) std::fputs("execution: the digests of two cases differ\n", stderr);
    return agree;
}

arguments read_arguments(int count, char** words)
{
    arguments args;
    for (int i = 1; i != count; ++i) {
        std::string const word = words[i];
        bool const has_more = i + 1 != count;
        if (word == "--count-only") args.count_only = true;
        else if (word == "--waits") args.waits = true;
        else if (word == "--csv") args.as_csv = true;
        else if (word == "--smoke") args.smoke = true;
        else if (word == "--most" && has_more) args.most = bench::bytes_in(words[++i]);
        else if (word == "--rounds" && has_more)
            args.rounds = static_cast<int>(bench::number_in(words[++i], 1));
        else if (word == "--width" && has_more) args.width = bench::number_in(words[++i], 1);
        else if (word == "--compare" && has_more) args.compared = words[++i];
        else if (word[0] == '-') bench::refuse_option(word);
        else if (!std::filesystem::is_directory(word)) args.words.push_back(word);
        else {
            auto const before = static_cast<std::ptrdiff_t>(args.words.size());
            for (auto const& entry : std::filesystem::directory_iterator(word))
                if (entry.path().extension() == ".onnx") args.words.push_back(entry.path().string());
            std::sort(args.words.begin() + before, args.words.end());
        }
    }
    if (args.width == 0) args.width = args.waits ? 4 : 2;
    if (args.smoke) {
        args.words = {"inception:forward"};
        args.rounds = 1;
        args.runs = 2;
    } else if (args.words.empty() && !args.compared.empty()) {
        args.words = {"resnet50:32"};
    } else if (args.words.empty() && args.waits) {
        args.words = {"resnet50:16", "inception:16", "transformer:4"};
    } else if (args.words.empty()) {
        args.words = {"resnet50:1", "resnet50:2"};
        if (args.count_only)
            for (char const* more :
                 {"resnet50:16", "resnet50:16:operand", "resnet50:32", "resnet50:32:operand"})
                args.words.push_back(more);
        for (char const* more : {"densenet121", "inception", "transformer", "densenet121:forward",
                                 "inception:forward", "transformer:forward"})
            args.words.push_back(more);
    }
    return args;
}

constexpr char usage[] =
    "usage: bench_execution [--rounds N] [--width N] [--most BYTES] [--csv] [--smoke] [NETWORK ...]\n"
    "       bench_execution --count-only [--csv] [NETWORK ...]\n"
    "       bench_execution --waits [--width N] [--csv] [NETWORK ...]\n"
    "       bench_execution --compare FILE.onnx [NETWORK]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        if (count == 6 && std::strcmp(words[1], "--one") == 0)
            return run_one(words[2], words[3], std::stoul(words[4]), std::stoi(words[5])), 0;
        arguments const args = read_arguments(count, words);
        if (!args.compared.empty()) return bench::compare(args.compared, args.words.front()) ? 0 : 1;
        if (args.waits || args.smoke) bench::print_waits(args.words, args.width, args.as_csv);
        if (args.waits) return 0;
        if (args.count_only || args.smoke) bench::print_counts(args.words, args.as_csv);
        return args.count_only || run_all(words[0], args) ? 0 : 1;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "execution: %s\n", e.what());
    }
    return 2;
}
