// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_HOST_RUNS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_HOST_RUNS_HPP

/// Runs one network on this machine: serially, on threads, on the streams of a simulated device, and with the
/// formulas of a CUDA device.

#include "arguments.hpp"
#include "compare_runs.hpp"
#include "host_program.hpp"
#include "host_steps.hpp"
#include "stream_runs.hpp"
#include "weights.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/execution/trace.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/simulated_device.hpp>

#include <string>
#include <utility>
#include <vector>

namespace run_network {

/// Adds the runs of a program. `limit`: maximum of bytes that a run allocates. `trace`: records the runs;
/// null: nothing does. `each_mode(workers, run)` calls `run(name, mode)` for each memory mode; one step after
/// another has no workers.
template <class Modes>
void run_on_host(std::vector<mode_run>& runs, host_program& what, Modes each_mode, weights& given,
                 arguments const& args, sublet::byte_count limit, sublet::run_trace* trace)
{
    sublet::executor_options how;
    how.check = args.check;
    how.limit = limit;
    auto keep = [&](mode_run result, std::string executor, char const* mode) {
        result.executor = std::move(executor);
        result.mode = mode;
        runs.push_back(std::move(result));
    };
    renumbered_kernel<sublet::traced_kernel<program_kernel>> const kernel{{trace, program_kernel{&what}},
                                                                          what.first_in_trace()};
    auto begin = [&](std::string const& executor, char const* mode) {
        if (trace != nullptr) trace->begin_run(executor + ' ' + mode);
        return executor;
    };
    each_mode(0, [&](char const* name, auto const& mode) {
        begin("serial", name);
        sublet::cpu_executor execute{what.program, what.options, mode, kernel, how};
        keep(run_executor(execute, what, given, args.runs), "serial", name);
    });
    if (args.threads != 0)
        each_mode(args.threads, [&](char const* name, auto const& mode) {
            sublet::thread_options thread_settings;
            thread_settings.workers = args.threads;
            std::string const executor = begin(std::to_string(args.threads) + " threads", name);
            sublet::thread_executor execute{what.program, what.options, mode, kernel, thread_settings, how};
            keep(run_executor(execute, what, given, args.runs), executor, name);
        });
    if (args.streams != 0)
        each_mode(args.streams, [&](char const* name, auto const& mode) {
            sublet::simulated_device device({.order = sublet::simulated_options::order_kind::latest_first});
            device_weights<sublet::simulated_device> on_device(device, *what.steps, given);
            sublet::stream_options streams;
            streams.streams = args.streams;
            std::string const executor = begin(std::to_string(args.streams) + " simulated streams", name);
            keep(run_on_streams(device, what, mode, kernel, on_device, streams, how, args.runs), executor,
                 name);
        });
}

/// Runs in an arena, by formulas where there are any.
inline mode_run run_formulas(layered_network const& all, arguments const& args)
{
    host_steps const steps = steps_of(all, kernels::formulas);
    weights given(steps, args.seed, args.is_uniform);
    host_program what = program_of(steps);
    auto const planned = sublet::plan_memory(what.program, what.options);
    sublet::cpu_executor execute{what.program, what.options, sublet::arena{planned}, host_kernel{&steps}};
    mode_run result = run_executor(execute, what, given, 1);
    result.executor = "formulas";
    result.mode = "arena";
    return result;
}

} // namespace run_network

#endif
