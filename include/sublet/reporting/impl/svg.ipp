// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_IMPL_SVG_IPP
#define SUBLET_REPORTING_IMPL_SVG_IPP

#include <sublet/detail/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/reporting/svg.hpp>

namespace sublet::detail {

SUBLET_DECL std::vector<placed_buffer const*> drawn_buffers(memory_plan const& plan)
{
    std::vector<keyed> by_pool;
    for (std::uint32_t i = 0; i != plan.buffers.size(); ++i)
        if (plan.buffers[i].size != 0 && plan.buffers[i].offset != no_offset)
            by_pool.push_back({.key = plan.buffers[i].pool, .tie = i, .who = i});
    sort_keyed(by_pool);
    std::vector<placed_buffer const*> drawn;
    for (keyed const& b : by_pool) drawn.push_back(&plan.buffers[b.who]);
    return drawn;
}

} // namespace sublet::detail

#endif
