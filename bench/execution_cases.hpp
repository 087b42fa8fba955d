// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_EXECUTION_CASES_HPP
#define SUBLET_BENCH_EXECUTION_CASES_HPP

/// The ways to run a network that bench_execution compares, each behind the same face.
///
///     B0  no_plan         every value has bytes of its own until the run ends
///     B1  recycle         references are counted, on new and delete
///     B2  pooled          the same on a std::pmr::synchronized_pool_resource
///     B4  arena           the plan for one order, step by step
///     B5  threads         that plan, steps at once: who gets bytes waits for those who had them
///     B5  streams         the same on a simulated device, whose streams are queues in host memory
///     B6  any_order       a plan that holds for every schedule, steps at once
///
/// B3 and B7, the driver's own planner and a captured graph, need a GPU.

#include "../examples/plan_model/network_versions.hpp"
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

enum class way : std::uint8_t { no_plan, recycle, pooled, arena, threads, streams, any_order };

struct named_way {
    way how;
    char const* label;
    char const* name;
};
inline constexpr named_way all_ways[] = {{way::no_plan, "B0", "no_plan"},    {way::recycle, "B1", "recycle"},
                                         {way::pooled, "B2", "pooled"},      {way::arena, "B4", "arena"},
                                         {way::threads, "B5", "threads"},    {way::streams, "B5", "streams"},
                                         {way::any_order, "B6", "any_order"}};

/// What there is to know of an executor besides itself.
struct prepared {
    std::vector<sublet::value_id> last = {}; ///< where versions are run: by value, the last
    double plan_ms = 0;                      ///< from the network to the proved plan
};

/// Touches nothing: what is left is the cost of running.
struct idle_kernel {
    template <class Call>
    void operator()(Call const&) const
    {
    }
};

namespace detail {

template <class Kernel>
Kernel kernel_for(plan_model::network const& net, std::vector<sublet::value_id> const* value_of = nullptr)
{
    if constexpr (std::same_as<Kernel, idle_kernel>) return {};
    else return Kernel{&net, value_of};
}

} // namespace detail

/// Calls see(executor, prepared). `Kernel`: idle_kernel, or plan_model::network_kernel, which writes noise.
/// `width`: workers or streams.
template <class Kernel, class See>
void with_executor(way how, plan_model::network const& net, std::size_t width, See see)
{
    using namespace sublet;
    using plan_model::network_versions;
    prepared ready;
    if (how == way::any_order) {
        planned_concurrently planned;
        network_versions const versions(net);
        ready.plan_ms = milliseconds([&] {
            planned = plan_concurrent(versions.made.program, versions.options,
                                      {.handoffs = versions.made.handoffs});
        });
        ready.last = versions.made.last;
        thread_executor execute(versions.made.program, versions.options, arena{planned.plan},
                                detail::kernel_for<Kernel>(net, &versions.made.value_of),
                                {.workers = width, .handoffs = versions.made.handoffs});
        return see(execute, ready);
    }
    snapshot const program = as_program(net);
    plan_options const options = as_options(net);
    Kernel const kernel = detail::kernel_for<Kernel>(net);
    auto on_this_thread = [&](auto const& mode, sublet::detail::memory_source upstream = {}) {
        cpu_executor execute(program, options, mode, kernel, {.upstream = upstream});
        see(execute, ready);
    };
    if (how == way::no_plan) return on_this_thread(no_plan{});
    if (how == way::recycle) return on_this_thread(recycle{});
    // Pools are made for small blocks; here, for as large ones as the implementation takes.
    std::pmr::synchronized_pool_resource pool({0, std::size_t{1} << 30});
    if (how == way::pooled) return on_this_thread(recycle{}, &pool);

    arena mode;
    ready.plan_ms = milliseconds([&] { mode.plan = plan_memory(program, options).plan; });
    if (how == way::arena) return on_this_thread(mode);
    if (how == way::threads) {
        thread_executor execute(program, options, mode, kernel, {.workers = width});
        return see(execute, ready);
    }
    simulated_device device({.paint = false}); // or arenas would be there before the run
    stream_executor execute(device, program, options, mode, kernel, {.streams = width});
    see(execute, ready);
}

} // namespace bench

#endif
