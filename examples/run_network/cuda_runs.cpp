// SPDX-License-Identifier: BSL-1.0

// Compiled if CUDA's toolkit is found; runs if a device is present.

#include "cuda_runs.hpp"

#include "device_kernels.hpp"
#include "host_program.hpp"
#include "host_steps.hpp"
#include "stream_runs.hpp"

#include <sublet/execution/cuda.hpp>
#include <sublet/plan_memory.hpp>

#include <cstddef>
#include <variant>

namespace run_network {
namespace {

struct cuda_kernel {
    host_steps const* steps;

    void operator()(auto const& call) const
    {
        layer const& what = steps->all->layers[steps->steps[call.step].operation];
        if (!call.is_view(0)) queue_on_device(what, operands_of(call), call.stream());
    }
};

} // namespace

cuda_outcome run_on_cuda(layered_network const& all, weights& given, arguments const& args)
{
    auto const found = sublet::cuda::probe();
    cuda_outcome outcome{{}, found.why()};
    if (!found.is_usable()) return outcome;

    for (std::size_t i = 0; i != all.layers.size(); ++i)
        if (!has_formula(all.layers[i])) {
            outcome.why = "not used: " + all.net.operations[i].label + " is computed on the host only";
            return outcome;
        }

    sublet::cuda_device device(found.first()->id);
    host_steps const steps = steps_of(all, kernels::formulas);
    host_program what = program_of(steps);
    auto const planned = sublet::plan_memory(what.program, what.options);
    device_weights<sublet::cuda_device> on_device(device, steps, given);
    sublet::stream_options streams;
    streams.streams = args.streams == 0 ? 4 : args.streams;
    for_each_mode(args, planned.plan, [&](char const* name, auto const& mode) {
        outcome.runs.push_back(
            run_on_streams(device, what, mode, cuda_kernel{&steps}, on_device, streams, {}, args.runs));
        outcome.runs.back().executor = "cuda";
        outcome.runs.back().mode = name;
    });
    return outcome;
}

} // namespace run_network
