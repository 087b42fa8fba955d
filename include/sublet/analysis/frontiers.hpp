// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_FRONTIERS_HPP
#define SUBLET_ANALYSIS_FRONTIERS_HPP

/// Where the bytes of each buffer are free at the earliest, in every execution.
///
///     0 ──► 1 ──► 3 ──► 4       ends {1}:     one position that all other ends come before: what follows 1
///     └───► 2 ──► ┘             ends {1, 2}:  what comes after both begins with 3: the frontier is {3}
///
/// The positions after all ends of a buffer are closed upwards, so the lowest of them say all: the frontier.
/// Nearly always one end comes after all others, and then the frontier is what follows it. If not, a walk
/// from all ends at once, in the order of positions, carries with it which ends lead there. It may stop as
/// soon as some end has nothing left to lead to that the others have not reached.
///
/// Two precautions keep the walks short. Most ends that come before another lead to it along heirs, where the
/// heir of a position is the one that follows it with the longest way to go: heirs make a forest, and two
/// numbers a position tell who is below whom. And nothing behind the last descendant of any end counts.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <vector>

namespace sublet {

/// By row of ends, one of the two.
struct frontier_rows {
    std::vector<step_id> last_end; ///< the end that all others come before; `no_step`: there is none
    csr_rows lowest; ///< then these: the positions after all ends that come after no other such; ascending
    std::vector<unsigned char> is_cut; ///< the walk was: `last_end` is an end, and others may come after it
};

namespace detail {

/// Along heirs: who follows with the longest way to go, the lowest of these.
template <std::same_as<csr_rows> Rows>
struct heir_forest {
    std::vector<step_id> first, size; // the positions whose heirs lead to x are numbered from first[x]
    std::vector<step_id> furthest;    // the highest position that x leads to, or x

    explicit heir_forest(Rows const& after) : first(after.rows()), size(after.rows(), 1), furthest(first)
    {
        auto const n = static_cast<step_id>(after.rows());
        std::vector<step_id> heir(n, no_step), height(n, 0);
        for (step_id x = n; x-- != 0;) {
            furthest[x] = x;
            for (step_id y : after[x]) {
                if (height[x] <= height[y]) heir[x] = y, height[x] = height[y] + 1;
                furthest[x] = larger(furthest[x], furthest[y]);
            }
        }
        for (step_id x = 0; x != n; ++x)
            if (heir[x] != no_step) size[heir[x]] += size[x];
        std::vector<step_id>& next = height; // where the next that x is heir to begins
        for (step_id x = n, roots = 0; x-- != 0;) {
            step_id& from = heir[x] == no_step ? roots : next[heir[x]];
            first[x] = from;
            next[x] = from + 1;
            from += size[x];
        }
    }
    bool leads_to(step_id a, step_id b) const { return first[a] - first[b] < size[b]; }
};

/// One walk after the other over the same graph.
template <std::same_as<csr_rows> Rows>
class frontier_walk {
public:
    explicit frontier_walk(Rows const& after) : after_(after), heirs_(after), reached_(after.rows(), 0) {}

    static constexpr std::size_t longest = 4096;

    /// Lists in `lowest` what it finds, or returns the last end. `is_cut` if it gave up.
    step_id operator()(std::span<step_id const> row, std::vector<step_id>& lowest, unsigned char& is_cut)
    {
        lowest.clear();
        ends_.clear();
        step_id const last = row.back();
        step_id limit = heirs_.furthest[last];
        for (std::size_t i = 0; i != row.size(); ++i) {
            bool is_before = false;
            for (std::size_t j = i + 1; j != row.size() && j - i <= most_ends && !is_before; ++j)
                is_before = heirs_.leads_to(row[i], row[row.size() - (j - i)]);
            if (!is_before) ends_.push_back(row[i]), limit = smaller(limit, heirs_.furthest[row[i]]);
        }
        if (ends_.size() == 1) return last;
        if (limit <= last) return no_step; // some end leads to nothing behind them all
        if (ends_.size() > most_ends) return is_cut = 1, last;

        std::uint64_t const all = ~std::uint64_t{0} >> (64 - ends_.size());
        for (std::size_t i = 0; i != ends_.size(); ++i) enter(ends_[i], std::uint64_t{1} << i, all);
        step_id only = no_step;
        for (std::size_t steps = 0; every_end_goes_on(); ++steps) {
            if (steps == longest) {
                is_cut = 1;
                only = last;
                break;
            }
            step_id const x = ~waiting_.top();
            waiting_.pop();
            std::uint64_t from = reached_[x];
            if (from == all) {
                lowest.push_back(x);
                from = behind;
            }
            count(from, all, -1);
            for (step_id y : after_[x])
                if (y <= limit) enter(y, from, all);
        }
        for (; !waiting_.empty(); waiting_.pop())
            if (reached_[~waiting_.top()] == all) lowest.push_back(~waiting_.top());
        if (!lowest.empty() && lowest.front() == last) only = last;
        if (only != no_step) lowest.clear();
        for (step_id x : touched_) reached_[x] = 0;
        touched_.clear();
        for (std::size_t i = 0; i != ends_.size(); ++i) going_on_[i] = 0;
        return only;
    }

private:
    static constexpr std::size_t most_ends = 63;
    static constexpr std::uint64_t behind = ~std::uint64_t{0}; // comes after one that is listed

    void enter(step_id x, std::uint64_t from, std::uint64_t all)
    {
        std::uint64_t const old = reached_[x];
        if (old == 0) {
            touched_.push_back(x);
            waiting_.push(~x);
        }
        reached_[x] = old | from;
        count(old, all, -1);
        count(old | from, all, 1);
    }
    void count(std::uint64_t ends, std::uint64_t all, int by)
    {
        if (ends == all || ends == behind) return;
        for (; ends != 0; ends &= ends - 1) going_on_[static_cast<unsigned>(std::countr_zero(ends))] += by;
    }
    bool every_end_goes_on() const
    {
        for (std::size_t i = 0; i != ends_.size(); ++i)
            if (going_on_[i] == 0) return false;
        return true;
    }

    Rows const& after_;
    heir_forest<Rows> heirs_;
    std::vector<std::uint64_t> reached_; // by position: the ends that lead there, or are there
    std::vector<step_id> ends_, touched_;
    std::priority_queue<step_id> waiting_; // their complements, the lowest on top
    int going_on_[most_ends] = {};         // by end: who waits and was reached by it, but not by all
};

} // namespace detail

/// The frontiers of the buffers that `is_wanted`; the others have none.
///
/// Requires:   `lives` are positions of `g`.
/// Ensures:    unless cut, a position comes after all ends of b if and only if it comes after `last_end[b]`,
///             or is in `lowest[b]` or comes after one of these. A buffer without ends is free from the
///             start: its frontier are the positions that wait for nothing. Outputs have none.
/// Complexity: O(positions + edges) and the walks, each of at most 4096 positions; those are few where
///             branches are short.
template <std::same_as<dependence_graph> G, class Wanted>
[[nodiscard]] frontier_rows frontiers(G const& g, concurrent_lives const& lives, Wanted is_wanted)
{
    detail::frontier_walk<csr_rows> walk(g.after);
    frontier_rows found;
    found.lowest.reserve(lives.buffers(), 0);
    found.last_end.assign(lives.buffers(), no_step);
    found.is_cut.assign(lives.buffers(), 0);
    std::vector<step_id> lowest;
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        std::span<step_id const> const ends = lives.ends[b];
        if (is_wanted(b) && !lives.is_kept(b)) {
            lowest.clear();
            if (ends.size() == 1) found.last_end[b] = ends[0];
            else if (!ends.empty()) found.last_end[b] = walk(ends, lowest, found.is_cut[b]);
            else
                for (step_id x = 0; x != g.positions(); ++x)
                    if (g.before[x].empty()) lowest.push_back(x);
            for (step_id x : lowest) found.lowest.append(x);
        }
        found.lowest.close_row();
    }
    return found;
}

} // namespace sublet

#endif
