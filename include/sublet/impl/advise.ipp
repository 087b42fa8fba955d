// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/advise.hpp>
#include <sublet/impl/config.hpp>

#include <bit>
#include <optional>
#include <queue>
#include <utility>

// --- idle loads ------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL idle_loads::idle_loads(placement_problem const& problem, idle_times const& times)
    : problem_(problem), times_(times), is_taken_(times.stretches.size(), 0),
      blocked_(times.stretches.size(), 0), is_plain_(times.stretches.size(), 1)
{
    for (placement_problem::buffer const& b : problem.buffers) positions_ = larger(positions_, b.life.last);
    std::size_t const pools = pool_count(problem);
    trees_.assign(pools, load_tree(positions_));
    for (placement_problem::buffer const& b : problem.buffers)
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

// --- advise ----------------------------------------------------------------------------------------------

/// What an absence gives, before that is divided by its cost.
enum class worth_of_absence : std::uint8_t {
    bytes_idle,    ///< its bytes, for all its positions
    bytes_crowded, ///< for those above the capacity
    needed_crowded ///< and no more bytes than the most that are above it
};

/// Stretches by falling worth, of those that can be worth anything.
template <class Loads>
std::vector<std::uint32_t> ranked_stretches(Loads const& loads, bool only_plain, worth_of_absence measured)
{
    std::vector<std::vector<std::uint32_t>> crowded_below(loads.pools()); // positions above the capacity
    std::vector<byte_count> most_over(loads.pools(), 0);
    for (std::size_t pool = 0; pool != loads.pools(); ++pool) {
        crowded_below[pool].push_back(0);
        for (byte_count load : loads.initial(pool)) {
            bool const is_over = load > loads.capacity(pool);
            crowded_below[pool].push_back(crowded_below[pool].back() + is_over);
            if (is_over) most_over[pool] = larger(most_over[pool], load - loads.capacity(pool));
        }
    }
    std::vector<keyed> worth;
    for (std::uint32_t i = 0; i != loads.stretches(); ++i) {
        live_range const when = loads.when(i);
        if (is_empty(when) || (only_plain && !loads.is_plain(i)) || !loads.can_be_borne(i)) continue;
        std::size_t const pool = loads.pool_of(i);
        std::uint32_t const crowded = crowded_below[pool][when.last] - crowded_below[pool][when.first];
        if (crowded == 0) continue;
        bool const is_needed = measured == worth_of_absence::needed_crowded;
        bool const is_idle = measured == worth_of_absence::bytes_idle;
        auto const wide =
            static_cast<double>(is_needed ? smaller(loads.bytes(i), most_over[pool]) : loads.bytes(i));
        double const gained = wide * static_cast<double>(is_idle ? length(when) : crowded);
        double const each = gained / static_cast<double>(larger(loads.cost(i), byte_count{1}));
        worth.push_back({falling(std::bit_cast<std::uint64_t>(each)), 0, i}); // no double here is negative
    }
    sort_keyed(worth);
    std::vector<std::uint32_t> order;
    for (keyed const& k : worth) order.push_back(k.who);
    return order;
}

/// In this order, whatever covers a position above the capacity just then. A second round sees what loads of
/// the first have raised.
template <class Loads>
void take_in_turn(Loads& loads, std::vector<std::uint32_t> const& order)
{
    for (int round = 0; round != 2; ++round)
        for (std::uint32_t i : order)
            if (loads.is_free(i) && loads.is_crowded(i)) loads.take(i);
}

/// From the first position to the last, where there are too many bytes the first in this order of what covers
/// it, until there are not.
template <class Loads>
void take_in_time(Loads& loads, std::vector<std::uint32_t> const& order)
{
    std::vector<keyed> by_first; // {first, rank, stretch}
    for (std::size_t rank = 0; rank != order.size(); ++rank)
        by_first.push_back({loads.when(order[rank]).first, rank, order[rank]});
    sort_keyed(by_first);
    struct waiting {
        std::uint64_t rank;
        std::uint32_t stretch;
        bool operator<(waiting const& other) const { return other.rank < rank; } // the lowest comes first
    };
    std::vector<std::priority_queue<waiting>> open(loads.pools());
    std::size_t next = 0;
    for (step_id at = 0; at != loads.positions(); ++at) {
        for (; next != by_first.size() && by_first[next].key == at; ++next)
            open[loads.pool_of(by_first[next].who)].push({by_first[next].tie, by_first[next].who});
        for (std::size_t pool = 0; pool != loads.pools(); ++pool)
            while (!open[pool].empty() && loads.is_crowded(pool, {at, at + 1})) {
                std::uint32_t const i = open[pool].top().stretch;
                open[pool].pop();
                if (contains(loads.when(i), at) && loads.is_free(i)) loads.take(i);
            }
    }
    take_in_turn(loads, order);
}

/// Where there still are too many bytes, what is plain goes before what asks that it stays.
template <class Loads>
void insist(Loads& loads, std::vector<std::uint32_t> const& order)
{
    bool is_changed = true;
    for (int round = 0; is_changed && round != 8; ++round) {
        is_changed = false;
        for (std::uint32_t i : order) {
            if (!loads.is_plain(i) || loads.is_taken(i) || !loads.is_crowded(i)) continue;
            loads.give_back_askers(i);
            loads.take(i);
            is_changed = true;
        }
        if (is_changed) take_in_turn(loads, order);
    }
}

SUBLET_DECL memory_relief advise(placement_problem const& problem, idle_times const& times)
{
    idle_loads loads(problem, times);
    memory_relief result;
    for (std::size_t pool = 0; pool != loads.pools(); ++pool)
        result.pools.push_back({loads.peak(pool), 0, loads.least(pool).bytes, loads.least(pool).position});

    std::optional<found_relief> best;
    for (bool const only_plain : {false, true}) {
        using enum worth_of_absence;
        for (auto const measured : {bytes_idle, bytes_crowded, needed_crowded}) {
            std::vector<std::uint32_t> const order = ranked_stretches(loads, only_plain, measured);
            for (bool const in_time : {false, true}) {
                if (in_time) take_in_time(loads, order);
                else take_in_turn(loads, order);
                insist(loads, order);
                found_relief found = settle(loads);
                if (!best || found.is_better_than(*best)) best = std::move(found);
            }
        }
    }

    for (std::uint32_t i : best->chosen) loads.take(i);
    result.cost = best->cost;
    result.is_enough = true;
    for (std::size_t pool = 0; pool != loads.pools(); ++pool) {
        byte_count const peak = result.pools[pool].peak_after = loads.peak(pool);
        if (pool < problem.pools.size() && peak > problem.pools[pool].capacity) result.is_enough = false;
    }
    for (std::uint32_t i : best->chosen) {
        std::size_t const pool = loads.pool_of(i);
        loads.give_back(i);
        byte_count const without = loads.peak(pool), with = result.pools[pool].peak_after;
        result.chosen.push_back({i, without > with ? without - with : 0});
        loads.take(i);
    }
    return result;
}

} // namespace sublet::detail
