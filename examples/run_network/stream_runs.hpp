// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_STREAM_RUNS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_STREAM_RUNS_HPP

/// Runs one network in one memory mode on the streams of any device: copies the weights there once, issues
/// the run, and copies the results back.

#include "compare_runs.hpp"
#include "host_program.hpp"
#include "host_steps.hpp"
#include "weights.hpp"

#include <sublet/core/units.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/streams.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace run_network {

/// Inputs and weights on a device. The device must outlive it.
template <sublet::stream_device Device>
class device_weights {
public:
    device_weights(Device& device, host_steps const& steps, weights& given)
        : device_(device), stream_(device.make_stream())
    {
        given.each(steps, [&](sublet::value_id v, std::span<std::byte> bytes) {
            std::byte* const device_bytes =
                bytes.empty() ? nullptr : device_.allocate(bytes.size(), alignment, stream_);
            parts_.push_back({v, {device_bytes, bytes.size()}});
            if (!bytes.empty()) device_.copy_to_device(device_bytes, bytes, stream_);
        });
        device_.synchronize(stream_);
    }
    ~device_weights()
    {
        for (auto const& [value, bytes] : parts_)
            if (!bytes.empty()) device_.deallocate(bytes.data(), bytes.size(), alignment, stream_);
        device_.destroy_stream(stream_);
    }
    device_weights(device_weights const&) = delete;
    device_weights& operator=(device_weights const&) = delete;

    template <class Bind>
    void each(Bind bind)
    {
        for (auto const& [value, bytes] : parts_) bind(value, bytes);
    }

private:
    static constexpr sublet::byte_count alignment = 64;

    Device& device_;
    typename Device::stream_type stream_;
    std::vector<std::pair<sublet::value_id, std::span<std::byte>>> parts_;
};

template <class Device, class Mode, class Kernel>
mode_run run_on_streams(Device& device, host_program& what, Mode const& mode, Kernel kernel,
                        device_weights<Device>& given, sublet::stream_options const& streams,
                        sublet::executor_options const& how, std::size_t runs)
{
    sublet::stream_executor execute{device, what.program, what.options, mode, kernel, streams, how};
    given.each([&](sublet::value_id v, std::span<std::byte> bytes) { execute.bind(v, bytes); });
    for (spill_home& home : what.homes) execute.bind(home.value, home.bytes()); // memory of the host
    mode_run result;
    result.milliseconds = timed(runs, [&] { result.peak_bytes = execute.run().run.bytes.peak; });
    result.allocations = execute.memory().allocations.total;
    std::vector<sublet::value_id> const outputs = outputs_of(what.steps->all->net);
    for (std::size_t o = 0; o != outputs.size(); ++o) {
        std::vector<std::byte> bytes(static_cast<std::size_t>(what.steps->bytes[outputs[o]]));
        execute.take(what.outputs[o], bytes);
        result.outputs.push_back(numbers_in(bytes, what.steps->all->types[outputs[o]].element));
    }
    return result;
}

} // namespace run_network

#endif
