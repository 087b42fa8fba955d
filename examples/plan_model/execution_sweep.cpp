// SPDX-License-Identifier: BSL-1.0

// execution_sweep DATA [--full]: runs every network of a folder in every memory mode and executor.
//
//     no_plan, recycle, arena   serially; on 1, 2 and 4 threads with every policy of the queue; and on 1 to 8
//                               streams of a simulated device
//     any_order, waiting        the same with a plan for every schedule, and with one that has hand-offs
//
// Prints one line per network: the number of runs, and the digest that they all have. By default all values
// are scaled down, which keeps operations, views and sharing and takes less time. With --full, networks of at
// most 500 MB without a plan run at full size, smallest first: every policy in every mode, each on 1, 2 or 4
// threads in turn, and on three numbers of streams, so that all combinations occur. Exit status: 0 if all
// runs of each network have the same digest.

#include "read_onnx.hpp"
#include "run_network.hpp"
#include "timed_plan.hpp"

#include <sublet/execution.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/simulated_device.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace plan_model;
using sublet::byte_count;

byte_count naive_bytes(network const& net)
{
    return plan(net, {.in_place = false}).planned.report().naive_bytes;
}

/// Divides all sizes by the same number until they need less than `most` without a plan.
byte_count shrink(network& net, byte_count most)
{
    byte_count const naive = naive_bytes(net);
    byte_count divisor = 1;
    while (naive / divisor > most) divisor *= 2;
    for (network_value& v : net.values)
        if (v.bytes != sublet::no_size) v.bytes = v.bytes / divisor + (v.bytes % divisor != 0);
    return divisor;
}

struct network_runs {
    network const& net;
    sublet::snapshot program;
    sublet::plan_options options;
    external_storage external;
    bool is_full = false;
    std::uint64_t left = 0;
    int modes = 0, runs = 0, different = 0;

    template <class Executor>
    void run(Executor& execute, char const* mode, char const* how, std::size_t width)
    {
        set_inputs(execute, net, external);
        execute.run();
        std::uint64_t const run_digest = result_digest(execute, net, external);
        if (runs++ == 0) left = run_digest;
        if (run_digest == left) return;
        ++different;
        std::printf("FAILED in mode %s, %zu %s: the results differ\n", mode, width, how);
    }

    template <class Mode>
    void run_everywhere(char const* name, Mode const& mode, bool is_any_order = false)
    {
        network_kernel const kernel{&net};
        sublet::executor_options const how{.check = sublet::executor_options::checks::plan};
        if (!is_any_order) {
            sublet::cpu_executor one(program, options, mode, kernel, how);
            run(one, name, "serial", 1);
        }
        std::vector<sublet::position_id> const last_first =
            latest_first(sublet::thread_executor(program, options, mode, kernel).waits());
        struct named_policy {
            sublet::queue_policy policy;
            char const* name;
        };
        constexpr named_policy policies[] = {{sublet::queue_policy::plan_order, "threads, in plan order"},
                                             {sublet::queue_policy::fifo, "threads, first ready first"},
                                             {sublet::queue_policy::lifo, "threads, last ready first"},
                                             {sublet::queue_policy::random, "threads, at random"},
                                             {sublet::queue_policy::given, "threads, last first"}};
        std::size_t const turn = static_cast<std::size_t>(modes++);
        for (std::size_t i = 0; i != std::size(policies); ++i)
            for (std::size_t doublings = 0; doublings != 3; ++doublings) {
                if (is_full && (i + turn) % 3 != doublings) continue;
                named_policy const& p = policies[i];
                std::size_t const workers = std::size_t{1} << doublings;
                sublet::thread_options wanted{.workers = workers, .policy = p.policy, .seed = workers};
                if (p.policy == sublet::queue_policy::given) wanted.order = last_first;
                sublet::thread_executor many(program, options, mode, kernel, wanted, how);
                run(many, name, p.name, workers);
            }
        for (std::size_t streams = 1; streams != 9; ++streams) {
            if (is_full && (streams + 8 - 3 * turn % 8) % 8 > 2) continue;
            sublet::simulated_device device(
                {.order = sublet::simulated_options::order_kind::random, .seed = streams});
            sublet::stream_options wanted{.streams = streams};
            sublet::stream_executor queued(device, program, options, mode, kernel, wanted, how);
            run(queued, name, "streams", streams);
        }
    }
};

/// The plans need to be valid and to share much, not to be optimal.
constexpr std::uint64_t work = 100'000;

constexpr byte_count most_of_full = 500'000'000;

/// Returns whether all runs have the same digest.
bool run_all(std::string const& file, network net, bool is_full)
{
    auto const start = std::chrono::steady_clock::now();
    byte_count const divisor = shrink(net, is_full ? most_of_full : 200'000), naive = naive_bytes(net);
    network_runs all{.net = net,
                     .program = as_program(net),
                     .options = as_options(net, {}),
                     .external = external_storage(net, 1),
                     .is_full = is_full};
    all.run_everywhere("no_plan", sublet::no_plan{});
    all.run_everywhere("recycle", sublet::recycle{});
    all.run_everywhere("arena", sublet::arena{plan_memory(all.program, all.options).plan});
    sublet::plan_options budgeted = all.options;
    budgeted.effort = work;
    auto const any_order = plan_concurrent(all.program, budgeted);
    all.run_everywhere("any_order", sublet::arena{any_order}, true);
    auto const with_handoffs = plan_with_handoffs(all.program, budgeted);
    all.run_everywhere("waiting", sublet::arena{with_handoffs}, true);
    std::printf("%-40s %6llu %12llu %5d %9.1f  %016llx\n", file.c_str(),
                static_cast<unsigned long long>(divisor), static_cast<unsigned long long>(naive), all.runs,
                milliseconds_since(start), static_cast<unsigned long long>(all.left));
    std::fflush(stdout);
    return all.different == 0;
}

} // namespace

int main(int count, char** words)
{
    bool const is_full = count == 3 && std::string(words[2]) == "--full";
    bool const asks_for_help = count == 2 && std::string(words[1]) == "--help";
    if ((count != 2 && !is_full) || asks_for_help)
        return std::fputs("usage: plan_model_execution_sweep DATA [--full]\n",
                          asks_for_help ? stdout : stderr),
               asks_for_help ? 0 : 2;
    try {
        std::vector<std::filesystem::path> files;
        for (auto const& entry :
             std::filesystem::recursive_directory_iterator(std::string(words[1]) + "/models"))
            if (entry.path().extension() == ".onnx") files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        std::vector<network> networks;
        for (auto const& path : files) networks.push_back(read_onnx(path.string(), in_place_pairs::operators));
        std::vector<std::pair<byte_count, std::size_t>> queue; // in full: by size
        for (std::size_t i = 0; i != files.size(); ++i) {
            byte_count const naive = is_full ? naive_bytes(networks[i]) : 0;
            if (naive <= most_of_full) queue.push_back({naive, i});
        }
        std::sort(queue.begin(), queue.end());
        std::printf("%-40s %6s %12s %5s %9s  %16s\n", "network", "part", "naive bytes", "runs", "ms",
                    "digest");
        int different = 0;
        for (auto const& next : queue) {
            std::filesystem::path const& path = files[next.second];
            different += !run_all(path.parent_path().filename().string() + '/' + path.stem().string(),
                                  networks[next.second], is_full);
        }
        std::printf("%zu networks, %d with runs that differ\n", queue.size(), different);
        return !queue.empty() && different == 0 ? 0 : 1;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "execution_sweep: %s\n", e.what());
        return 2;
    }
}
