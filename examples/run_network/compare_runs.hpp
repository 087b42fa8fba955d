// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_COMPARE_RUNS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_COMPARE_RUNS_HPP

/// Compares the results of one network in several memory modes and on several executors.

#include "arguments.hpp"
#include "evaluate_layers.hpp"
#include "host_program.hpp"
#include "read_layers.hpp"
#include "weights.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/storage.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace run_network {

using results = std::vector<std::vector<double>>; ///< by output

struct mode_run {
    std::string executor; ///< "serial"
    std::string mode;     ///< "arena"
    results outputs;
    sublet::byte_count peak_bytes = 0; ///< of planned buffers
    std::uint64_t allocations = 0;     ///< of planned buffers, including arenas
    double milliseconds = 0;           ///< median over the runs; all but the first are warm
};

/// Calls `run(name, mode)` for each requested memory mode.
template <class Run>
void for_each_mode(arguments const& args, sublet::memory_plan const& plan, Run run)
{
    if (args.none) run("none", sublet::no_plan{});
    if (args.recycle) run("recycle", sublet::recycle{});
    if (args.arena) run("arena", sublet::arena{plan});
}

/// Calls `run` several times and returns the median of its milliseconds.
template <class Run>
double timed(std::size_t runs, Run run)
{
    std::vector<double> all;
    for (std::size_t i = 0; i != runs; ++i) {
        auto const start = std::chrono::steady_clock::now();
        run();
        all.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(runs / 2), all.end());
    return all[runs / 2];
}

/// Runs on the host, with any executor.
template <class Executor>
mode_run run_executor(Executor& execute, host_program& what, weights& given, std::size_t runs)
{
    given.each(*what.steps, [&](sublet::value_id v, std::span<std::byte> bytes) { execute.bind(v, bytes); });
    for (spill_home& home : what.homes) execute.bind(home.value, home.bytes());
    mode_run result;
    result.milliseconds = timed(runs, [&] { result.peak_bytes = execute.run().run.bytes.peak; });
    result.allocations = execute.memory().allocations.total;
    std::vector<sublet::value_id> const outputs = outputs_of(what.steps->all->net);
    for (std::size_t o = 0; o != outputs.size(); ++o)
        result.outputs.push_back(
            numbers_in(execute.output(what.outputs[o]), what.steps->all->types[outputs[o]].element));
    return result;
}

/// The difference of two results.
struct difference {
    std::size_t different = 0; ///< elements with different bits
    double largest = 0;        ///< relative to the largest element; infinite if a result is not finite
};

inline difference compare(results const& a, results const& b)
{
    difference found;
    double scale = 0, deviation = 0;
    if (a.size() != b.size()) return {1, HUGE_VAL};
    for (std::size_t o = 0; o != a.size(); ++o) {
        if (a[o].size() != b[o].size()) return {1, HUGE_VAL};
        for (std::size_t i = 0; i != a[o].size(); ++i) {
            double const x = a[o][i], y = b[o][i];
            if (std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y)) continue;
            ++found.different;
            double const distance = std::abs(x - y);
            deviation = std::isnan(distance) ? HUGE_VAL : std::max(deviation, distance);
        }
        for (double x : a[o]) scale = std::max(scale, std::isfinite(x) ? std::abs(x) : 0.0);
    }
    found.largest = deviation == 0 ? 0 : scale == 0 ? HUGE_VAL : deviation / scale;
    return found;
}

/// Whether all elements are finite and not all 0: equal zeros prove little.
inline bool is_conclusive(results const& a)
{
    bool is_zero = true;
    for (auto const& one : a)
        for (double x : one) {
            if (!std::isfinite(x)) return false;
            is_zero = is_zero && x == 0;
        }
    return !is_zero;
}

struct run_comparison {
    bool are_equal = true;
    std::vector<std::string> remarks; ///< which runs differ, and by how much
};

/// Runs with the host's kernels must agree bit by bit, and so must the runs on one device; the first run on a
/// device may deviate from the first run by rounding.
///
/// Requires: there is a run.
inline run_comparison compare_runs(std::vector<mode_run> const& runs, bool must_be_conclusive = true)
{
    constexpr double tolerance = 1e-3; // of the largest element: sums are rounded in other orders
    mode_run const& first = runs.front();
    mode_run const* device = nullptr;
    run_comparison found;
    if (must_be_conclusive && !is_conclusive(first.outputs))
        found = {false, {"the results are not finite, or all 0"}};
    for (mode_run const& r : runs) {
        bool const is_rounded = r.executor == "formulas" || r.executor == "cuda";
        bool const is_first = is_rounded && (device == nullptr || device->executor != r.executor);
        if (is_first) device = &r;
        mode_run const& other = is_rounded && !is_first ? *device : first;
        difference const deviation = compare(other.outputs, r.outputs);
        bool const is_equal = is_first ? deviation.largest <= tolerance : deviation.different == 0;
        found.are_equal = found.are_equal && is_equal;
        if (is_equal && deviation.different == 0) continue;
        found.remarks.push_back(r.executor + ' ' + r.mode + " differs from " + other.executor + ' ' +
                                other.mode + " in " + std::to_string(deviation.different) + " elements, by " +
                                std::to_string(deviation.largest) + " of the largest" +
                                (is_equal ? ", which is allowed" : ""));
    }
    return found;
}

} // namespace run_network

#endif
