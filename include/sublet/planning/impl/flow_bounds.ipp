// SPDX-License-Identifier: BSL-1.0

/// A segment tree over the reached positions adds up the sizes of the buffers of a pool that live there and
/// are written on every path; its maximum, or that and one doubtful buffer over its ranges, is the bound.

#include <sublet/analysis/internal/flow_ranges.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/flow_bounds.hpp>
#include <sublet/structures/internal/segment_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

SUBLET_DECL bool are_conflicts_exact(snapshot const& p, live_range_lists const& augmented,
                                     table<value_id, value_role> const& role,
                                     table<step_id, position_id> const& position)
{
    for (unsigned char is_reached : reached_nodes(p))
        if (!is_reached) return false;
    for (value_id v = 0; v != p.values() && p.nodes() != 0; ++v) {
        position_id const first = position[p.steps_of(0).first];
        bool is_there = !has_role(role[v], value_role::input);
        for (live_range r : augmented[v]) is_there = is_there || contains(r, first);
        if (!is_there) return false;
    }
    return true;
}

SUBLET_DECL table<pool_id, flow_bound>
bounds_of_flow(snapshot const& p, live_range_lists const& early,
               sublet::table<value_id, unsigned char> const& is_unwritten,
               sublet::table<step_id, position_id> const& position, buffer_table const& table)
{
    sublet::table<node_id, unsigned char> const is_reached = reached_nodes(p);
    // Before each position: the number of reached ones.
    sublet::table<position_id, std::uint32_t> reached_before(std::size_t{early.positions()} + 1, 0);
    if (early.positions() != 0) reached_before[1] = 1; // the entry
    for (node_id n = 0; n != p.nodes(); ++n)
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s)
            reached_before[position[s] + 1] = is_reached[n];
    std::vector<position_id> reached; // ascending
    for (position_id at = 0; at != early.positions(); ++at) {
        if (reached_before[at + 1] != 0) reached.push_back(at);
        reached_before[at + 1] = static_cast<std::uint32_t>(reached.size());
    }
    unsorted_ranges lives;
    sublet::table<buffer_id, unsigned char> is_doubtful(table.buffers.size(), 0);
    for (value_id v = 0; v != p.values(); ++v) {
        buffer_id const b = table.buffer_of[v];
        if (!table.buffers[b].is_planned()) continue;
        if (!is_unwritten.empty() && is_unwritten[v]) is_doubtful[b] = 1;
        for (live_range r : early[v]) lives.add(b, {reached_before[r.first], reached_before[r.last]});
    }
    auto const count = static_cast<std::uint32_t>(reached.size());
    buffer_range_lists const of_buffer(lives.lists(table.buffers.size(), early.method(), count));
    std::size_t pools = 0;
    for (buffer const& b : table.buffers)
        if (b.is_planned()) pools = larger(pools, std::size_t{b.pool} + 1);
    auto const of_pool = csr_rows<pool_id, buffer_id>::gathered(pools, [&table](auto add) {
        for (buffer_id b = 0; b != table.buffers.size(); ++b)
            if (table.buffers[b].is_planned()) add(table.buffers[b].pool, b);
    });
    sublet::table<pool_id, flow_bound> bounds(pools);
    segment_tree apart(larger(reached.size(), std::size_t{1}));
    for (pool_id pool = 0; pool != pools; ++pool) {
        flow_bound& most = bounds[pool];
        auto offer = [&](live_range r, byte_count more) { // at the first position with the most bytes
            byte_count const bytes = checked_add(apart.most(r), more);
            if (bytes <= most.bytes) return;
            std::size_t const at = partition_point(length(r), [&](std::size_t i) {
                return apart.most({r.first, position_id::of(r.first + i + 1)}) + more == bytes;
            });
            most = {bytes, reached[r.first + at]};
        };
        for (buffer_id b : of_pool[pool])
            for (live_range r : of_buffer[b])
                if (!is_doubtful[b]) apart.add(r, table.buffers[b].size);
        if (!of_pool[pool].empty() && !reached.empty()) offer({0, count}, 0);
        for (buffer_id b : of_pool[pool])
            for (live_range r : of_buffer[b])
                if (is_doubtful[b]) offer(r, table.buffers[b].size);
        for (buffer_id b : of_pool[pool]) {
            buffer const& its = table.buffers[b];
            byte_count const end = its.pinned == no_offset ? its.size : checked_add(its.pinned, its.size);
            most.bytes = larger(most.bytes, end);
            for (live_range r : of_buffer[b])
                if (!is_doubtful[b]) apart.remove(r, its.size);
        }
    }
    return bounds;
}

SUBLET_DECL void set_bounds(table<pool_id, flow_bound> const& bounds, placement& placed)
{
    for (pool_id pool = 0; pool != bounds.size() && pool != placed.pools.size(); ++pool) {
        placed.pools[pool].lower_bound = bounds[pool].bytes;
        placed.pools[pool].peak_position = bounds[pool].position - (bounds[pool].position != 0);
    }
}

} // namespace sublet::detail
