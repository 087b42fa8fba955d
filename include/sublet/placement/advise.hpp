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
#include <sublet/placement/idle_loads.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
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

/// What has been chosen, as good as can be said so far.
struct found_relief {
    std::vector<std::uint32_t> chosen;
    byte_count excess = 0, cost = 0;
    [[nodiscard]] bool is_better_than(found_relief const& other) const
    {
        return excess != other.excess ? excess < other.excess : cost < other.cost;
    }
};

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
[[nodiscard]] memory_relief advise(placement_problem const& problem, idle_times const& times);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/advise.ipp>
#endif

#endif
