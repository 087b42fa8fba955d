// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_IMPL_SVG_MAP_IPP
#define SUBLET_REPORTING_IMPL_SVG_MAP_IPP

#include <sublet/impl/config.hpp>
#include <sublet/reporting/svg_map.hpp>

namespace sublet::detail {

SUBLET_DECL std::size_t count_buffers(std::vector<placed_buffer const*> const& drawn, std::size_t first,
                                      std::size_t last)
{
    std::size_t buffers = first == last ? 0 : 1;
    for (std::size_t i = first + 1; i < last; ++i)
        if (drawn[i]->root != drawn[i - 1]->root) ++buffers;
    return buffers;
}

SUBLET_DECL svg_panel panel_of(memory_plan const& plan, std::vector<placed_buffer const*> const& drawn,
                               std::size_t first)
{
    svg_panel panel{.first = first, .last = first, .pool = drawn[first]->pool};
    std::vector<placed_buffer const*> mine;
    for (; panel.last != drawn.size() && drawn[panel.last]->pool == panel.pool; ++panel.last) {
        placed_buffer const& b = *drawn[panel.last];
        mine.push_back(&b);
        panel.ceiling = larger(panel.ceiling, sum_fits(b.offset, b.size) ? b.offset + b.size : no_offset - 1);
    }
    panel.live = profile_of(mine);
    panel.arena = panel.pool < plan.arena_bytes.size() ? plan.arena_bytes[panel.pool] : panel.ceiling;
    panel.ceiling = larger(larger(panel.ceiling, panel.arena), panel.live.peak);
    return panel;
}

} // namespace sublet::detail

#endif
