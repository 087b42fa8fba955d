// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_IDLE_LOADS_IPP
#define SUBLET_PLACEMENT_IMPL_IDLE_LOADS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/placement/idle_loads.hpp>

namespace sublet {

SUBLET_DECL idle_loads::idle_loads(placement_problem const& problem, idle_times const& times)
    : problem_(problem), times_(times), is_taken_(times.stretches.size(), 0),
      blocked_(times.stretches.size(), 0), is_plain_(times.stretches.size(), 1)
{
    for (placement_buffer const& b : problem.buffers) positions_ = larger(positions_, b.life.last);
    std::size_t const pools = pool_count(problem);
    trees_.assign(pools, load_tree(positions_));
    for (placement_buffer const& b : problem.buffers)
        if (!is_empty(b.life)) trees_[b.pool].add(b.life, b.size);
    for (return_load const& l : times.loads) is_plain_[l.stretch] = 0;
    for (stretch_need const& n : times.needs) is_plain_[n.stretch] = 0;
    loads_of_ = by_stretch(times.loads.size(), [&](std::size_t i) { return times.loads[i].stretch; });
    asked_by_ = by_stretch(times.needs.size(), [&](std::size_t i) { return times.needs[i].stretch; });
    asking_ = by_stretch(times.needs.size(), [&](std::size_t i) { return times.needs[i].kept; });

    for (std::size_t pool = 0; pool != pools; ++pool) initial_.push_back(loads(pool));
    std::vector<absent> const away = all_away();
    for (auto const& [i, gone] : away) trees_[pool_of(i)].remove(gone, bytes(i));
    for (std::size_t pool = 0; pool != pools; ++pool) {
        lowest_load most;
        least_loads_.push_back(loads(pool));
        for (std::size_t at = 0; at != positions_; ++at)
            if (least_loads_[pool][at] > most.bytes)
                most = {least_loads_[pool][at], static_cast<step_id>(at)};
        least_.push_back(most);
        byte_count const asked = pool < problem.pools.size() ? problem.pools[pool].capacity : no_limit;
        capacity_.push_back(larger(asked, most.bytes));
    }
    for (auto const& [i, gone] : away) trees_[pool_of(i)].add(gone, bytes(i));
}

SUBLET_DECL bool idle_loads::is_free(std::uint32_t i) const
{
    if (is_taken_[i] || blocked_[i] != 0) return false;
    for (std::uint32_t n : asked_by_[i])
        if (is_taken_[times_.needs[n].kept]) return false;
    return true;
}

SUBLET_DECL bool idle_loads::can_be_borne(std::uint32_t i) const
{
    for (std::uint32_t l : loads_of_[i]) {
        return_load const& load = times_.loads[l];
        if (checked_add(least_loads_[load.pool][load.position], load.bytes) > capacity_[load.pool])
            return false;
    }
    return true;
}

SUBLET_DECL void idle_loads::take(std::uint32_t i) { change(i, true); }

SUBLET_DECL void idle_loads::give_back_askers(std::uint32_t i)
{
    for (std::uint32_t n : asking_[i])
        if (is_taken_[times_.needs[n].stretch]) give_back(times_.needs[n].stretch);
}

SUBLET_DECL std::vector<byte_count> idle_loads::loads(std::size_t pool) const
{
    std::vector<byte_count> result;
    result.reserve(positions_);
    for (step_id at = 0; at != positions_; ++at) result.push_back(trees_[pool].most({at, at + 1}));
    return result;
}

SUBLET_DECL std::vector<idle_loads::absent> idle_loads::all_away() const
{
    std::vector<keyed> sorted;
    for (std::uint32_t i = 0; i != stretches(); ++i)
        if (!is_empty(when(i))) sorted.push_back({times_.stretches[i].buffer, when(i).first, i});
    sort_keyed(sorted);
    std::vector<absent> away;
    for (std::size_t k = 0; k != sorted.size(); ++k) {
        live_range const its = when(sorted[k].who);
        bool const meets = k != 0 && sorted[k].key == sorted[k - 1].key && its.first < away.back().when.last;
        if (meets) away.back().when = hull(away.back().when, its);
        else away.push_back({sorted[k].who, its});
    }
    return away;
}

SUBLET_DECL void idle_loads::change(std::uint32_t i, bool taken)
{
    is_taken_[i] = taken;
    put(pool_of(i), when(i), bytes(i), !taken);
    for (std::uint32_t l : loads_of_[i]) {
        return_load const& load = times_.loads[l];
        put(load.pool, {load.position, load.position + 1}, load.bytes, taken);
    }
    for (std::uint32_t n : asked_by_[i]) blocked_[times_.needs[n].kept] += taken ? 1u : ~0u;
}

} // namespace sublet

#endif
