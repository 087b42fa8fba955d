// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_ADVISE_HPP
#define SUBLET_PLACEMENT_ADVISE_HPP

/// Which buffers should be away for a while, so that the rest fits.
///
///     position      0    1    2    3    4
///     a: 64       [===o         o=========)     nobody touches a between 0 and 3: its bytes may be elsewhere
///     b: 32            [=========)
///     live          64   32   32   64   64      64 bytes do, where 96 were alive
///
/// An absence has a cost: bytes copied out and back, or the work of making them again. Wanted is a cheap set
/// of absences after which no position holds more than the capacity: weighted covering, which is NP-hard even
/// for one position (it is the knapsack problem). Two greedy ways of taking are tried, each by three measures
/// of what an absence gives for its cost. What turns out not to be needed is dropped again, the dearest
/// first, and the cheapest set is the advice. No guaranteed factor; if all absences together are enough, so
/// is the advice.

#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/idle_loads.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace sublet {

struct relief {
    std::uint32_t stretch = 0;
    byte_count saved = 0; ///< the peak of its pool without this one less the peak with all of them
};

struct pool_relief {
    byte_count peak_before = 0;
    byte_count peak_after = 0;
    byte_count least = 0;       ///< with all buffers away that can be: no advice goes below
    step_id least_position = 0; ///< where these are alive
};

struct memory_relief {
    std::vector<relief> chosen;     ///< by ascending stretch
    std::vector<pool_relief> pools; ///< by pool id
    byte_count cost = 0;
    bool is_enough = false; ///< no pool holds more than its capacity at any position
};

namespace detail {

/// What an absence gives, before that is divided by its cost.
enum class worth_of_absence : std::uint8_t {
    bytes_idle,    ///< its bytes, for all its positions
    bytes_crowded, ///< for those above the capacity
    needed_crowded ///< and no more bytes than the most that are above it
};

/// What has been chosen, as good as can be said so far.
struct found_relief {
    std::vector<std::uint32_t> chosen;
    byte_count excess = 0, cost = 0;
    [[nodiscard]] bool is_better_than(found_relief const& other) const
    {
        return excess != other.excess ? excess < other.excess : cost < other.cost;
    }
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

/// Give back what nobody needs, the dearest first, and say what is left; then nothing is taken any more.
template <class Loads>
found_relief settle(Loads& loads)
{
    std::vector<keyed> taken;
    for (std::uint32_t i = 0; i != loads.stretches(); ++i)
        if (loads.is_taken(i)) taken.push_back({falling(loads.cost(i)), 0, i});
    sort_keyed(taken);
    for (bool is_settled = false; !is_settled;) { // what one loads another may have been taken for
        is_settled = true;
        for (keyed const& k : taken) {
            if (!loads.is_taken(k.who)) continue;
            loads.give_back(k.who);
            if (loads.is_crowded(k.who)) loads.take(k.who);
            else is_settled = false;
        }
    }
    found_relief result;
    for (std::size_t pool = 0; pool != loads.pools(); ++pool)
        if (loads.peak(pool) > loads.capacity(pool)) result.excess += loads.peak(pool) - loads.capacity(pool);
    for (std::uint32_t i = 0; i != loads.stretches(); ++i) {
        if (!loads.is_taken(i)) continue;
        result.chosen.push_back(i);
        result.cost = checked_add(result.cost, loads.cost(i));
        loads.give_back(i);
    }
    return result;
}

} // namespace detail

/// Choose absences after which each pool holds no more than its capacity (`problem.pools`).
///
/// Requires:   stretches are within the life of their buffer; of those of a buffer that meet (ways to fill
///             the same time) all but one ask that the others are kept; no pool holds 2^63 bytes.
/// Ensures:    if the stretches that ask for nothing and load nothing are enough, so is what is chosen; where
///             a capacity is below what can be reached, what can be reached is its place. Nothing chosen can
///             be left out. Ties go to the lower stretch.
/// Complexity: O((n + p) log p) a pool, n buffers, stretches, loads and needs, p positions.
[[nodiscard]] inline memory_relief advise(placement_problem const& problem, idle_times const& times)
{
    idle_loads loads(problem, times);
    memory_relief result;
    for (std::size_t pool = 0; pool != loads.pools(); ++pool)
        result.pools.push_back({loads.peak(pool), 0, loads.least(pool).bytes, loads.least(pool).position});

    std::optional<detail::found_relief> best;
    for (bool const only_plain : {false, true}) {
        using enum detail::worth_of_absence;
        for (auto const measured : {bytes_idle, bytes_crowded, needed_crowded}) {
            std::vector<std::uint32_t> const order = detail::ranked_stretches(loads, only_plain, measured);
            for (bool const in_time : {false, true}) {
                if (in_time) detail::take_in_time(loads, order);
                else detail::take_in_turn(loads, order);
                detail::insist(loads, order);
                detail::found_relief found = detail::settle(loads);
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

} // namespace sublet

#endif
