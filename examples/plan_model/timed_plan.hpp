// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_TIMED_PLAN_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_TIMED_PLAN_HPP

#include "network.hpp"

#include <sublet/planner.hpp>

#include <chrono>
#include <utility>
#include <vector>

namespace plan_model {

struct timed_plan {
    sublet::planned_memory planned;
    double milliseconds; ///< from the network in memory to the checked plan

    bool is_verified() const { return planned.report.is_checked && planned.is_sound(); }
};

struct wishes {
    sublet::byte_count alignment = 1;
    bool in_place = true;
    std::vector<sublet::node_id> order = {};
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

inline timed_plan plan(network const& net, wishes const& asked)
{
    auto const start = std::chrono::steady_clock::now();
    sublet::planned_memory planned = sublet::plan_memory(as_program(net), as_options(net, asked));
    std::chrono::duration<double, std::milli> const took = std::chrono::steady_clock::now() - start;
    return {std::move(planned), took.count()};
}

} // namespace plan_model

#endif
