// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_TIMED_PLAN_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_TIMED_PLAN_HPP

#include "network.hpp"

#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/sharing/share_slots.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace plan_model {

/// Facts about a plan for every schedule, with or without hand-offs.
struct concurrent_facts {
    bool is_bound_exact = false;
    sublet::slot_plan slots;              ///< by buffer: fewest slots for every schedule
    sublet::byte_count bytes_without = 0; ///< the arena without hand-offs
    std::uint64_t critical_path = 0, critical_path_with = 0; ///< in nodes
};

/// Bytes of the arena and number of hand-offs, from the fewest bytes to half as many again. A limit that no
/// plan meets is left out.
inline std::vector<std::pair<sublet::byte_count, std::size_t>>
waits_against_bytes(network const& net, plan_settings const& settings)
{
    sublet::snapshot const program = as_program(net);
    sublet::plan_options const options = as_options(net, settings);
    std::size_t const workers = settings.workers;
    sublet::byte_count const least =
        plan_with_handoffs(program, options, {.workers = workers, .few_waits = false, .minimum_gain = 0})
            .report()
            .arena_bytes;
    std::vector<std::pair<sublet::byte_count, std::size_t>> curve;
    for (unsigned const percent : {0u, 1u, 2u, 5u, 10u, 25u, 50u}) {
        sublet::byte_count const most = least + least / 100 * percent + least % 100 * percent / 100;
        auto const planned = plan_with_handoffs(program, options, {.workers = workers, .most_bytes = most});
        if (!planned) continue;
        std::pair const point{planned.report().arena_bytes, planned.plan.handoffs.size()};
        if (curve.empty() || curve.back() != point) curve.push_back(point);
    }
    return curve;
}

struct timed_plan {
    sublet::planned_with_handoffs planned; ///< of any planner; without hand-offs they are empty
    double milliseconds = 0; ///< from the network in memory to the checked plan
    std::optional<concurrent_facts> concurrent = {};

    bool is_verified() const { return planned.report().is_checked && bool(planned); }
};

inline double milliseconds_since(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// The fewest slots for every schedule; for very many values, few slots found quickly.
inline sublet::slot_plan slots_of(sublet::snapshot const& program, sublet::plan_options const& options,
                                  sublet::memory_plan const& plan)
{
    using strategy = sublet::slot_options::strategy_kind;
    return sublet::share_slots(
        program, options,
        {.strategy = plan.buffers.size() <= 20'000 ? strategy::fewest : strategy::chains,
         .handoffs = plan.handoffs});
}

inline timed_plan plan_concurrently(network const& net, plan_settings const& settings)
{
    auto const start = std::chrono::steady_clock::now();
    timed_plan result;
    sublet::snapshot const program = as_program(net);
    sublet::plan_options const options = as_options(net, settings);
    concurrent_facts& facts = result.concurrent.emplace();
    if (settings.handoffs) {
        auto planned = sublet::plan_with_handoffs(program, options, {.workers = settings.workers});
        facts.bytes_without = planned.bytes_without;
        facts.critical_path = planned.critical_path;
        facts.critical_path_with = planned.critical_path_with;
        result.planned = std::move(planned);
    } else {
        auto planned = sublet::plan_concurrent(
            program, options,
            {.strategy = settings.slots ? sublet::concurrent_options::strategy_kind::slots
                                        : sublet::concurrent_options::strategy_kind::offsets});
        facts.is_bound_exact = planned.is_bound_exact;
        facts.slots = std::move(planned.slots);
        static_cast<sublet::planned_memory&>(result.planned) = std::move(planned);
    }
    result.milliseconds = milliseconds_since(start);
    if (!settings.slots) facts.slots = slots_of(program, options, result.planned.plan);
    return result;
}

inline timed_plan plan(network const& net, plan_settings const& settings)
{
    if (settings.concurrent) return plan_concurrently(net, settings);
    auto const start = std::chrono::steady_clock::now();
    timed_plan result;
    static_cast<sublet::planned_memory&>(result.planned) =
        sublet::plan_memory(as_program(net), as_options(net, settings));
    result.milliseconds = milliseconds_since(start);
    return result;
}

} // namespace plan_model

#endif
