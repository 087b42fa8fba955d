// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_DETAIL_ADVISE_HPP
#define SUBLET_DETAIL_ADVISE_HPP

/// Which buffers should leave memory for a while so that the rest fits. Included by the advisor.

#include <sublet/detail/segment_tree.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- idle loads ------------------------------------------------------------------------------------------

/// How many bytes are alive at each position while buffers are sent away and called back.
///
///     position      0    1    2    3    4
///     a: 64       [===o         o=========)     taken: the stretch [1, 3) of a
///     b: 32            [=========)
///     load          64   32   32   64   64      given back, it was 64 96 96 64 64
///
/// A stretch is a time at which nobody touches a buffer. Taking one lowers the load of its pool there; what
/// the way back takes for itself is a load, too. Some ask that another is not taken. Those that ask for
/// nothing and load nothing are plain: taking one never does harm, and all can be taken together.

namespace sublet::detail {

/// During `when`, positions of its life, the storage of a buffer could be free.
struct idle_interval {
    buffer_id buffer = no_buffer;
    live_range when;
    byte_count cost = 0; ///< in any unit, the same for all
};

/// At `position` an absence takes bytes itself: what a step that is run again writes besides.
struct remat_load {
    std::uint32_t interval = 0;
    step_id position = 0;
    pool_id pool = 0;
    byte_count bytes = 0;
};

/// `interval` asks that `kept` is not taken: a step that is run again needs its operands.
struct residency_need {
    std::uint32_t interval = 0;
    std::uint32_t kept = 0;
};

struct idle_times {
    std::vector<idle_interval> intervals;
    std::vector<remat_load> loads = {};
    std::vector<residency_need> needs = {}; ///< of two ways to fill the same time one asks that of the other
};

/// Bytes that cannot be sent away, and where they are most.
struct lowest_load {
    byte_count bytes = 0;
    step_id position = 0;
};

/// Refers to a problem and its stretches, which outlive it. A capacity that cannot be kept, whatever is
/// taken, is raised to what can.
///
/// Requires: as advise().
class spill_pressure {
public:
    /// Complexity: O((n + p) log p) a pool, n buffers, stretches, loads and needs, p positions.
    spill_pressure(placement_problem const& problem, idle_times const& times);

    [[nodiscard]] std::size_t pools() const { return trees_.size(); }
    [[nodiscard]] step_id positions() const { return positions_; }
    [[nodiscard]] byte_count capacity(std::size_t pool) const { return capacity_[pool]; }
    /// With every buffer away that can be.
    [[nodiscard]] lowest_load least(std::size_t pool) const { return least_[pool]; }
    /// By position, with nothing taken.
    [[nodiscard]] std::vector<byte_count> const& initial(std::size_t pool) const { return initial_[pool]; }
    [[nodiscard]] byte_count peak(std::size_t pool) const { return trees_[pool].most({0, positions_}); }
    [[nodiscard]] bool exceeds_capacity(std::size_t pool, live_range where) const
    {
        return trees_[pool].most(where) > capacity_[pool];
    }

    [[nodiscard]] std::size_t intervals() const { return times_.intervals.size(); }
    [[nodiscard]] live_range when(std::uint32_t i) const { return times_.intervals[i].when; }
    [[nodiscard]] byte_count cost(std::uint32_t i) const { return times_.intervals[i].cost; }
    [[nodiscard]] byte_count bytes(std::uint32_t i) const { return of(i).size; }
    [[nodiscard]] std::size_t pool_of(std::uint32_t i) const { return of(i).pool; }
    [[nodiscard]] bool is_independent(std::uint32_t i) const { return is_independent_[i] != 0; }
    [[nodiscard]] bool is_spilled(std::uint32_t i) const { return is_spilled_[i] != 0; }
    /// Somewhere in it there are more bytes than the capacity.
    [[nodiscard]] bool exceeds_capacity(std::uint32_t i) const
    {
        return exceeds_capacity(pool_of(i), when(i));
    }
    /// It is not taken, and neither asks for nor is asked for by what is.
    [[nodiscard]] bool can_spill(std::uint32_t i) const;
    /// What it loads fits at least where everybody else is away.
    [[nodiscard]] bool load_fits(std::uint32_t i) const;

    /// O(log p), and as much for each load and each need of it.
    void spill(std::uint32_t i);
    void restore(std::uint32_t i) { change(i, false); }
    /// Gives back all that ask that this one is not taken.
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
    std::vector<byte_count> loads(std::size_t pool) const;
    struct merged_interval {
        std::uint32_t interval;
        live_range when;
    };
    /// When each buffer can be away, whichever of its stretches are taken.
    std::vector<merged_interval> merge_intervals() const;
    void put(std::size_t pool, live_range where, byte_count size, bool is_more)
    {
        if (is_more) trees_[pool].add(where, size);
        else trees_[pool].remove(where, size);
    }
    void change(std::uint32_t i, bool spilled);

    placement_problem const& problem_;
    idle_times const& times_;
    step_id positions_ = 1;
    std::vector<segment_tree> trees_; // by pool
    std::vector<byte_count> capacity_;
    std::vector<lowest_load> least_;
    std::vector<std::vector<byte_count>> initial_, least_loads_; // by pool and position
    std::vector<unsigned char> is_spilled_;                      // by stretch
    std::vector<std::uint32_t> blocked_;                         // how many of those taken ask that it is not
    std::vector<unsigned char> is_independent_;
    rows loads_of_, needs_of_, needs_on_; // loads, needs, and needs in which it is the one kept
};

// --- advise ----------------------------------------------------------------------------------------------

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

struct chosen_spill {
    std::uint32_t interval = 0;
    byte_count saved = 0; ///< the peak of its pool without this one less the peak with all of them
};

struct pool_pressure {
    byte_count peak_before = 0;
    byte_count peak_after = 0;
    byte_count least = 0;       ///< with all buffers away that can be: no advice goes below
    step_id least_position = 0; ///< where these are alive
};

struct spill_set {
    std::vector<chosen_spill> chosen; ///< by ascending stretch
    std::vector<pool_pressure> pools; ///< by pool id
    byte_count cost = 0;
    bool is_enough = false; ///< no pool holds more than its capacity at any position
};

/// What has been chosen, as good as can be said so far.
struct spill_trial {
    std::vector<std::uint32_t> chosen;
    byte_count excess = 0, cost = 0;
    [[nodiscard]] bool is_better_than(spill_trial const& other) const
    {
        return excess != other.excess ? excess < other.excess : cost < other.cost;
    }
};

/// Give back what nobody needs, the dearest first, and say what is left; then nothing is taken any more.
template <class Loads>
spill_trial drop_redundant(Loads& loads)
{
    std::vector<sort_key> spilled;
    for (std::uint32_t i = 0; i != loads.intervals(); ++i)
        if (loads.is_spilled(i)) spilled.push_back({descending(loads.cost(i)), 0, i});
    sort_by_key(spilled);
    for (bool is_stable = false; !is_stable;) { // what one loads another may have been taken for
        is_stable = true;
        for (sort_key const& k : spilled) {
            if (!loads.is_spilled(k.id)) continue;
            loads.restore(k.id);
            if (loads.exceeds_capacity(k.id)) loads.spill(k.id);
            else is_stable = false;
        }
    }
    spill_trial result;
    for (std::size_t pool = 0; pool != loads.pools(); ++pool)
        if (loads.peak(pool) > loads.capacity(pool)) result.excess += loads.peak(pool) - loads.capacity(pool);
    for (std::uint32_t i = 0; i != loads.intervals(); ++i) {
        if (!loads.is_spilled(i)) continue;
        result.chosen.push_back(i);
        result.cost = checked_add(result.cost, loads.cost(i));
        loads.restore(i);
    }
    return result;
}

/// Choose absences after which each pool holds no more than its capacity (`problem.pools`).
///
/// Requires:   stretches are within the life of their buffer; of those of a buffer that meet (ways to fill
///             the same time) all but one ask that the others are kept; no pool holds 2^63 bytes.
/// Ensures:    if the stretches that ask for nothing and load nothing are enough, so is what is chosen; where
///             a capacity is below what can be reached, what can be reached is its place. Nothing chosen can
///             be left out. Ties go to the lower stretch.
/// Complexity: O((n + p) log p) a pool, n buffers, stretches, loads and needs, p positions.
[[nodiscard]] spill_set advise(placement_problem const& problem, idle_times const& times);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/advise.ipp>
#endif

#endif
