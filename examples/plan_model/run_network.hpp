// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_RUN_NETWORK_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_RUN_NETWORK_HPP

/// Runs a network with synthetic kernels: whatever its operations are, each byte of a result depends on each
/// byte of the operands, so two runs that end with the same digest have lost nothing on the way.

#include "network.hpp"

#include <sublet/execution.hpp>
#include <sublet/plan_options.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace plan_model {

/// The caller's side of a run: weights and other external storage. What no operation writes is a window of
/// one block of noise, as large as the largest of them; what is written (a weight that is trained) has its
/// own.
class external_storage {
public:
    explicit external_storage(network const& net)
    {
        std::vector<bool> written(net.values.size());
        auto write = [&](sublet::value_id v) {
            for (; v != sublet::no_value; v = net.values[v].alias_of) written[v] = true;
        };
        for (operation const& op : net.operations) {
            for (auto v : op.mutated) write(v);
            for (auto v : op.outputs) write(v);
        }
        std::size_t largest = 0;
        for (sublet::value_id v = 0; v != net.values.size(); ++v) {
            if (!has_role(net.values[v].role, sublet::value_role::external)) continue;
            bool const is_sized = net.values[v].bytes != sublet::no_size;
            auto const bytes = is_sized ? static_cast<std::size_t>(net.values[v].bytes) : 64;
            if (written[v]) written_[v].resize(bytes);
            else largest = std::max(largest, bytes), constant_.push_back({v, bytes});
        }
        noise_.resize(largest);
        sublet::fill_noise(std::span(noise_), ~std::uint64_t{0});
    }

    /// Binds all of it, with what it holds before a first run.
    template <class Executor>
    void bind(Executor& run)
    {
        for (auto [v, bytes] : constant_) run.bind(v, std::span<std::byte const>(noise_).first(bytes));
        for (auto& [v, bytes] : written_) {
            sublet::fill_noise(std::span(bytes), v);
            run.bind(v, std::span(bytes));
        }
    }

    /// What runs have left there, as one number.
    std::uint64_t left_behind() const
    {
        std::uint64_t sum = 0;
        for (auto& [v, bytes] : written_) sum = sublet::fold(sum, sublet::digest(std::span(bytes)));
        return sum;
    }

    sublet::byte_count total_bytes() const
    {
        sublet::byte_count sum = noise_.size();
        for (auto& [v, bytes] : written_) sum += bytes.size();
        return sum;
    }

private:
    struct window {
        sublet::value_id value;
        std::size_t bytes;
    };
    std::vector<std::byte> noise_;
    std::vector<window> constant_;
    std::map<sublet::value_id, std::vector<std::byte>> written_;
};

/// What a run in one memory mode came to.
struct mode_run {
    std::uint64_t outputs = 0;         ///< the digest of all that is left at the end
    sublet::byte_count peak_bytes = 0; ///< of planned buffers; what is external does not count
    std::uint64_t allocations = 0;     ///< of those, the arenas too
    double milliseconds = 0;
};

/// Throws: whatever the executor throws.
template <class Mode>
mode_run run(network const& net, sublet::snapshot const& program, sublet::plan_options const& options,
             Mode const& mode, external_storage& external, sublet::executor_options const& how = {})
{
    sublet::cpu_executor execute{program, options, mode, sublet::synthetic_kernel{}, how};
    external.bind(execute);
    for (sublet::value_id v = 0; v != net.values.size(); ++v)
        if (net.values[v].role == sublet::value_role::input) sublet::fill_noise(execute.input(v), v);

    auto const start = std::chrono::steady_clock::now();
    sublet::run_report const report = execute.run();
    std::chrono::duration<double, std::milli> const took = std::chrono::steady_clock::now() - start;

    mode_run result{.outputs = external.left_behind(),
                    .peak_bytes = report.run.bytes.peak,
                    .allocations = execute.memory().allocations.total,
                    .milliseconds = took.count()};
    for (sublet::value_id v = 0; v != net.values.size(); ++v)
        if (has_role(net.values[v].role, sublet::value_role::output))
            result.outputs = sublet::fold(result.outputs, sublet::digest(execute.output(v)));
    return result;
}

} // namespace plan_model

#endif
