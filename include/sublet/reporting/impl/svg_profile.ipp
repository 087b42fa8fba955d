// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_IMPL_SVG_PROFILE_IPP
#define SUBLET_REPORTING_IMPL_SVG_PROFILE_IPP

#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/reporting/svg_profile.hpp>

#include <cstddef>

namespace sublet::detail {

SUBLET_DECL live_profile profile_of(std::vector<placed_buffer const*> const& buffers)
{
    // What ends at a position comes before what begins there: no sum exceeds what is alive.
    std::vector<keyed> changes;
    for (std::uint32_t i = 0; i != buffers.size(); ++i) {
        live_range const life = buffers[i]->life;
        if (is_empty(life)) continue;
        changes.push_back({.key = life.first, .tie = 1, .who = i});
        changes.push_back({.key = life.last, .tie = 0, .who = i});
    }
    sort_keyed(changes);

    live_profile result;
    byte_count alive = 0, noted = 0;
    for (std::size_t c = 0; c != changes.size(); ++c) {
        byte_count const size = buffers[changes[c].who]->size;
        alive = changes[c].tie == 0 ? alive - size : checked_add(alive, size);
        if (c + 1 != changes.size() && changes[c + 1].key == changes[c].key) continue;
        if (alive == noted) continue;
        auto const position = static_cast<step_id>(changes[c].key);
        result.levels.push_back({position, noted = alive});
        if (alive > result.peak) result.peak = alive, result.peak_position = position;
    }
    return result;
}

SUBLET_DECL std::vector<live_level> highest_by_column(std::vector<live_level> const& levels,
                                                      std::uint32_t columns, step_id positions)
{
    std::vector<byte_count> highest(std::size_t{columns} + 1, 0);
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
        std::uint64_t const last = portion(columns, levels[i + 1].position - 1, positions);
        for (auto c = portion(columns, levels[i].position, positions); c <= last; ++c)
            if (highest[c] < levels[i].bytes) highest[c] = levels[i].bytes;
    }
    std::vector<live_level> result;
    for (std::uint32_t c = 0; c <= columns; ++c)
        if (highest[c] != (result.empty() ? 0 : result.back().bytes)) result.push_back({c, highest[c]});
    return result;
}

} // namespace sublet::detail

#endif
