// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_DETAIL_ADVISE_HPP
#define SUBLET_DETAIL_ADVISE_HPP

/// Which buffers should leave memory for a while so that the rest fits. Included by the advisor.

#include <sublet/detail/load_tree.hpp>
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
struct idle_stretch {
    buffer_id buffer = no_buffer;
    live_range when;
    byte_count cost = 0; ///< in any unit, the same for all
};

/// At `position` an absence takes bytes itself: what a step that is run again writes besides.
struct return_load {
    std::uint32_t stretch = 0;
    step_id position = 0;
    pool_id pool = 0;
    byte_count bytes = 0;
};

/// `stretch` asks that `kept` is not taken: a step that is run again needs its operands.
struct stretch_need {
    std::uint32_t stretch = 0;
    std::uint32_t kept = 0;
};

struct idle_times {
    std::vector<idle_stretch> stretches;
    std::vector<return_load> loads = {};
    std::vector<stretch_need> needs = {}; ///< of two ways to fill the same time one asks that of the other
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
class idle_loads {
public:
    /// Complexity: O((n + p) log p) a pool, n buffers, stretches, loads and needs, p positions.
    idle_loads(placement_problem const& problem, idle_times const& times);

    [[nodiscard]] std::size_t pools() const { return trees_.size(); }
    [[nodiscard]] step_id positions() const { return positions_; }
    [[nodiscard]] byte_count capacity(std::size_t pool) const { return capacity_[pool]; }
    /// With every buffer away that can be.
    [[nodiscard]] lowest_load least(std::size_t pool) const { return least_[pool]; }
    /// By position, with nothing taken.
    [[nodiscard]] std::vector<byte_count> const& initial(std::size_t pool) const { return initial_[pool]; }
    [[nodiscard]] byte_count peak(std::size_t pool) const { return trees_[pool].most({0, positions_}); }
    [[nodiscard]] bool is_crowded(std::size_t pool, live_range where) const
    {
        return trees_[pool].most(where) > capacity_[pool];
    }

    [[nodiscard]] std::size_t stretches() const { return times_.stretches.size(); }
    [[nodiscard]] live_range when(std::uint32_t i) const { return times_.stretches[i].when; }
    [[nodiscard]] byte_count cost(std::uint32_t i) const { return times_.stretches[i].cost; }
    [[nodiscard]] byte_count bytes(std::uint32_t i) const { return of(i).size; }
    [[nodiscard]] std::size_t pool_of(std::uint32_t i) const { return of(i).pool; }
    [[nodiscard]] bool is_plain(std::uint32_t i) const { return is_plain_[i] != 0; }
    [[nodiscard]] bool is_taken(std::uint32_t i) const { return is_taken_[i] != 0; }
    /// Somewhere in it there are more bytes than the capacity.
    [[nodiscard]] bool is_crowded(std::uint32_t i) const { return is_crowded(pool_of(i), when(i)); }
    /// It is not taken, and neither asks for nor is asked for by what is.
    [[nodiscard]] bool is_free(std::uint32_t i) const;
    /// What it loads fits at least where everybody else is away.
    [[nodiscard]] bool can_be_borne(std::uint32_t i) const;

    /// O(log p), and as much for each load and each need of it.
    void take(std::uint32_t i);
    void give_back(std::uint32_t i) { change(i, false); }
    /// Gives back all that ask that this one is not taken.
    void give_back_askers(std::uint32_t i);

private:
    struct rows {
        std::vector<std::uint32_t> first, items;
        [[nodiscard]] std::span<std::uint32_t const> operator[](std::uint32_t i) const
        {
            return {items.data() + first[i], items.data() + first[i + 1]};
        }
    };
    template <class RowOf>
    rows by_stretch(std::size_t count, RowOf row_of) const
    {
        rows result{std::vector<std::uint32_t>(stretches() + 2, 0), std::vector<std::uint32_t>(count)};
        for (std::size_t i = 0; i != count; ++i) ++result.first[row_of(i) + 2];
        for (std::size_t r = 2; r < result.first.size(); ++r) result.first[r] += result.first[r - 1];
        for (std::size_t i = 0; i != count; ++i)
            result.items[result.first[row_of(i) + 1]++] = static_cast<std::uint32_t>(i);
        return result;
    }

    [[nodiscard]] placement_problem::buffer const& of(std::uint32_t i) const
    {
        return problem_.buffers[times_.stretches[i].buffer];
    }
    std::vector<byte_count> loads(std::size_t pool) const;
    struct absent {
        std::uint32_t stretch;
        live_range when;
    };
    /// When each buffer can be away, whichever of its stretches are taken.
    std::vector<absent> all_away() const;
    void put(std::size_t pool, live_range where, byte_count size, bool is_more)
    {
        if (is_more) trees_[pool].add(where, size);
        else trees_[pool].remove(where, size);
    }
    void change(std::uint32_t i, bool taken);

    placement_problem const& problem_;
    idle_times const& times_;
    step_id positions_ = 1;
    std::vector<load_tree> trees_; // by pool
    std::vector<byte_count> capacity_;
    std::vector<lowest_load> least_;
    std::vector<std::vector<byte_count>> initial_, least_loads_; // by pool and position
    std::vector<unsigned char> is_taken_;                        // by stretch
    std::vector<std::uint32_t> blocked_;                         // how many of those taken ask that it is not
    std::vector<unsigned char> is_plain_;
    rows loads_of_, asked_by_, asking_; // loads, needs, and needs in which it is the one kept
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

/// Choose absences after which each pool holds no more than its capacity (`problem.pools`).
///
/// Requires:   stretches are within the life of their buffer; of those of a buffer that meet (ways to fill
///             the same time) all but one ask that the others are kept; no pool holds 2^63 bytes.
/// Ensures:    if the stretches that ask for nothing and load nothing are enough, so is what is chosen; where
///             a capacity is below what can be reached, what can be reached is its place. Nothing chosen can
///             be left out. Ties go to the lower stretch.
/// Complexity: O((n + p) log p) a pool, n buffers, stretches, loads and needs, p positions.
[[nodiscard]] memory_relief advise(placement_problem const& problem, idle_times const& times);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/advise.ipp>
#endif

#endif
