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
#include <sublet/placement/load_tree.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

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

/// The loads of all pools while stretches are taken and given back.
template <std::same_as<placement_problem> Problem>
class relief_search {
public:
    struct found {
        std::vector<std::uint32_t> chosen;
        byte_count excess = 0, cost = 0;
        [[nodiscard]] bool is_better_than(found const& other) const
        {
            return excess != other.excess ? excess < other.excess : cost < other.cost;
        }
    };

    relief_search(Problem const& problem, idle_times const& times)
        : problem_(problem), times_(times), is_chosen_(times.stretches.size(), 0),
          blocked_(times.stretches.size(), 0), is_plain_(times.stretches.size(), 1)
    {
        for (placement_buffer const& b : problem.buffers) positions_ = larger(positions_, b.life.last);
        std::size_t const pools = pool_count(problem);
        trees_.assign(pools, load_tree(larger(positions_, step_id{1})));
        for (placement_buffer const& b : problem.buffers)
            if (!is_empty(b.life)) trees_[b.pool].add(b.life, b.size);
        for (return_load const& l : times.loads) is_plain_[l.stretch] = 0;
        for (stretch_need const& n : times.needs) is_plain_[n.stretch] = 0;
        for (std::size_t pool = 0; pool != pools; ++pool) {
            capacity_.push_back(pool < problem.pools.size() ? problem.pools[pool].capacity : no_limit);
            initial_.push_back(loads_of(pool));
        }
        loads_of_ = csr_of(times.loads.size(), [&](std::size_t i) { return times.loads[i].stretch; });
        asked_by_ = csr_of(times.needs.size(), [&](std::size_t i) { return times.needs[i].stretch; });
        least_.resize(pools);
    }

    [[nodiscard]] std::size_t pools() const { return trees_.size(); }
    [[nodiscard]] byte_count peak(std::size_t pool) const { return trees_[pool].most({0, end()}); }

    /// What is left with every buffer away that can be, and where; capacities below it are raised to it.
    pool_relief least(std::size_t pool)
    {
        pool_relief result{peak(pool), 0, 0, 0};
        std::vector<std::uint32_t> away;
        for (std::uint32_t i : longest_of_each())
            if (pool_of(i) == pool) away.push_back(i);
        for (std::uint32_t i : away) trees_[pool].remove(when(i), bytes(i));
        least_[pool] = loads_of(pool);
        for (std::size_t at = 0; at != least_[pool].size(); ++at)
            if (least_[pool][at] > result.least) {
                result.least = least_[pool][at];
                result.least_position = static_cast<step_id>(at);
            }
        for (std::uint32_t i : away) trees_[pool].add(when(i), bytes(i));
        capacity_[pool] = larger(capacity_[pool], result.least);
        return result;
    }

    /// Stretches by falling worth.
    std::vector<std::uint32_t> ranked(bool only_plain, worth_of_absence measured) const
    {
        std::vector<std::vector<std::uint32_t>> crowded_below(pools()); // positions above the capacity
        std::vector<byte_count> most_over(pools(), 0);
        for (std::size_t pool = 0; pool != pools(); ++pool) {
            crowded_below[pool].push_back(0);
            for (byte_count load : initial_[pool]) {
                bool const is_over = load > capacity_[pool];
                crowded_below[pool].push_back(crowded_below[pool].back() + is_over);
                if (is_over) most_over[pool] = larger(most_over[pool], load - capacity_[pool]);
            }
        }
        std::vector<keyed> worth;
        for (std::uint32_t i = 0; i != times_.stretches.size(); ++i) {
            if (is_empty(when(i)) || (only_plain && !is_plain_[i]) || !can_be_borne(i)) continue;
            std::size_t const pool = pool_of(i);
            std::uint32_t const crowded =
                crowded_below[pool][when(i).last] - crowded_below[pool][when(i).first];
            if (crowded == 0) continue;
            double const wide = static_cast<double>(
                measured == worth_of_absence::needed_crowded ? smaller(bytes(i), most_over[pool]) : bytes(i));
            double const gained =
                wide *
                static_cast<double>(measured == worth_of_absence::bytes_idle ? length(when(i)) : crowded);
            double const each = gained / static_cast<double>(larger(cost(i), byte_count{1}));
            worth.push_back(
                {falling(std::bit_cast<std::uint64_t>(each)), 0, i}); // no double here is negative
        }
        sort_keyed(worth);
        std::vector<std::uint32_t> order;
        for (keyed const& k : worth) order.push_back(k.who);
        return order;
    }

    /// In this order, whatever covers a position above the capacity just then. A second round sees what loads
    /// of the first have raised.
    void take_in_turn(std::vector<std::uint32_t> const& order)
    {
        for (int round = 0; round != 2; ++round)
            for (std::uint32_t i : order)
                if (is_free(i) && trees_[pool_of(i)].most(when(i)) > capacity_[pool_of(i)]) take(i);
    }

    /// From the first position to the last, where there are too many bytes the first in this order of what
    /// covers it, until there are not.
    void take_in_time(std::vector<std::uint32_t> const& order)
    {
        std::vector<keyed> by_first; // {first, rank, stretch}
        for (std::size_t rank = 0; rank != order.size(); ++rank)
            by_first.push_back({when(order[rank]).first, rank, order[rank]});
        sort_keyed(by_first);
        struct waiting {
            std::uint64_t rank;
            std::uint32_t stretch;
            bool operator<(waiting const& other) const { return other.rank < rank; } // the lowest comes first
        };
        std::vector<std::priority_queue<waiting>> open(pools());
        std::size_t next = 0;
        for (step_id at = 0; at != end(); ++at) {
            for (; next != by_first.size() && by_first[next].key == at; ++next)
                open[pool_of(by_first[next].who)].push({by_first[next].tie, by_first[next].who});
            for (std::size_t pool = 0; pool != pools(); ++pool)
                while (!open[pool].empty() && trees_[pool].most({at, at + 1}) > capacity_[pool]) {
                    std::uint32_t const i = open[pool].top().stretch;
                    open[pool].pop();
                    if (contains(when(i), at) && is_free(i)) take(i);
                }
        }
        take_in_turn(order);
    }

    /// Give back what nobody needs, the dearest first, and say what is left; then nothing is taken any more.
    found settle()
    {
        found result;
        std::vector<keyed> chosen;
        for (std::uint32_t i = 0; i != is_chosen_.size(); ++i)
            if (is_chosen_[i]) chosen.push_back({falling(cost(i)), 0, i});
        sort_keyed(chosen);
        for (bool is_settled = false; !is_settled;) { // what one loads another may have been taken for
            is_settled = true;
            for (keyed const& k : chosen) {
                if (!is_chosen_[k.who]) continue;
                give_back(k.who);
                if (trees_[pool_of(k.who)].most(when(k.who)) > capacity_[pool_of(k.who)]) take(k.who);
                else is_settled = false;
            }
        }
        for (std::size_t pool = 0; pool != pools(); ++pool)
            if (peak(pool) > capacity_[pool]) result.excess += peak(pool) - capacity_[pool];
        for (std::uint32_t i = 0; i != is_chosen_.size(); ++i) {
            if (!is_chosen_[i]) continue;
            result.chosen.push_back(i);
            result.cost = checked_add(result.cost, cost(i));
            give_back(i);
        }
        return result;
    }

    void take(std::uint32_t i) { change(i, 1); }
    void give_back(std::uint32_t i) { change(i, 0); }
    [[nodiscard]] std::size_t pool_of(std::uint32_t i) const
    {
        return problem_.buffers[times_.stretches[i].buffer].pool;
    }

private:
    [[nodiscard]] step_id end() const { return larger(positions_, step_id{1}); }
    [[nodiscard]] live_range when(std::uint32_t i) const { return times_.stretches[i].when; }
    [[nodiscard]] byte_count cost(std::uint32_t i) const { return times_.stretches[i].cost; }
    [[nodiscard]] byte_count bytes(std::uint32_t i) const
    {
        return problem_.buffers[times_.stretches[i].buffer].size;
    }

    struct rows {
        std::vector<std::uint32_t> first, items;
        [[nodiscard]] std::span<std::uint32_t const> operator[](std::uint32_t i) const
        {
            return {items.data() + first[i], items.data() + first[i + 1]};
        }
    };
    template <class RowOf>
    rows csr_of(std::size_t count, RowOf row_of) const
    {
        rows result{std::vector<std::uint32_t>(times_.stretches.size() + 2, 0),
                    std::vector<std::uint32_t>(count)};
        for (std::size_t i = 0; i != count; ++i) ++result.first[row_of(i) + 2];
        for (std::size_t r = 2; r < result.first.size(); ++r) result.first[r] += result.first[r - 1];
        for (std::size_t i = 0; i != count; ++i)
            result.items[result.first[row_of(i) + 1]++] = static_cast<std::uint32_t>(i);
        return result;
    }

    std::vector<byte_count> loads_of(std::size_t pool) const
    {
        std::vector<byte_count> loads;
        loads.reserve(end());
        for (step_id at = 0; at != end(); ++at) loads.push_back(trees_[pool].most({at, at + 1}));
        return loads;
    }
    /// Of the stretches that begin together one can be taken; the longest says how much that may give.
    std::vector<std::uint32_t> longest_of_each() const
    {
        std::vector<keyed> sorted;
        for (std::uint32_t i = 0; i != times_.stretches.size(); ++i) {
            live_range const its = when(i);
            if (!is_empty(its))
                sorted.push_back(
                    {std::uint64_t{times_.stretches[i].buffer} << 32 | its.first, falling(its.last), i});
        }
        sort_keyed(sorted);
        std::vector<std::uint32_t> longest;
        for (std::size_t k = 0; k != sorted.size(); ++k)
            if (k == 0 || sorted[k].key != sorted[k - 1].key) longest.push_back(sorted[k].who);
        return longest;
    }
    [[nodiscard]] bool is_free(std::uint32_t i) const
    {
        if (is_chosen_[i] || blocked_[i] != 0) return false;
        for (std::uint32_t n : asked_by_[i])
            if (is_chosen_[times_.needs[n].kept]) return false;
        return true;
    }
    /// Whether what it loads fits at least where everybody else is away.
    [[nodiscard]] bool can_be_borne(std::uint32_t i) const
    {
        for (std::uint32_t l : loads_of_[i]) {
            return_load const& load = times_.loads[l];
            if (checked_add(least_[load.pool][load.position], load.bytes) > capacity_[load.pool])
                return false;
        }
        return true;
    }
    void change(std::uint32_t i, unsigned char chosen)
    {
        is_chosen_[i] = chosen;
        auto put = [&](std::size_t pool, live_range where, byte_count size, bool is_more) {
            if (is_more) trees_[pool].add(where, size);
            else trees_[pool].remove(where, size);
        };
        put(pool_of(i), when(i), bytes(i), !chosen);
        for (std::uint32_t l : loads_of_[i]) {
            return_load const& load = times_.loads[l];
            put(load.pool, {load.position, load.position + 1}, load.bytes, chosen);
        }
        for (std::uint32_t n : asked_by_[i]) blocked_[times_.needs[n].kept] += chosen ? 1u : ~0u;
    }

    Problem const& problem_;
    idle_times const& times_;
    step_id positions_ = 0;
    std::vector<load_tree<>> trees_;                       // by pool
    std::vector<byte_count> capacity_;                     // by pool, or what can be reached
    std::vector<std::vector<byte_count>> initial_, least_; // loads by pool and position
    std::vector<unsigned char> is_chosen_;
    std::vector<std::uint32_t> blocked_;  // by stretch: how many of those chosen ask that it is not
    std::vector<unsigned char> is_plain_; // asks for nothing: taking it can only help
    rows loads_of_, asked_by_;            // by stretch
};

} // namespace detail

/// Choose absences after which each pool holds no more than its capacity (`problem.pools`).
///
/// Requires:   stretches are within the life of their buffer; of a buffer they begin together (ways to fill
///             the same time) or do not meet; no pool holds 2^63 bytes.
/// Ensures:    if the stretches that ask for nothing and load nothing are enough, so is what is chosen; where
///             a capacity is below what can be reached, what can be reached is its place. Nothing chosen can
///             be left out. Ties go to the lower stretch.
/// Complexity: O((n + p) log p) a pool, n buffers, stretches, loads and needs, p positions.
template <std::same_as<placement_problem> Problem>
[[nodiscard]] memory_relief advise(Problem const& problem, idle_times const& times)
{
    detail::relief_search search(problem, times);
    memory_relief result;
    for (std::size_t pool = 0; pool != search.pools(); ++pool) result.pools.push_back(search.least(pool));

    std::optional<typename detail::relief_search<Problem>::found> best;
    for (bool const only_plain : {false, true}) {
        using enum detail::worth_of_absence;
        for (auto const measured : {bytes_idle, bytes_crowded, needed_crowded}) {
            std::vector<std::uint32_t> const order = search.ranked(only_plain, measured);
            for (bool const in_time : {false, true}) {
                if (in_time) search.take_in_time(order);
                else search.take_in_turn(order);
                auto found = search.settle();
                if (!best || found.is_better_than(*best)) best = std::move(found);
            }
        }
    }

    for (std::uint32_t i : best->chosen) search.take(i);
    result.cost = best->cost;
    result.is_enough = true;
    for (std::size_t pool = 0; pool != search.pools(); ++pool) {
        byte_count const peak = result.pools[pool].peak_after = search.peak(pool);
        if (pool < problem.pools.size() && peak > problem.pools[pool].capacity) result.is_enough = false;
    }
    for (std::uint32_t i : best->chosen) {
        std::size_t const pool = search.pool_of(i);
        search.give_back(i);
        byte_count const without = search.peak(pool), with = result.pools[pool].peak_after;
        result.chosen.push_back({i, without > with ? without - with : 0});
        search.take(i);
    }
    return result;
}

} // namespace sublet

#endif
