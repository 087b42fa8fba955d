// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_IN_PLACE_GAINS_IPP
#define SUBLET_SHARING_IMPL_IN_PLACE_GAINS_IPP

#include <sublet/analysis/pressure.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/sharing/in_place_gains.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet {

SUBLET_DECL std::vector<in_place_gain> in_place_gains(buffer_table const& table,
                                                      std::vector<step_id> const& steps)
{
    std::vector<in_place_gain> gains;
    if (table.in_place.empty()) return gains;
    std::vector<step_id> position_of(steps.size());
    for (step_id at = 0; at != steps.size(); ++at) position_of[steps[at]] = at;

    std::vector<keyed> by_pool; // {pool, position, pair}
    for (std::uint32_t i = 0; i != table.in_place.size(); ++i) {
        in_place_pair const& pair = table.in_place[i];
        buffer const& in = table.buffers[table.buffer_of[pair.in]];
        by_pool.push_back({in.pool, position_of[pair.step], i});
        gains.push_back({pair});
    }
    sort_keyed(by_pool);
    auto const positions = static_cast<step_id>(steps.size());
    memory_pressure levels;
    for (std::size_t i = 0; i != by_pool.size();) {
        auto const pool = static_cast<pool_id>(by_pool[i].key);
        if (i == 0 || by_pool[i - 1].key != pool)
            levels = pressure(
                table.buffers.size(),
                [&](buffer_id b) {
                    buffer const& its = table.buffers[b];
                    return its.is_planned() && its.pool == pool ? its.life : live_range{};
                },
                [&](buffer_id b) { return table.buffers[b].size; }, positions);
        byte_count const here = levels.live_bytes[by_pool[i].tie];
        auto above = [&](byte_count more) {
            byte_count const height = checked_add(here, more);
            return height > levels.peak ? height - levels.peak : 0;
        };
        std::size_t const first = i;
        byte_count all = 0;
        for (; i != by_pool.size() && by_pool[i].key == pool && by_pool[i].tie == by_pool[first].tie; ++i) {
            in_place_gain& gain = gains[by_pool[i].who];
            gain.peak_bytes = above(gain.bytes);
            all = checked_add(all, gain.bytes);
        }
        for (std::size_t of_step = first; of_step != i; ++of_step)
            gains[by_pool[of_step].who].step_peak_bytes = above(all);
    }
    return gains;
}

} // namespace sublet

#endif
