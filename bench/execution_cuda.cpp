// SPDX-License-Identifier: BSL-1.0

// execution_cuda [--rounds N] [--streams N] [--capacity PERCENT] [--csv] [--smoke] [NETWORK ...]
//
// What memory modes and plans cost on a GPU: the cases of device_cases.hpp on whole networks. A NETWORK is
// one of bench_execution's words. First the device, the versions, the date and the bandwidth of a copy of 256
// MiB on the device, read and written; then for each case:
//
//     counted         peak MiB of values, as counted by the executor
//     used, reserved  peak MiB of the pool and of graphs: in use, and taken from the device
//     allocs ...      allocations, kernels, events, waits of one run, or of the capture; nodes of the graph
//     issue ms        until the host is free again
//     ms, +- %        until the device is done; the slowest run above the fastest
//     GB/s            bytes that the steps read and write, by ms; the copy's figure is the limit
//     /raw            ms by that of the raw loop, which launches the same kernels at the same addresses on
//     one
//                     stream, from arguments that were computed before
//     /driver         ms by that of the driver's planner on as many streams
//
// Each step is one kernel that reads every operand and writes every result, 16 bytes at a time: it only uses
// memory, so differences between cases are an upper bound of their effect. In a first, untimed round the
// kernels are synthetic, and the digests of all cases must agree. Then cases take turns, each with a pool of
// its own, all counters reset, and memory of graphs trimmed before and after: 5 rounds (--rounds) of 4 runs
// after one that is not counted, fewer if they took more than 8 s. ms are medians.
//
// A case that does not fit into the memory of the device is `too large`. --capacity: each network once more
// with spills, planned within so many percent of its peak; copies to page-locked memory and back run on a
// stream of their own, as early as data and reused bytes allow.
//
// Exit status: 1 if two digests differ; 77, with the reason, if there is no device.
//
// Results are kept as one folder for each device, bench/results/DEVICE/. Nothing else may use the device:
//
//     bench_execution_cuda > bench/results/DEVICE/execution.txt
//     bench_execution_cuda --csv > bench/results/DEVICE/execution.csv
//     bench_execution_cuda --capacity 60 resnet50:16 resnet50:32 > bench/results/DEVICE/spills.txt

#include "cuda_cases.hpp"
#include "device_cases.hpp"
#include "measure.hpp"
#include "read_network.hpp"
#include "small_networks.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/execution/cuda.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace sublet;
using namespace bench;

constexpr int runs_in_round = 4;
constexpr double budget_ms = 8000; // of one network

struct arguments {
    std::vector<std::string> words;
    std::size_t streams = 4;
    int rounds = 5;
    unsigned capacity = 0; // percent; 0: no spills
    bool as_csv = false, smoke = false;
};

double in_mebibytes(byte_count bytes) { return static_cast<double>(bytes) / (1 << 20); }

double median_of(std::vector<double> const& runs) { return runs.empty() ? 0 : timing_of(runs).median; }

// --- about the device ------------------------------------------------------------------------------------

/// Of copies on the device, bytes read and bytes written; 0 if there is no memory for two blocks.
double copy_bandwidth(int id, std::size_t bytes)
{
    constexpr int copies = 10;
    cuda_device device(id);
    auto const stream = device.make_stream();
    std::vector<double> ms;
    std::vector<std::byte*> blocks;
    try {
        for (int i = 0; i != 2; ++i) blocks.push_back(device.allocate(bytes, device_alignment, stream));
        for (std::byte* block : blocks) device.fill(block, std::byte{1}, bytes, stream);
        for (int i = 0; i != 6; ++i) {
            device.synchronize(stream);
            double const took = milliseconds([&] {
                for (int k = 0; k != copies; ++k)
                    device.calls()("cudaMemcpyAsync", [&] {
                        return cudaMemcpyAsync(blocks[1], blocks[0], bytes, cudaMemcpyDeviceToDevice, stream);
                    });
                device.synchronize(stream);
            });
            if (i != 0) ms.push_back(took);
        }
    } catch (...) {
        if (!is_out_of_memory(std::current_exception())) throw;
    }
    for (std::byte* block : blocks) device.deallocate(block, bytes, device_alignment, stream);
    device.synchronize(stream);
    device.destroy_stream(stream);
    return gigabytes_per_second(2 * copies * byte_count{bytes}, median_of(ms));
}

void print_device(cuda::probe_result const& found, unsigned blocks, arguments const& args)
{
    char const* const begin = args.as_csv ? "# " : "";
    std::time_t const now = std::time(nullptr);
    char date[32] = {};
    if (std::tm const* const utc = std::gmtime(&now)) std::strftime(date, sizeof date, "%Y-%m-%d", utc);
    auto const& device = *found.first();
    std::size_t const copied = std::size_t{args.smoke ? 1u : 256u} << 20;
    std::printf("%s%s\n", begin, found.why()); // with the versions of the runtime and of the driver
    std::printf("%s%s; %.0f MiB of memory; grids of at most %u blocks\n", begin, date,
                in_mebibytes(device.bytes), blocks);
    std::printf("%scopy of %zu MiB on the device, read and written: %.1f GB/s\n", begin, copied >> 20,
                copy_bandwidth(device.id, copied));
}

// --- one network -----------------------------------------------------------------------------------------

void print_head(bool as_csv)
{
    std::printf(as_csv ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n"
                       : "%-22s %-15s %7s %-8s %9s %9s %9s %6s %7s %6s %6s %6s %9s %9s %5s %8s %6s %8s\n",
                "network", "case", "streams", "way", "counted", "used", "reserved", "allocs", "kernels",
                "events", "waits", "nodes", "issue ms", "ms", "+- %", "GB/s", "/raw", "/driver");
}

/// One line: a case, the raw loop, or the program with spills.
struct printed_row {
    std::string network;
    char const* name;
    std::size_t streams;
    bool is_captured;
    case_row const& row;
    run_times const& its;
    byte_count moved;
    double raw, driver; // ms
};

void print(printed_row const& r, bool as_csv)
{
    char const* const way = r.is_captured ? "captured" : "issued";
    if (r.row.is_too_large) {
        std::printf(as_csv ? "%s,%s,%zu,%s,too large,,,,,,,,,,,,,\n" : "%-22s %-15s %7zu %-8s too large\n",
                    r.network.c_str(), r.name, r.streams, way);
        return;
    }
    command_counts const& n = r.row.counts;
    timing const ms = timing_of(r.its.total);
    std::printf(as_csv ? "%s,%s,%zu,%s,%.3f,%.3f,%.3f,%zu,%zu,%zu,%zu,%zu,%.4f,%.4f,%.1f,%.2f,%.3f,%.3f\n"
                       : "%-22s %-15s %7zu %-8s %9.2f %9.2f %9.2f %6zu %7zu %6zu %6zu %6zu %9.3f %9.3f %5.0f "
                         "%8.1f %6.2f %8.2f\n",
                r.network.c_str(), r.name, r.streams, way, in_mebibytes(r.row.counted),
                in_mebibytes(r.row.use.used), in_mebibytes(r.row.use.reserved), n.allocations, n.kernels,
                n.events, n.waits, r.is_captured ? n.nodes() : 0, median_of(r.its.issue), ms.median,
                100 * ms.spread(), gigabytes_per_second(r.moved, ms.median), ratio(ms.median, r.raw),
                ratio(ms.median, r.driver));
}

/// Runs the cases in turn; returns whether their digests agree.
bool run_cases(case_setting const& how, std::string const& name, arguments const& args)
{
    constexpr std::size_t count = std::size(device_cases);
    std::vector<case_row> rows(count);
    for (std::size_t i = 0; i != count; ++i) check_case(how, device_cases[i], rows[i]);
    std::optional<std::uint64_t> expected;
    bool agree = true;
    for (case_row const& row : rows) {
        if (row.is_too_large) continue;
        if (!expected) expected = row.digest;
        agree = agree && row.digest == *expected;
    }
    auto run_round = [&] {
        for (std::size_t i = 0; i != count; ++i) measure_case(how, device_cases[i], runs_in_round, rows[i]);
    };
    double const first_ms = milliseconds(run_round);
    for (int left = rounds_within(args.rounds, first_ms, budget_ms) - 1; left > 0; --left) run_round();

    double raw = 0;
    for (case_row const& row : rows)
        if (!row.raw.total.empty()) raw = median_of(row.raw.total);
    for (std::size_t i = 0; i != count; ++i) {
        device_case const& c = device_cases[i];
        if (is_raw_reference(c) && !rows[i].is_too_large) {
            case_row floor = rows[i];
            floor.counts = {.kernels = rows[i].counts.kernels};
            print({name, "raw loop", 1, false, floor, floor.raw, how.of.moved, raw,
                   median_of(rows[driver_case_of(c)].its.total)},
                  args.as_csv);
        }
        print({name, c.name, c.is_wide ? how.streams : 1, c.is_captured, rows[i], rows[i].its, how.of.moved,
               raw, median_of(rows[driver_case_of(c)].its.total)},
              args.as_csv);
    }
    std::fflush(stdout);
    if (!agree) std::fprintf(stderr, "execution_cuda: %s: the digests of two cases differ\n", name.c_str());
    return agree;
}

/// The program within less memory, beside the plan for one order on one stream, which needs its whole peak.
bool run_spills(case_setting const& how, std::string const& name, arguments const& args)
{
    char const* const begin = args.as_csv ? "# " : "";
    spilled_subject const spills = spill_to(how.of, args.capacity);
    if (!spills.advice) {
        double const least = spills.advice.pools.empty() ? 0 : in_mebibytes(spills.advice.pools[0].least);
        std::printf("%s%s: no plan within %u %% of %.2f MiB; by copies it needs %.2f MiB at least\n", begin,
                    name.c_str(), args.capacity, in_mebibytes(how.of.peak), least);
        return true;
    }
    device_case const& whole_case =
        *std::find_if(std::begin(device_cases), std::end(device_cases), is_raw_reference);
    case_row whole, row;
    check_case(how, whole_case, whole);
    cuda_device device(how.device);
    host_block const homes(device, spills.home_bytes);
    try {
        check_spills(how, spills, homes.first(), row);
    } catch (...) {
        if (!is_out_of_memory(std::current_exception())) throw;
        row.is_too_large = true;
    }
    bool const agree = whole.is_too_large || row.is_too_large || whole.digest == row.digest;
    auto run_round = [&] {
        measure_case(how, whole_case, runs_in_round, whole);
        if (!row.is_too_large) measure_spills(how, spills, homes.first(), runs_in_round, row);
    };
    double const first_ms = milliseconds(run_round);
    for (int left = rounds_within(args.rounds, first_ms, budget_ms) - 1; left > 0; --left) run_round();
    double const raw = median_of(whole.raw.total);
    print({name, whole_case.name, 1, false, whole, whole.its, how.of.moved, raw, 0}, args.as_csv);
    print({name, "spills", 2, false, row, row.its, spills.moved, raw, 0}, args.as_csv);
    double const before = median_of(whole.its.total), after = median_of(row.its.total);
    std::printf("%s%s within %u %%: saves %.2f MiB of %.2f; %zu copies move %.2f MiB and cost %.3f ms\n",
                begin, name.c_str(), args.capacity,
                in_mebibytes(whole.counted - std::min(whole.counted, row.counted)),
                in_mebibytes(whole.counted), spills.copies, in_mebibytes(spills.copied),
                whole.is_too_large || row.is_too_large ? 0 : after - before);
    std::fflush(stdout);
    if (!agree) std::fprintf(stderr, "execution_cuda: %s: spills change the digest\n", name.c_str());
    return agree;
}

bool run(int id, unsigned blocks, plan_model::network const& net, std::string const& name,
         arguments const& args)
{
    device_subject const of = subject_of(net);
    if (!args.as_csv)
        std::printf("\n%s: %zu steps move %.2f MiB; %.2f MiB of values, %.2f alive at once\n", name.c_str(),
                    of.program.steps(), in_mebibytes(of.moved), in_mebibytes(of.naive),
                    in_mebibytes(of.peak));
    cuda_device device(id);
    try {
        device_values values(device, of);
        synthetic_words const words(device, of.program.steps());
        case_setting const how{id, of, values, words, blocks, args.streams};
        bool agree = run_cases(how, name, args);
        if (args.capacity != 0) agree = run_spills(how, name, args) && agree;
        return agree;
    } catch (cuda_error const&) {
        if (!is_out_of_memory(std::current_exception())) throw;
    }
    std::printf(args.as_csv ? "%s,external values,,,too large,,,,,,,,,,,,,\n"
                            : "%-22s external values: too large\n",
                name.c_str());
    return true;
}

arguments read_arguments(int count, char** words)
{
    arguments args;
    for (int i = 1; i != count; ++i) {
        std::string const word = words[i];
        bool const has_more = i + 1 != count;
        if (word == "--csv") args.as_csv = true;
        else if (word == "--smoke") args.smoke = true;
        else if (word == "--rounds" && has_more) args.rounds = static_cast<int>(number_in(words[++i], 1));
        else if (word == "--streams" && has_more) args.streams = number_in(words[++i], 1);
        else if (word == "--capacity" && has_more) args.capacity = std::min(number_in(words[++i], 1), 100u);
        else if (word[0] == '-') refuse_option(word);
        else args.words.push_back(word);
    }
    if (args.smoke) args.rounds = 1;
    else if (args.words.empty())
        args.words = {"resnet50:1",  "resnet50:16", "resnet50:16:operand", "resnet50:32",
                      "densenet121", "inception",   "transformer"};
    return args;
}

constexpr char usage[] =
    "usage: bench_execution_cuda [--rounds N] [--streams N] [--capacity PERCENT] [--csv] [--smoke]\n"
    "                            [NETWORK ...]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (gives_help(count, words, usage)) return 0;
        arguments const args = read_arguments(count, words);
        auto const found = cuda::probe();
        if (!found.is_usable()) {
            std::printf("%s\n", found.why());
            return 77;
        }
        int const id = found.first()->id;
        unsigned blocks = 1;
        {
            cuda_device device(id);
            device.calls()("full_grid", [&] { return step_kernel::full_grid(&blocks); });
        }
        print_device(found, blocks, args);
        print_head(args.as_csv);
        bool agree = true;
        if (args.smoke) agree = run(id, blocks, small_network({.batch = 2, .trains = true}), "small:2", args);
        for (std::string const& word : args.words)
            agree = run(id, blocks, read_network(word), name_of(word), args) && agree;
        return agree ? 0 : 1;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "execution_cuda: %s\n", e.what());
    }
    return 2;
}
