// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_TIMED_PLAN_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_TIMED_PLAN_HPP

#include "network.hpp"

#include <sublet/analysis/versions.hpp>
#include <sublet/concurrent_planner.hpp>
#include <sublet/handoff_planner.hpp>
#include <sublet/planner.hpp>
#include <sublet/sharing/fewest_slots.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace plan_model {

/// What there is to say of a plan for every schedule, or of one that waits.
struct concurrent_facts {
    bool is_bound_exact = false;
    sublet::slot_plan slots;              ///< by buffer: as few allocations as serve for every schedule
    sublet::byte_count bytes_without = 0; ///< the arena if nobody waits for memory
    sublet::tick_count critical_path = 0, critical_path_with = 0; ///< in nodes
};

struct timed_plan {
    sublet::planned_memory planned;
    double milliseconds = 0; ///< from the network in memory to the checked plan
    std::optional<concurrent_facts> concurrent = {};

    bool is_verified() const { return planned.report.is_checked && planned.is_sound(); }
};

struct wishes {
    sublet::byte_count alignment = 1;
    bool in_place = true;
    std::vector<sublet::node_id> order = {};
    bool concurrent = false, slots = false, handoffs = false;
    std::size_t workers = 0;
};

/// The options refer to the network.
inline sublet::plan_options as_options(network const& net, wishes const& asked)
{
    sublet::plan_options options = as_options(net);
    options.alignment = asked.alignment;
    options.in_place = asked.in_place;
    options.order = asked.order;
    return options;
}

inline double milliseconds_since(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// As few slots for the buffers of a plan as there can be if it is to hold for every schedule.
inline sublet::slot_plan fewest_slots(sublet::snapshot const& program, sublet::plan_options const& options,
                                      sublet::memory_plan const& plan)
{
    auto const role = options.role.tabulate(program.values());
    auto const graph = sublet::dependences(program, {.role = role, .handoffs = plan.handoffs});
    auto const lives =
        sublet::concurrent_lifetimes(program, graph, plan.buffers.size(), plan.buffer_of, role);
    return sublet::fewest_slots(lives, sublet::later_conflicts(graph, lives)).plan;
}

/// The plan is one of the network's values, too: further versions of a value are all its caller's.
inline timed_plan plan_concurrently(network const& net, wishes const& asked)
{
    auto const start = std::chrono::steady_clock::now();
    sublet::plan_options const options = as_options(net, asked);
    auto const versioned = sublet::versions(as_program(net), sublet::versions_for(options));
    if (versioned.violation) throw input_error("its nodes are not listed in an order in which they can run");
    sublet::plan_options const lifted = sublet::with_versions(options, versioned);
    sublet::concurrent_options const how{.strategy = asked.slots ? sublet::concurrent_strategy::slots
                                                                 : sublet::concurrent_strategy::offsets,
                                         .handoffs = versioned.handoffs};
    timed_plan result;
    concurrent_facts& facts = result.concurrent.emplace();
    if (asked.handoffs) {
        auto planned = sublet::plan_with_handoffs(versioned.program, lifted,
                                                  {.workers = asked.workers, .handoffs = versioned.handoffs});
        facts.bytes_without = planned.bytes_without;
        facts.critical_path = planned.critical_path;
        facts.critical_path_with = planned.critical_path_with;
        result.planned = std::move(planned);
    } else {
        auto planned = sublet::plan_concurrent(versioned.program, lifted, how);
        facts.is_bound_exact = planned.is_bound_exact;
        facts.slots = std::move(planned.slots);
        result.planned = std::move(planned);
    }
    result.milliseconds = milliseconds_since(start);
    if (!asked.slots) facts.slots = fewest_slots(versioned.program, lifted, result.planned.plan);
    return result;
}

inline timed_plan plan(network const& net, wishes const& asked)
{
    if (asked.concurrent) return plan_concurrently(net, asked);
    auto const start = std::chrono::steady_clock::now();
    sublet::planned_memory planned = sublet::plan_memory(as_program(net), as_options(net, asked));
    return {std::move(planned), milliseconds_since(start)};
}

} // namespace plan_model

#endif
