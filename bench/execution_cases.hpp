// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_EXECUTION_CASES_HPP
#define SUBLET_BENCH_EXECUTION_CASES_HPP

/// The cases that bench_execution compares, behind one interface.
///
///     B0  no_plan         every value has bytes of its own until the run ends
///     B1  recycle         reference counting, on new and delete
///     B2  pooled          the same on a std::pmr::synchronized_pool_resource
///     B4  arena           the plan for one order, serially
///     B5  threads         the same plan, steps in parallel: hand-offs order steps that share storage
///     B5  streams         the same on a simulated device with queues in host memory as streams
///     B6  any_order       a plan for every schedule, steps in parallel
///
/// B3 and B7, the driver's own planner and a captured graph, need a GPU.

#include "../examples/plan_model/run_network.hpp"
#include "measure.hpp"

#include <sublet/execution.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/simulated_device.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

namespace bench {

enum class case_kind : std::uint8_t { no_plan, recycle, pooled, arena, threads, streams, any_order };

struct execution_case {
    case_kind kind;
    char const* label;
    char const* name;
};
inline constexpr execution_case execution_cases[] = {
    {case_kind::no_plan, "B0", "no_plan"},    {case_kind::recycle, "B1", "recycle"},
    {case_kind::pooled, "B2", "pooled"},      {case_kind::arena, "B4", "arena"},
    {case_kind::threads, "B5", "threads"},    {case_kind::streams, "B5", "streams"},
    {case_kind::any_order, "B6", "any_order"}};

/// Facts about an executor.
struct prepared {
    double plan_ms = 0; ///< from the network to the proved plan
};

/// Touches nothing, to measure the cost of the executor.
struct empty_kernel {
    template <class Call>
    void operator()(Call const&) const
    {
    }
};

namespace detail {

template <class Kernel>
Kernel kernel_for(plan_model::network const& net)
{
    if constexpr (std::same_as<Kernel, empty_kernel>) return {};
    else return Kernel{&net};
}

} // namespace detail

/// Calls use_executor(executor, prepared). `Kernel`: empty_kernel, or plan_model::network_kernel, which
/// writes noise. `width`: workers or streams.
template <class Kernel, class Callback>
void with_executor(case_kind kind, plan_model::network const& net, std::size_t width, Callback use_executor)
{
    using namespace sublet;
    prepared ready;
    snapshot const program = as_program(net);
    plan_options const options = as_options(net);
    Kernel const kernel = detail::kernel_for<Kernel>(net);
    auto on_this_thread = [&](auto const& mode, sublet::memory_source upstream = {}) {
        cpu_executor execute(program, options, mode, kernel, {.upstream = upstream});
        use_executor(execute, ready);
    };
    if (kind == case_kind::no_plan) return on_this_thread(no_plan{});
    if (kind == case_kind::recycle) return on_this_thread(recycle{});
    // Pools are made for small blocks; here they serve the largest that the implementation allows.
    std::pmr::synchronized_pool_resource pool({0, std::size_t{1} << 30});
    if (kind == case_kind::pooled) return on_this_thread(recycle{}, &pool);

    arena mode;
    bool const is_any_order = kind == case_kind::any_order;
    ready.plan_ms = milliseconds([&] {
        mode.plan =
            is_any_order ? plan_concurrent(program, options).plan : plan_memory(program, options).plan;
    });
    if (kind == case_kind::arena) return on_this_thread(mode);
    if (kind == case_kind::threads || is_any_order) {
        thread_executor execute(program, options, mode, kernel, {.workers = width});
        return use_executor(execute, ready);
    }
    simulated_device device({.paint = false}); // painting would touch arenas before the run
    stream_executor execute(device, program, options, mode, kernel, {.streams = width});
    use_executor(execute, ready);
}

} // namespace bench

#endif
