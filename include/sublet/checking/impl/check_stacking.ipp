// SPDX-License-Identifier: BSL-1.0

/// The plan is moved to the offsets of the stacking, with its own sizes and with one buffer after the other
/// made huge; each time the checker of its reading decides.

#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_stacking.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet::detail {

/// Each buffer of the plan is once in the order, as the plan has it, after what lies below it.
SUBLET_DECL bool is_stacking_of(stacking const& stack, memory_plan const& plan)
{
    if (stack.order.size() != plan.buffers.size() || stack.pools < plan.arena_bytes.size()) return false;
    table<buffer_id, unsigned char> is_seen(plan.buffers.size(), 0);
    for (std::size_t i = 0; i != stack.order.size(); ++i) {
        stacking::layer const& its = stack.order[i];
        std::size_t const end =
            i + 1 == stack.order.size() ? stack.below.size() : stack.order[i + 1].first_below;
        if (its.buffer >= plan.buffers.size() || its.first_below > end || end > stack.below.size())
            return false;
        memory_plan::placed_buffer const& b = plan.buffers[its.buffer];
        if (its.pool != b.pool || its.alignment == 0 || its.over != b.over) return false;
        if (its.over != no_buffer && (its.over >= plan.buffers.size() || is_seen[its.over] == 0))
            return false;
        for (std::size_t k = its.first_below; k != end; ++k)
            if (stack.below[k] >= plan.buffers.size() || is_seen[stack.below[k]] == 0) return false;
        if (std::exchange(is_seen[its.buffer], 1) != 0) return false;
    }
    return stack.order.empty() || stack.order.front().first_below == 0;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_stacking(snapshot const& p, stacking const& stack, memory_plan const& plan,
                                   plan_options const& given, flow_options const& flow)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    if (plan.buffer_of.size() != p.values() || !detail::is_stacking_of(stack, plan))
        return counterexample{fault::foreign_plan};
    table<value_id, value_id> const root =
        detail::roots_of(options.alias_of.tabulate(p.values(), "alias_of"));
    byte_count huge = 1;
    for (memory_plan::placed_buffer const& b : plan.buffers)
        huge = checked_add(huge, checked_add(b.size, b.alignment));
    SUBLET_EXPECTS(huge < byte_count{1} << 60,
                   "sublet: the sizes of a plan are % bytes together, and more in a proof", huge);
    stacking free = stack; // what is below what does not depend on pins, for which a huge buffer is too large
    for (stacking::layer& its : free.order) its.pinned = no_offset;
    stacking::offsets now;
    auto judge = [&](std::vector<byte_count> const& sizes,
                     table<value_id, byte_count> const& bytes) -> verdict {
        if (verdict placed = free.place(sizes, now); !placed) return placed;
        memory_plan moved = plan;
        plan_options with_sizes = options;
        for (pool_id pool = 0; pool != plan.arena_bytes.size(); ++pool)
            moved.arena_bytes[pool] = now.bytes[pool];
        for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
            moved.buffers[b].offset = now.of[b];
            moved.buffers[b].size = sizes[+b];
        }
        with_sizes.bytes = bytes;
        with_sizes.pinned = no_offset;
        for (pool_limits& pool : with_sizes.pools) pool.capacity = pool.largest_block = no_limit;
        moved.blocks.clear();
        if (plan.valid_for == program_reading::concurrent) return check_concurrent_plan(p, moved, with_sizes);
        if (plan.valid_for == program_reading::control_flow)
            return check_flow_plan(p, moved, with_sizes, flow);
        return check_plan(p, moved, with_sizes);
    };
    table<value_id, byte_count> const bytes = options.bytes.tabulate(p.values(), "bytes");
    std::vector<byte_count> sizes;
    for (memory_plan::placed_buffer const& b : plan.buffers) sizes.push_back(b.size);
    if (verdict valid = judge(sizes, bytes); !valid) return valid;
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        std::vector<byte_count> larger_sizes = sizes;
        table<value_id, byte_count> larger_bytes = bytes;
        for (buffer_id at = b; at != no_buffer;
             at = plan.buffers[at].over) { // what it is written over is no smaller
            larger_sizes[+at] += huge;
            for (value_id v = 0; v != p.values(); ++v)
                if (plan.buffer_of[v] == at && root[v] == v) larger_bytes[v] += huge;
        }
        verdict valid = judge(larger_sizes, larger_bytes);
        if (!valid) return valid;
    }
    return {};
}

} // namespace sublet
