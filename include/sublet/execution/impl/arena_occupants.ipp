// SPDX-License-Identifier: BSL-1.0

/// arena_occupants: every offset where a planned buffer begins or ends is a border of its pool.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/execution/detail/plan_addresses.hpp>
#include <sublet/execution/internal/arena_occupants.hpp>
#include <sublet/impl/config.hpp>

#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL arena_occupants::arena_occupants(lowered_program const& lowered, memory_plan const& plan)
    : lowered_(lowered), plan_(plan)
{
    expect_placed(lowered, plan);
    table<pool_id, std::vector<sort_key>> borders(plan.arena_bytes.size());
    std::size_t const buffers = lowered.table.buffers.size();
    for (buffer_id b = 0; b != buffers; ++b) {
        if (!its(b).is_planned()) continue;
        borders[its(b).pool].push_back({begin(b), 0, b});
        borders[its(b).pool].push_back({end(b), 0, b});
    }
    for (pool_id pool = 0; pool != borders.size(); ++pool)
        arenas_.emplace_back(std::move(borders[pool]), plan.arena_bytes[pool]);
    for (buffer_id b = 0; b != buffers; ++b)
        if (its(b).is_planned() && is_given(its(b).role)) arenas_[its(b).pool].claim(begin(b), end(b), b);
}

} // namespace sublet::detail
