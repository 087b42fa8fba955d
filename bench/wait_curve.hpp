// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_WAIT_CURVE_HPP
#define SUBLET_BENCH_WAIT_CURVE_HPP

/// Waits against bytes: how many steps wait for storage when there is more memory than a plan needs.

#include "execution_cases.hpp"
#include "execution_counts.hpp"
#include "measure.hpp"
#include "read_network.hpp"

#include <sublet/execution/streams.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/testing/simulated_device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// Commands by which a stream waits for another in one run.
inline std::size_t stream_waits(network const& net, planned_with_handoffs const& planned,
                                stream_options const& streams)
{
    simulated_device device({.paint = false});
    stream_executor const execute(device, as_program(net), as_options(net), arena{planned.plan},
                                  empty_kernel{}, streams);
    return execute.schedule().waits;
}

/// For each network a line for each limit on the bytes of the arena, in percent of the fewest: the arena, and
/// the hand-offs that pass storage on, of a plan for any execution and of one that keeps the workers of its
/// schedule; behind each the waits of a run on as many streams, for data or storage.
inline void print_waits(std::vector<std::string> const& words, std::size_t width, bool as_csv)
{
    std::printf(as_csv ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n" : "%-16s %8s %9s %9s %6s %9s %9s %9s %6s %8s\n",
                "network", "percent", "MiB", "handoffs", "waits", "plan ms", "kept MiB", "handoffs", "waits",
                "plan ms");
    for (std::string const& word : words) {
        network const net = read_network(word);
        snapshot const program = as_program(net);
        plan_options const options = as_options(net);
        auto const lowest = plan_with_handoffs(program, options, {.workers = width, .few_waits = false});
        byte_count const least = lowest.report().arena_bytes;
        for (unsigned const thousandths : {1000u, 1005u, 1010u, 1020u, 1050u, 1100u, 1250u, 1500u}) {
            handoff_options wanted{.workers = width,
                                   .most_bytes =
                                       least / 1000 * thousandths + least % 1000 * thousandths / 1000};
            std::printf(as_csv ? "%s,%.1f" : "%-16s %8.1f", name_of(word).c_str(), thousandths / 10.0);
            for (bool const keeps_workers : {false, true}) {
                wanted.keeps_workers = keeps_workers;
                planned_with_handoffs planned;
                double const ms =
                    milliseconds([&] { planned = plan_with_handoffs(program, options, wanted); });
                if (!planned) throw std::runtime_error(word + ": there is no plan");
                auto const handoffs = static_cast<std::size_t>(
                    std::count_if(planned.handoff_bytes.begin(), planned.handoff_bytes.end(),
                                  [](byte_count bytes) { return bytes != 0; }));
                stream_options streams{.streams = width};
                for (step_time at : planned.schedule)
                    if (keeps_workers) streams.stream_of.push_back(at.worker);
                std::printf(as_csv ? ",%.2f,%zu,%zu,%.1f" : " %9.2f %9zu %6zu %9.1f",
                            in_mebibytes(planned.report().arena_bytes), handoffs,
                            stream_waits(net, planned, streams), ms);
            }
            std::puts("");
        }
        std::fflush(stdout);
    }
}

} // namespace bench

#endif
