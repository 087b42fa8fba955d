// SPDX-License-Identifier: BSL-1.0

/// The places of the plan with the requirements of the other program; then the checker of the reading.

#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/fits.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>

#include <optional>
#include <utility>

namespace sublet::detail {

/// The order of the plan without nodes that the program does not have; none if it lacks nodes that it has.
SUBLET_DECL std::optional<std::vector<node_id>> order_without_others(std::vector<node_id> const& order,
                                                                     std::size_t nodes)
{
    std::vector<node_id> rest;
    table<node_id, unsigned char> is_named(nodes, 0);
    for (node_id n : order) {
        if (n >= nodes) continue;
        if (std::exchange(is_named[n], 1)) return std::nullopt;
        rest.push_back(n);
    }
    if (!order.empty() && rest.size() != nodes) return std::nullopt;
    return rest;
}

/// Gives the buffers of the program that `required` describes the places that they have in `plan`.
SUBLET_DECL void keep_places(memory_plan const& plan, plan_requirements const& required,
                             table<pool_id, pool_limits> const& pools, memory_plan& kept)
{
    std::size_t const values = required.root.size();
    table<buffer_id, buffer_id> number(plan.buffers.size(), no_buffer); // of the plan: in `kept`
    auto planned_buffer = [&plan](value_id v) {
        return v < plan.buffer_of.size() ? plan.buffer_of[v] : no_buffer;
    };
    kept.buffer_of.assign(values, no_buffer);
    for (value_id r = 0; r != values; ++r) {
        if (required.root[r] != r) continue;
        bool const is_touched = !is_empty(required.life[r]);
        bool const is_unsized = required.bytes[r] == no_size && required.eligible[r] &&
                                !has_role(required.class_role[r], value_role::external);
        if (is_unsized) kept.unsized.push_back(r);
        buffer_id const from = planned_buffer(r);
        if (from == no_buffer || required.bytes[r] == 0 || !is_touched) continue;
        memory_plan::placed_buffer one = plan.buffers[from];
        bool const is_first_byte = plan.offset_of(r) == one.offset;
        if (!is_first_byte || number[from] == no_buffer) {
            one.root = r;
            one.life = required.life[r];
            one.size = required.bytes[r];
            one.alignment = one.pool < pools.size() ? pools[one.pool].alignment : 1;
            one.offset = plan.offset_of(r);
            kept.buffer_of[r] = buffer_id::of(kept.buffers.size());
            if (is_first_byte) number[from] = kept.buffer_of[r];
            else one.over = no_buffer;
            kept.buffers.push_back(one);
            continue;
        }
        kept.buffer_of[r] = number[from];
        memory_plan::placed_buffer& its = kept.buffers[number[from]];
        its.life = hull(its.life, required.life[r]);
        its.size = larger(its.size, required.bytes[r]);
    }
    bool has_offsets = false;
    for (value_id v = 0; v != values; ++v) {
        kept.buffer_of[v] = kept.buffer_of[required.root[v]];
        has_offsets = has_offsets || required.offset_in_root[v] != 0;
        if (kept.buffer_of[v] == no_buffer || required.offset_in_root[v] != 0) continue;
        byte_count& alignment = kept.buffers[kept.buffer_of[v]].alignment;
        alignment = combine_alignment(alignment, required.alignment[v]);
    }
    for (value_id v = 0; v != values && has_offsets; ++v)
        kept.offset_in_root.push_back(required.offset_in_root[v]);
    for (value_id v = 0; v != values; ++v) {
        value_id const r = required.root[v];
        byte_count const pin = required.pinned[r];
        if (required.is_empty_storage(r))
            kept.empty.push_back({v, required.pool[r], pin == no_offset ? byte_count{0} : pin});
    }
    for (memory_plan::placed_buffer& one : kept.buffers) {
        if (one.over == no_buffer) continue;
        one.over = one.over < number.size() ? number[one.over] : no_buffer;
        bool const begins_where_it_ends =
            one.over != no_buffer && one.life.first + 1 == kept.buffers[one.over].life.last;
        if (begins_where_it_ends) ++one.life.first;
        else one.over = no_buffer;
    }
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL fitted_plan fits(memory_plan const& plan, snapshot const& p, plan_options const& given,
                             flow_options const& flow)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    fitted_plan result;
    memory_plan& kept = result.plan;
    auto const order = detail::order_without_others(plan.order, p.nodes());
    if (!detail::is_complete(plan, plan.buffer_of.size()) || ((*asked).order.empty() && !order)) {
        result.refute(counterexample{fault::foreign_plan});
        return result;
    }
    plan_options options = *asked;
    if (options.order.empty()) options.order = *order;
    kept.valid_for = plan.valid_for;
    kept.order = options.order;
    kept.arena_bytes = plan.arena_bytes;
    kept.blocks = plan.blocks;
    for (handoff h : plan.handoffs)
        if (h.from < p.steps() && h.to < p.steps()) kept.handoffs.push_back(h);
    detail::keep_places(plan, detail::derive_requirements(p, options), options.pools, kept);
    switch (plan.valid_for) {
    case program_reading::sequential: result.refute(check_plan(p, kept, options)); break;
    case program_reading::concurrent: result.refute(check_concurrent_plan(p, kept, options)); break;
    case program_reading::control_flow: result.refute(check_flow_plan(p, kept, options, flow)); break;
    }
    return result;
}

} // namespace sublet
