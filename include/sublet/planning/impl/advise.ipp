// SPDX-License-Identifier: BSL-1.0
/// Segment trees hold the load of each pool. A greedy run spills, while a position is above its capacity, the
/// interval that lowers it most for its cost, then gives back what is not needed; six runs with different
/// weights, the cheapest is kept.

#include <sublet/core/internal/placement_outcome.hpp>

#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/advise.hpp>

#include <bit>
#include <optional>
#include <queue>
#include <utility>

// --- spill pressure --------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL spill_pressure::spill_pressure(placement_problem const& problem, idle_times const& times)
    : problem_(problem), times_(times), is_spilled_(times.intervals.size(), 0),
      blocked_(times.intervals.size(), 0), is_independent_(times.intervals.size(), 1)
{
    for (placement_problem::buffer const& b : problem.buffers) positions_ = larger(positions_, +b.life.last);
    std::size_t const pools = pool_count(problem);
    trees_.assign(pools, segment_tree(positions_));
    for (placement_problem::buffer const& b : problem.buffers)
        if (!is_empty(b.life)) trees_[b.pool].add(b.life, b.size);
    for (remat_load const& l : times.loads) is_independent_[l.interval] = 0;
    for (residency_need const& n : times.needs) is_independent_[n.interval] = 0;
    loads_of_ = by_interval(times.loads.size(), [&](std::size_t i) { return times.loads[i].interval; });
    needs_of_ = by_interval(times.needs.size(), [&](std::size_t i) { return times.needs[i].interval; });
    needs_on_ = by_interval(times.needs.size(), [&](std::size_t i) { return times.needs[i].kept; });

    for (pool_id pool = 0; pool != pools; ++pool) initial_.push_back(loads(pool));
    std::vector<merged_interval> const merged = merge_intervals();
    for (auto const& [i, range] : merged) trees_[pool_of(i)].remove(range, bytes(i));
    for (pool_id pool = 0; pool != pools; ++pool) {
        lowest_load most;
        least_loads_.push_back(loads(pool));
        for (position_id at = 0; at != positions_; ++at)
            if (least_loads_[pool][at] > most.bytes)
                most = {least_loads_[pool][at], at};
        least_.push_back(most);
        byte_count const asked = pool < problem.pools.size() ? problem.pools[pool].capacity : no_limit;
        capacity_.push_back(larger(asked, most.bytes));
    }
    for (auto const& [i, range] : merged) trees_[pool_of(i)].add(range, bytes(i));
}

SUBLET_DECL bool spill_pressure::can_spill(std::uint32_t i) const
{
    if (is_spilled_[i] || blocked_[i] != 0) return false;
    for (std::uint32_t n : needs_of_[i])
        if (is_spilled_[times_.needs[n].kept]) return false;
    return true;
}

SUBLET_DECL bool spill_pressure::load_fits(std::uint32_t i) const
{
    for (std::uint32_t l : loads_of_[i]) {
        remat_load const& load = times_.loads[l];
        if (checked_add(least_loads_[load.pool][load.position], load.bytes) > capacity_[load.pool])
            return false;
    }
    return true;
}

SUBLET_DECL void spill_pressure::spill(std::uint32_t i) { change(i, true); }

SUBLET_DECL void spill_pressure::restore_dependents(std::uint32_t i)
{
    for (std::uint32_t n : needs_on_[i])
        if (is_spilled_[times_.needs[n].interval]) restore(times_.needs[n].interval);
}

SUBLET_DECL table<position_id, byte_count> spill_pressure::loads(pool_id pool) const
{
    table<position_id, byte_count> result;
    result.reserve(positions_);
    for (position_id at = 0; at != positions_; ++at) result.push_back(trees_[pool].most({at, at + 1}));
    return result;
}

SUBLET_DECL std::vector<spill_pressure::merged_interval> spill_pressure::merge_intervals() const
{
    std::vector<sort_key> sorted;
    for (std::uint32_t i = 0; i != intervals(); ++i)
        if (!is_empty(when(i))) sorted.push_back({times_.intervals[i].buffer, when(i).first, i});
    sort_by_key(sorted);
    std::vector<merged_interval> merged;
    for (std::size_t k = 0; k != sorted.size(); ++k) {
        live_range const its = when(sorted[k].id);
        bool const meets =
            k != 0 && sorted[k].key == sorted[k - 1].key && its.first < merged.back().when.last;
        if (meets) merged.back().when = hull(merged.back().when, its);
        else merged.push_back({sorted[k].id, its});
    }
    return merged;
}

SUBLET_DECL void spill_pressure::change(std::uint32_t i, bool spilled)
{
    is_spilled_[i] = spilled;
    put(pool_of(i), when(i), bytes(i), !spilled);
    for (std::uint32_t l : loads_of_[i]) {
        remat_load const& load = times_.loads[l];
        put(load.pool, {load.position, load.position + 1}, load.bytes, spilled);
    }
    for (std::uint32_t n : needs_of_[i]) blocked_[times_.needs[n].kept] += spilled ? 1u : ~0u;
}

// --- advise ----------------------------------------------------------------------------------------------

/// The gain of a spill, before division by its cost.
enum class spill_metric : std::uint8_t {
    bytes_idle,          ///< its bytes times its positions
    bytes_over_capacity, ///< its bytes times its positions above the capacity
    capped_over_capacity ///< the same, with bytes capped at the largest excess
};

/// Intervals with a positive gain, by descending gain per cost.
template <class Loads>
std::vector<std::uint32_t> rank_intervals(Loads const& loads, bool only_independent, spill_metric measured)
{
    // How many positions below each one are above the capacity.
    table<pool_id, table<position_id, std::uint32_t>> over_capacity_below(loads.pools());
    table<pool_id, byte_count> most_over(loads.pools(), 0);
    for (pool_id pool = 0; pool != loads.pools(); ++pool) {
        over_capacity_below[pool].push_back(0);
        for (byte_count load : loads.initial(pool)) {
            bool const is_over = load > loads.capacity(pool);
            over_capacity_below[pool].push_back(over_capacity_below[pool].back() + is_over);
            if (is_over) most_over[pool] = larger(most_over[pool], load - loads.capacity(pool));
        }
    }
    std::vector<sort_key> worth;
    for (std::uint32_t i = 0; i != loads.intervals(); ++i) {
        live_range const when = loads.when(i);
        if (is_empty(when) || (only_independent && !loads.is_independent(i)) || !loads.load_fits(i)) continue;
        pool_id const pool = loads.pool_of(i);
        std::uint32_t const over_capacity =
            over_capacity_below[pool][when.last] - over_capacity_below[pool][when.first];
        if (over_capacity == 0) continue;
        bool const is_needed = measured == spill_metric::capped_over_capacity;
        bool const is_idle = measured == spill_metric::bytes_idle;
        auto const wide =
            static_cast<double>(is_needed ? smaller(loads.bytes(i), most_over[pool]) : loads.bytes(i));
        double const gained = wide * static_cast<double>(is_idle ? length(when) : over_capacity);
        double const each = gained / static_cast<double>(larger(loads.cost(i), byte_count{1}));
        worth.push_back({descending(std::bit_cast<std::uint64_t>(each)), 0, i}); // no double here is negative
    }
    sort_by_key(worth);
    std::vector<std::uint32_t> order;
    for (sort_key const& k : worth) order.push_back(k.id);
    return order;
}

/// Spills every interval, in this order, that covers a position above the capacity at that time. A second
/// round handles what loads of the first have raised.
template <class Loads>
void spill_by_rank(Loads& loads, std::vector<std::uint32_t> const& order)
{
    for (int round = 0; round != 2; ++round)
        for (std::uint32_t i : order)
            if (loads.can_spill(i) && loads.exceeds_capacity(i)) loads.spill(i);
}

/// Sweeps over the positions: where the load exceeds the capacity, spills the covering intervals, in this
/// order, until it fits.
template <class Loads>
void spill_by_position(Loads& loads, std::vector<std::uint32_t> const& order)
{
    std::vector<sort_key> by_first; // {first, rank, interval}
    for (std::size_t rank = 0; rank != order.size(); ++rank)
        by_first.push_back({loads.when(order[rank]).first, rank, order[rank]});
    sort_by_key(by_first);
    struct waiting {
        std::uint64_t rank;
        std::uint32_t interval;
        bool operator<(waiting const& other) const { return other.rank < rank; } // lowest rank on top
    };
    table<pool_id, std::priority_queue<waiting>> open(loads.pools());
    std::size_t next = 0;
    for (position_id at = 0; at != loads.positions(); ++at) {
        for (; next != by_first.size() && by_first[next].key == at; ++next)
            open[loads.pool_of(by_first[next].id)].push({by_first[next].tie, by_first[next].id});
        for (pool_id pool = 0; pool != loads.pools(); ++pool)
            while (!open[pool].empty() && loads.exceeds_capacity(pool, {at, at + 1})) {
                std::uint32_t const i = open[pool].top().interval;
                open[pool].pop();
                if (contains(loads.when(i), at) && loads.can_spill(i)) loads.spill(i);
            }
    }
    spill_by_rank(loads, order);
}

/// Where the load still exceeds the capacity, independent intervals replace spills that need them resident.
template <class Loads>
void force_independent(Loads& loads, std::vector<std::uint32_t> const& order)
{
    bool is_changed = true;
    for (int round = 0; is_changed && round != 8; ++round) {
        is_changed = false;
        for (std::uint32_t i : order) {
            if (!loads.is_independent(i) || loads.is_spilled(i) || !loads.exceeds_capacity(i)) continue;
            loads.restore_dependents(i);
            loads.spill(i);
            is_changed = true;
        }
        if (is_changed) spill_by_rank(loads, order);
    }
}

SUBLET_DECL spill_set advise(placement_problem const& problem, idle_times const& times)
{
    spill_pressure loads(problem, times);
    spill_set result;
    for (pool_id pool = 0; pool != loads.pools(); ++pool)
        result.pools.push_back({loads.peak(pool), 0, loads.least(pool).bytes, loads.least(pool).position});

    std::optional<spill_trial> best;
    for (bool const only_independent : {false, true}) {
        using enum spill_metric;
        for (auto const measured : {bytes_idle, bytes_over_capacity, capped_over_capacity}) {
            std::vector<std::uint32_t> const order = rank_intervals(loads, only_independent, measured);
            for (bool const by_position : {false, true}) {
                if (by_position) spill_by_position(loads, order);
                else spill_by_rank(loads, order);
                force_independent(loads, order);
                spill_trial found = drop_redundant(loads);
                if (!best || found.is_better_than(*best)) best = std::move(found);
            }
        }
    }

    for (std::uint32_t i : best->chosen) loads.spill(i);
    result.cost = best->cost;
    result.is_enough = true;
    for (pool_id pool = 0; pool != loads.pools(); ++pool) {
        byte_count const peak = result.pools[pool].peak_after = loads.peak(pool);
        if (pool < problem.pools.size() && peak > problem.pools[pool].capacity) result.is_enough = false;
    }
    for (std::uint32_t i : best->chosen) {
        pool_id const pool = loads.pool_of(i);
        loads.restore(i);
        byte_count const without = loads.peak(pool), with = result.pools[pool].peak_after;
        result.chosen.push_back({i, without > with ? without - with : 0});
        loads.spill(i);
    }
    return result;
}

} // namespace sublet::detail
