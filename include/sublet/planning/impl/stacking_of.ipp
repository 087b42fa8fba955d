// SPDX-License-Identifier: BSL-1.0
/// Buffers are sorted by their offsets. In one order and along paths a sweep over positions finds the
/// neighbours; for every schedule they are stacked by pairs.

#include <sublet/analysis/dependences.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/stack_buffers.hpp>
#include <sublet/planning/detail/in_every_schedule.hpp>
#include <sublet/planning/stacking_of.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

/// The buffers of a plan, without ranges. One with a value that is pinned is pinned to where it lies.
SUBLET_DECL unsized_buffers layers_of(memory_plan const& plan, per_value<byte_count> const& pinned)
{
    SUBLET_EXPECTS(plan.blocks.empty(),
                   "sublet: pool % has several blocks, and a stacking has one block in each pool",
                   plan.blocks.front().pool);
    unsized_buffers made;
    made.pools = static_cast<std::uint32_t>(plan.arena_bytes.size());
    for (memory_plan::placed_buffer const& b : plan.buffers) {
        SUBLET_EXPECTS(b.offset != no_offset && b.pool < made.pools,
                       "sublet: value % has no place in its plan", b.root);
        made.layers.push_back({.pool = b.pool, .alignment = b.alignment, .over = b.over});
    }
    for (memory_plan::placed_buffer const& b : plan.buffers) // what it is written over lies where it lies
        for (buffer_id at = b.over; at != no_buffer; at = plan.buffers[at].over)
            made.layers[at].alignment = combine_alignment(made.layers[at].alignment, b.alignment);
    table<value_id, byte_count> const pins = pinned.tabulate(plan.buffer_of.size(), "pinned");
    for (value_id v = 0; v != pins.size(); ++v)
        if (buffer_id const b = plan.buffer_of[v]; b != no_buffer && pins[v] != no_offset)
            made.layers[b].pinned = plan.buffers[b].offset;
    return made;
}

/// From below; what is written over a buffer comes after it.
SUBLET_DECL std::vector<buffer_id> from_below(memory_plan const& plan)
{
    std::vector<sort_key> by_offset;
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        std::uint64_t depth = 0;
        for (buffer_id at = plan.buffers[b].over; at != no_buffer; at = plan.buffers[at].over) ++depth;
        by_offset.push_back({plan.buffers[b].offset, depth, b});
    }
    sort_by_key(by_offset);
    std::vector<buffer_id> order;
    for (sort_key const& its : by_offset) order.push_back(buffer_id{its.id});
    return order;
}

/// By neighbours at each position.
SUBLET_DECL stacking stack_ranges(unsized_buffers const& all, std::vector<buffer_id> const& order)
{
    stacking made;
    buffer_stacker(all, order).stack(order, made);
    return made;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL stacking stacking_of(snapshot const& p, memory_plan const& plan, plan_options const& given)
{
    SUBLET_EXPECTS(
        plan.valid_for != program_reading::control_flow,
        "sublet: a plan for control flow does not tell where its buffers live: pass the planned_flow");
    SUBLET_EXPECTS(plan.buffer_of.size() == p.values(),
                   "sublet: a plan of % values is not one of a program with %", plan.buffer_of.size(),
                   p.values());
    detail::expect_one_program(given, "stacking_of");
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    detail::unsized_buffers buffers = detail::layers_of(plan, options.pinned);
    std::vector<buffer_id> const order = detail::from_below(plan);
    if (plan.valid_for == program_reading::concurrent) {
        dependence_graph const g = dependences(p, detail::dependences_of(options, plan.handoffs));
        SUBLET_EXPECTS(bool{g}, "sublet: the steps of a plan for every schedule wait for themselves");
        auto const role = options.role.tabulate(p.values(), "role");
        stacking made;
        detail::in_every_schedule(p, g, buffers, plan.buffer_of, role, options.effort).stack(order, made);
        return made;
    }
    for (memory_plan::placed_buffer const& b : plan.buffers) {
        buffers.ranges.push_back(b.life);
        buffers.end_buffer();
    }
    return detail::stack_ranges(buffers, order);
}

SUBLET_DECL stacking stacking_of(planned_flow const& planned, per_value<byte_count> const& pinned)
{
    SUBLET_EXPECTS(bool{planned}, "sublet: there is no plan, and so no stacking of it");
    memory_plan const& plan = planned.plan;
    detail::unsized_buffers buffers = detail::layers_of(plan, pinned);
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        for (live_range r : planned.lives[b]) buffers.ranges.push_back(r);
        buffers.end_buffer();
    }
    return detail::stack_ranges(buffers, detail::from_below(plan));
}

} // namespace sublet
