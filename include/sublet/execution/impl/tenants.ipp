// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_IMPL_TENANTS_IPP
#define SUBLET_EXECUTION_IMPL_TENANTS_IPP

#include <sublet/execution/tenants.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

SUBLET_DECL tenants::tenants(run_tape const& tape, memory_plan const& plan) : tape_(tape), plan_(plan)
{
    expect_places(tape, plan);
    std::vector<std::vector<keyed>> borders(plan.arena_bytes.size());
    auto const buffers = static_cast<buffer_id>(tape.table.buffers.size());
    for (buffer_id b = 0; b != buffers; ++b) {
        if (!its(b).is_planned()) continue;
        borders[its(b).pool].push_back({begin(b), 0, b});
        borders[its(b).pool].push_back({end(b), 0, b});
    }
    for (std::size_t pool = 0; pool != borders.size(); ++pool)
        arenas_.emplace_back(std::move(borders[pool]), plan.arena_bytes[pool]);
    for (buffer_id b = 0; b != buffers; ++b)
        if (its(b).is_planned() && is_given(its(b).role)) arenas_[its(b).pool].claim(begin(b), end(b), b);
}

} // namespace sublet::detail

#endif
