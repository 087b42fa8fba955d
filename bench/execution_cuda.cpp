// SPDX-License-Identifier: BSL-1.0

// execution_cuda [--rounds N] [--streams N] [--csv] [--smoke] [NETWORK ...]: the cost of memory modes on a
// GPU.
//
//     B0  no_plan           every value has bytes of its own, from a pool, until the run ends
//     B1  recycle, malloc   reference counting, on cudaMalloc and cudaFree
//     B2  recycle, pool     the same on a pool that allocates in stream order
//     B3  recycle, graph    the same captured: the driver plans the memory of a graph
//     B4  arena             the plan for one order, on one stream
//     B5  arena, streams    that plan, on several streams
//     B7  arena, graph      the same captured
//
//     peak             of values, as counted by the executor; 0 in a graph, which allocates by itself
//     used, reserved   peak MiB of the pool and of graphs; B1: drop of the device's free memory
//     issue ms         until the host is free again
//     ms               until the device is done: the first run, and the median of the others
//
// A NETWORK is one of bench_execution's words. Each case has a pool of its own, and cases take turns. Kernels
// are synthetic: they only read and write memory, so these times are an upper bound of the effect. Exit
// status: 1 if the digests of two cases differ; 77, with the reason, if there is no device.

#include "../test/cuda/synthetic.hpp"
#include "measure.hpp"
#include "read_network.hpp"

#include <sublet/execution.hpp>
#include <sublet/execution/cuda.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/plan_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace sublet;
using namespace sublet::detail;
using bench::network;

/// Allocates like programs without a pool: synchronizes the device first.
class malloc_device : public cuda_device {
public:
    using cuda_device::cuda_device;

    std::byte* allocate(byte_count bytes, byte_count, stream_type)
    {
        void* block = nullptr;
        calls()("cudaMalloc", [&] { return cudaMalloc(&block, bytes); });
        return static_cast<std::byte*>(block);
    }
    void deallocate(std::byte* block, byte_count, byte_count, stream_type)
    {
        calls()("cudaFree", [&] { return cudaFree(block); });
    }
};

enum class case_kind : std::uint8_t {
    no_plan,
    recycle_malloc,
    recycle_pool,
    recycle_graph,
    arena,
    streams,
    graph
};
struct execution_case {
    case_kind kind;
    char const* label;
    char const* name;
};
constexpr execution_case execution_cases[] = {{case_kind::no_plan, "B0", "no_plan"},
                                              {case_kind::recycle_malloc, "B1", "recycle, malloc"},
                                              {case_kind::recycle_pool, "B2", "recycle, pool"},
                                              {case_kind::recycle_graph, "B3", "recycle, graph"},
                                              {case_kind::arena, "B4", "arena"},
                                              {case_kind::streams, "B5", "arena, streams"},
                                              {case_kind::graph, "B7", "arena, graph"}};

struct measured {
    byte_count peak = 0;
    double used = 0, reserved = 0; // MiB
    std::uint64_t digest = 0;
    std::vector<double> issue, first, later; // milliseconds
};

double in_mebibytes(byte_count bytes) { return static_cast<double>(bytes) / (1 << 20); }

/// External values, such as weights, on the device.
class external_values {
public:
    external_values(cuda_device& device, network const& net) : device_(device), stream_(device.make_stream())
    {
        for (value_id v = 0; v != net.values.size(); ++v) {
            auto const& value = net.values[v];
            if (!has_role(value.role, value_role::external) || value.alias_of != no_value || value.bytes == 0)
                continue;
            byte_count const bytes = value.bytes == no_size ? 64 : value.bytes;
            all_.push_back({v, device.allocate(bytes, 256, stream_), bytes});
        }
        device.synchronize(stream_);
    }
    external_values(external_values const&) = delete;
    external_values& operator=(external_values const&) = delete;
    ~external_values()
    {
        for (auto const& one : all_) device_.deallocate(one.first, one.bytes, 256, stream_);
        device_.destroy_stream(stream_);
    }

    template <class Executor>
    void bind(Executor& run)
    {
        for (auto const& one : all_) run.bind(one.value, {one.first, static_cast<std::size_t>(one.bytes)});
    }
    void fill()
    {
        std::vector<std::byte> noise;
        for (auto const& one : all_) {
            noise.resize(static_cast<std::size_t>(one.bytes));
            fill_noise(noise, one.value);
            device_.copy_to_device(one.first, noise, stream_);
        }
    }
    std::uint64_t result_digest()
    {
        std::vector<std::byte> bytes;
        std::uint64_t sum = 0;
        for (auto const& one : all_) {
            bytes.resize(static_cast<std::size_t>(one.bytes));
            device_.copy_from_device(bytes, one.first, stream_);
            device_.synchronize(stream_);
            sum = fold_digest(sum, digest(bytes));
        }
        return sum;
    }

private:
    struct block {
        value_id value;
        std::byte* first;
        byte_count bytes;
    };
    cuda_device& device_;
    cudaStream_t stream_;
    std::vector<block> all_;
};

byte_count free_bytes(cuda_device& device)
{
    std::size_t free = 0, total = 0;
    device.calls()("cudaMemGetInfo", [&] { return cudaMemGetInfo(&free, &total); });
    return free;
}

/// One executor and its runs.
template <class Device, class Mode>
void run(int id, network const& net, Mode const& mode, stream_options const& streams, bool is_captured,
         int runs, measured& all)
{
    cuda_device external_device(id);
    external_values external(external_device, net);
    Device device(id);
    snapshot const program = as_program(net);
    synthetic_words const words(device, program.steps());
    byte_count const free_before = free_bytes(device);
    stream_executor execute(device, program, as_options(net), mode, device_synthetic_kernel{&words}, streams);
    external.bind(execute);
    auto give = [&] {
        external.fill();
        for (value_id v = 0; v != net.values.size(); ++v) {
            if (net.values[v].role != value_role::input) continue;
            std::vector<std::byte> noise(static_cast<std::size_t>(net.values[v].bytes));
            fill_noise(noise, v);
            execute.give(v, noise);
        }
        execute.synchronize();
    };
    auto measure = [&](auto issue) {
        device.reset_high();
        byte_count least_free = ~byte_count{0};
        for (int i = 0; i != runs; ++i) {
            give();
            double issued = 0;
            double const ms = bench::milliseconds([&] {
                issued = bench::milliseconds(issue);
                execute.synchronize();
            });
            all.issue.push_back(issued);
            (i == 0 ? all.first : all.later).push_back(ms);
            least_free = std::min(least_free, free_bytes(device));
            std::uint64_t left = external.result_digest();
            for (value_id v = 0; v != net.values.size(); ++v) {
                if (!has_role(net.values[v].role, value_role::output)) continue;
                std::vector<std::byte> bytes(static_cast<std::size_t>(net.values[v].bytes));
                execute.take(v, bytes);
                left = fold_digest(left, digest(bytes));
            }
            if (all.digest != 0 && left != all.digest) throw std::runtime_error("two runs differ");
            all.digest = left;
        }
        cuda_memory_use const pool = device.memory(), graphs = device.graph_memory();
        bool const is_counted = !std::same_as<Device, malloc_device>;
        byte_count const free_memory_drop = free_before - std::min(free_before, least_free);
        all.used = in_mebibytes(is_counted ? pool.used_high + graphs.used_high : free_memory_drop);
        all.reserved =
            in_mebibytes(is_counted ? pool.reserved_high + graphs.reserved_high : free_memory_drop);
    };
    if (is_captured) {
        auto captured = execute.capture();
        measure([&] { captured.launch(); });
    } else {
        measure([&] { all.peak = execute.run_async().run.bytes.peak; });
    }
}

void run(int id, network const& net, memory_plan const& plan, case_kind kind, std::size_t streams, int runs,
         measured& all)
{
    stream_options const one{.streams = 1}, many{.streams = streams};
    stream_options const captured{.streams = streams, .keeps_io_addresses = true};
    switch (kind) {
    case case_kind::no_plan: return run<cuda_device>(id, net, no_plan{}, one, false, runs, all);
    case case_kind::recycle_malloc: return run<malloc_device>(id, net, recycle{}, one, false, runs, all);
    case case_kind::recycle_pool: return run<cuda_device>(id, net, recycle{}, many, false, runs, all);
    case case_kind::recycle_graph: return run<cuda_device>(id, net, recycle{}, captured, true, runs, all);
    case case_kind::arena: return run<cuda_device>(id, net, arena{plan}, one, false, runs, all);
    case case_kind::streams: return run<cuda_device>(id, net, arena{plan}, many, false, runs, all);
    case case_kind::graph: return run<cuda_device>(id, net, arena{plan}, many, true, runs, all);
    }
}

struct arguments {
    std::vector<std::string> words;
    std::size_t streams = 4;
    int rounds = 4, runs = 6;
    bool as_csv = false;
};

bool run_all(int id, arguments const& args)
{
    std::printf(args.as_csv ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n"
                            : "%-22s %-2s %-16s %9s %9s %9s %9s %9s %9s %5s %17s\n",
                "network", "", "case", "peak MiB", "used", "reserved", "issue ms", "first ms", "ms", "+- %",
                "digest");
    bool agree = true;
    for (std::string const& word : args.words) {
        network const net = bench::read_network(word);
        memory_plan const plan = plan_memory(as_program(net), as_options(net)).plan;
        measured rows[std::size(execution_cases)];
        for (int round = 0; round != args.rounds; ++round)
            for (execution_case const& one_case : execution_cases)
                run(id, net, plan, one_case.kind, args.streams, args.runs, rows[&one_case - execution_cases]);
        for (execution_case const& one_case : execution_cases) {
            measured const& m = rows[&one_case - execution_cases];
            bench::timing const ms = bench::timing_of(m.later);
            std::printf(args.as_csv ? "%s,%s,%s,%.2f,%.2f,%.2f,%.3f,%.3f,%.3f,%.0f,%016llx\n"
                                    : "%-22s %-2s %-16s %9.2f %9.2f %9.2f %9.3f %9.3f %9.3f %5.0f  %016llx\n",
                        bench::name_of(word).c_str(), one_case.label, one_case.name, in_mebibytes(m.peak),
                        m.used, m.reserved, bench::timing_of(m.issue).median,
                        bench::timing_of(m.first).median, ms.median, 100 * ms.spread(),
                        static_cast<unsigned long long>(m.digest));
            agree = agree && m.digest == rows[0].digest;
        }
        std::fflush(stdout);
    }
    if (!agree) std::fputs("execution_cuda: the digests of two cases differ\n", stderr);
    return agree;
}

arguments read_arguments(int count, char** words)
{
    arguments args;
    for (int i = 1; i != count; ++i) {
        std::string const word = words[i];
        bool const has_more = i + 1 != count;
        if (word == "--csv") {
            args.as_csv = true;
        } else if (word == "--smoke") {
            args.words = {"inception:forward"};
            args.rounds = 1;
            args.runs = 2;
        } else if (word == "--rounds" && has_more) {
            args.rounds = static_cast<int>(bench::number_in(words[++i], 1));
        } else if (word == "--streams" && has_more) {
            args.streams = bench::number_in(words[++i], 1);
        } else if (word[0] == '-') {
            bench::refuse_option(word);
        } else {
            args.words.push_back(word);
        }
    }
    if (args.words.empty())
        args.words = {"resnet50:1",  "resnet50:16", "resnet50:16:operand", "resnet50:32",
                      "densenet121", "inception",   "transformer"};
    return args;
}

constexpr char usage[] =
    "usage: bench_execution_cuda [--rounds N] [--streams N] [--csv] [--smoke] [NETWORK ...]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        arguments const args = read_arguments(count, words);
        auto const found = cuda::probe();
        std::printf("%s\n", found.why());
        if (!found.is_usable()) return 77;
        return run_all(found.first()->id, args) ? 0 : 1;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "execution_cuda: %s\n", e.what());
    }
    return 2;
}
