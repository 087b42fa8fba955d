// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_PLACED_VALUES_HPP
#define SUBLET_TEST_PLACED_VALUES_HPP

/// Plans that say for each value where it is: every one has a buffer of its own, so that buffer ids imply
/// nothing about sharing.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <vector>

/// For one order. A value at `no_offset` has no buffer.
inline sublet::memory_plan plan_at(std::vector<sublet::byte_count> const& where, sublet::byte_count arena)
{
    sublet::memory_plan plan;
    for (sublet::byte_count offset : where) {
        bool const is_placed = offset != sublet::no_offset;
        plan.buffer_of.push_back(is_placed ? sublet::buffer_id::of(plan.buffers.size()) : sublet::no_buffer);
        if (is_placed) plan.buffers.push_back({.offset = offset});
    }
    plan.arena_bytes = {arena};
    return plan;
}

/// For every path through a flow of nodes, with `size` bytes each.
inline sublet::memory_plan flow_plan_at(std::vector<sublet::byte_count> const& where, sublet::byte_count size)
{
    sublet::memory_plan plan{.valid_for = sublet::program_reading::control_flow};
    for (sublet::value_id v = 0; v != where.size(); ++v) {
        plan.buffers.push_back({.root = v, .size = size, .offset = where[v]});
        plan.buffer_of.push_back(+v);
    }
    return plan;
}

#endif
