// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_ADVISE_HPP
#define SUBLET_PLANNING_DETAIL_ADVISE_HPP

/// Chooses spills that bring the live bytes of each pool below its capacity, from the idle intervals of
/// buffers and the cost of each (copies or recomputation). The problem is NP-hard; six greedy runs keep the
/// cheapest set, with no approximation guarantee, but a set is found if all spills suffice. O((n + p) log p)
/// per pool for n buffers and p positions.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/structures/internal/segment_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- spill pressure --------------------------------------------------------------------------------------

/// The bytes live at each position while idle intervals of buffers are spilled and restored.
///
///     position      0    1    2    3    4
///     a: 64       [===o         o=========)     spilled: the interval [1, 3) of a
///     b: 32            [=========)
///     load          64   32   32   64   64      restored, it was 64 96 96 64 64
///
/// No step touches a buffer in an idle interval. Spilling the interval lowers the load of its pool there; a
/// recomputed step adds load where it runs. An interval may need that another is not spilled. An interval
/// without needs and loads is independent: spilling it never raises the load.

namespace sublet::detail {

/// The storage of a buffer could be free during `when`, which lies in its live range.
struct idle_interval {
    buffer_id buffer = no_buffer;
    live_range when;
    byte_count cost = 0; ///< in any unit, the same for all intervals
};

/// Bytes that recomputation itself needs at `position`: other results of the recomputed step.
struct remat_load {
    std::uint32_t interval = 0;
    position_id position = 0;
    pool_id pool = 0;
    byte_count bytes = 0;
};

/// Spilling `interval` requires that `kept` is not spilled: a recomputed step needs its operands.
struct residency_need {
    std::uint32_t interval = 0;
    std::uint32_t kept = 0;
};

struct idle_times {
    std::vector<idle_interval> intervals;
    std::vector<remat_load> loads = {};
    std::vector<residency_need> needs =
        {}; ///< of two spills of the same interval, one has a need for the other
};

/// The largest load that remains, and its position.
struct lowest_load {
    byte_count bytes = 0;
    position_id position = 0;
};

/// Refers to a problem and its intervals, which must outlive it. A capacity below the load with all intervals
/// spilled is raised to that load.
/// Requires: as advise().
class spill_pressure {
public:
    /// Complexity: O((n + p) log p) per pool for n buffers, intervals, loads and needs, and p positions.
    spill_pressure(placement_problem const& problem, idle_times const& times);

    [[nodiscard]] std::size_t pools() const { return trees_.size(); }
    [[nodiscard]] std::uint32_t positions() const { return positions_; }
    [[nodiscard]] byte_count capacity(pool_id pool) const { return capacity_[pool]; }
    /// With all intervals spilled, whatever they need and load.
    [[nodiscard]] lowest_load least(pool_id pool) const { return least_[pool]; }
    /// At each position, without spills.
    [[nodiscard]] table<position_id, byte_count> const& initial(pool_id pool) const { return initial_[pool]; }
    [[nodiscard]] byte_count peak(pool_id pool) const { return trees_[pool].most({0, positions_}); }
    [[nodiscard]] bool exceeds_capacity(pool_id pool, live_range where) const
    {
        return trees_[pool].most(where) > capacity_[pool];
    }

    [[nodiscard]] std::size_t intervals() const { return times_.intervals.size(); }
    [[nodiscard]] live_range when(std::uint32_t i) const { return times_.intervals[i].when; }
    [[nodiscard]] byte_count cost(std::uint32_t i) const { return times_.intervals[i].cost; }
    [[nodiscard]] byte_count bytes(std::uint32_t i) const { return of(i).size; }
    [[nodiscard]] pool_id pool_of(std::uint32_t i) const { return of(i).pool; }
    [[nodiscard]] bool is_independent(std::uint32_t i) const { return is_independent_[i] != 0; }
    [[nodiscard]] bool is_spilled(std::uint32_t i) const { return is_spilled_[i] != 0; }
    [[nodiscard]] bool exceeds_capacity(std::uint32_t i) const
    {
        return exceeds_capacity(pool_of(i), when(i));
    }
    /// It is not spilled, it needs no spilled interval, and no spilled interval needs it.
    [[nodiscard]] bool can_spill(std::uint32_t i) const;
    /// Its loads fit the capacity with all possible spills.
    [[nodiscard]] bool load_fits(std::uint32_t i) const;

    /// O(log p), plus as much for each of its loads and needs.
    void spill(std::uint32_t i);
    void restore(std::uint32_t i) { change(i, false); }
    /// Restores all intervals that need this one resident.
    void restore_dependents(std::uint32_t i);

private:
    struct rows {
        std::vector<std::uint32_t> first, items;
        [[nodiscard]] std::span<std::uint32_t const> operator[](std::uint32_t i) const
        {
            return {items.data() + first[i], items.data() + first[i + 1]};
        }
    };
    template <class RowOf>
    rows by_interval(std::size_t count, RowOf row_of) const
    {
        rows result{std::vector<std::uint32_t>(intervals() + 2, 0), std::vector<std::uint32_t>(count)};
        for (std::size_t i = 0; i != count; ++i) ++result.first[row_of(i) + 2];
        for (std::size_t r = 2; r < result.first.size(); ++r) result.first[r] += result.first[r - 1];
        for (std::size_t i = 0; i != count; ++i)
            result.items[result.first[row_of(i) + 1]++] = static_cast<std::uint32_t>(i);
        return result;
    }

    [[nodiscard]] placement_problem::buffer const& of(std::uint32_t i) const
    {
        return problem_.buffers[times_.intervals[i].buffer];
    }
    table<position_id, byte_count> loads(pool_id pool) const;
    struct merged_interval {
        std::uint32_t interval;
        live_range when;
    };
    /// The union of the intervals of each buffer.
    std::vector<merged_interval> merge_intervals() const;
    void put(pool_id pool, live_range where, byte_count size, bool is_more)
    {
        if (is_more) trees_[pool].add(where, size);
        else trees_[pool].remove(where, size);
    }
    void change(std::uint32_t i, bool spilled);

    placement_problem const& problem_;
    idle_times const& times_;
    std::uint32_t positions_ = 1;
    table<pool_id, segment_tree> trees_;
    table<pool_id, byte_count> capacity_;
    table<pool_id, lowest_load> least_;
    table<pool_id, table<position_id, byte_count>> initial_, least_loads_;
    std::vector<unsigned char> is_spilled_; // by interval
    std::vector<std::uint32_t> blocked_;    // by interval: spilled ones that need it
    std::vector<unsigned char> is_independent_;
    rows loads_of_, needs_of_, needs_on_; // loads, needs, and needs in which it is `kept`
};

// --- advise ----------------------------------------------------------------------------------------------

/// A cheap set of spills after which each pool fits its capacity: weighted covering, even for one position
/// (knapsack). Two greedy orders are tried, each with three metrics of gain per cost. Redundant spills are
/// then dropped, those of highest cost first.
///
///     position      0    1    2    3    4
///     a: 64       [===o         o=========)     no step touches a between 0 and 3
///     b: 32            [=========)
///     live          64   32   32   64   64      64 bytes instead of 96

struct chosen_spill {
    std::uint32_t interval = 0;
    byte_count saved = 0; ///< increase of its pool's peak without this one
};

struct pool_pressure {
    byte_count peak_before = 0;
    byte_count peak_after = 0;
    byte_count least = 0;       ///< with all intervals spilled: a lower bound for each choice of them
    position_id least_position = 0; ///< its position
};

struct spill_set {
    std::vector<chosen_spill> chosen; ///< by ascending interval
    table<pool_id, pool_pressure> pools;
    byte_count cost = 0;
    bool is_enough = false; ///< no pool holds more than its capacity at any position
};

struct spill_trial {
    std::vector<std::uint32_t> chosen;
    byte_count excess = 0, cost = 0;
    [[nodiscard]] bool is_better_than(spill_trial const& other) const
    {
        return excess != other.excess ? excess < other.excess : cost < other.cost;
    }
};

/// Drops redundant spills, returns the rest, and restores everything.
template <class Loads>
spill_trial drop_redundant(Loads& loads)
{
    std::vector<sort_key> spilled;
    for (std::uint32_t i = 0; i != loads.intervals(); ++i)
        if (loads.is_spilled(i)) spilled.push_back({descending(loads.cost(i)), 0, i});
    sort_by_key(spilled);
    for (bool is_stable = false; !is_stable;) { // a spill may only serve the load of another that was dropped
        is_stable = true;
        for (sort_key const& k : spilled) {
            if (!loads.is_spilled(k.id)) continue;
            loads.restore(k.id);
            if (loads.exceeds_capacity(k.id)) loads.spill(k.id);
            else is_stable = false;
        }
    }
    spill_trial result;
    for (pool_id pool = 0; pool != loads.pools(); ++pool)
        if (loads.peak(pool) > loads.capacity(pool)) result.excess += loads.peak(pool) - loads.capacity(pool);
    for (std::uint32_t i = 0; i != loads.intervals(); ++i) {
        if (!loads.is_spilled(i)) continue;
        result.chosen.push_back(i);
        result.cost = checked_add(result.cost, loads.cost(i));
        loads.restore(i);
    }
    return result;
}

/// Requires:   intervals lie in the live range of their buffer; if intervals of a buffer overlap (several
///             ways to restore it), all but one need that the others are kept; no pool holds 2^63 bytes.
/// Ensures:    if the independent intervals suffice, so does the choice. A capacity below the lowest
///             reachable load counts as that load. No chosen spill is redundant. Ties go to the lower
///             interval.
/// Complexity: O((n + p) log p) per pool for n buffers, intervals, loads and needs, and p positions.
[[nodiscard]] spill_set advise(placement_problem const& problem, idle_times const& times);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/advise.ipp>
#endif

#endif
