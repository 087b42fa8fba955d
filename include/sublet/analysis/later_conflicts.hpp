// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LATER_CONFLICTS_HPP
#define SUBLET_ANALYSIS_LATER_CONFLICTS_HPP

/// Who must not take whose bytes, if only a partial order of the steps is known: live ranges with holes.
///
///          ┌──► 1 ──► 2 ──► 3 ──┐       position          0   1   2   3   4   5   6
///     0 ───┤                    ├──► 6  begun 1, ended 2      [=======)   [=======)
///          └──► 4 ──► 5 ────────┘       begun 4, ended 5                  [=======)
///
/// What begins at 3 or 6 may take the bytes of the first; 4 and 5 may run before 2 has ended.
///
/// Number the positions in any topological order. Who begins at a lower number than u never gets its bytes;
/// who begins at a higher one gets them unless that lies in u's own range, or is a position that some end of
/// u does not reach. Those lie together, in branches that were numbered as a whole. So a few ranges say it
/// all: two buffers conflict if and only if the one that begins later does so within the ranges of the other,
/// and no pair of them is ever tested.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/analysis/range_sets.hpp>
#include <sublet/analysis/unreached.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/live_range.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

struct conflict_ranges {
    /// By buffer: the positions, from its first on, at which nobody may begin who takes its bytes. The first
    /// is always among them; one at which nothing begins may be or not.
    live_range_lists of;
    /// At most so many pairs, of a buffer and a later begin, are forbidden because there was no more room.
    std::uint64_t undecided = 0;
};

struct conflict_options {
    /// How many ranges are held at once, eight bytes each, before all are made coarser, which only forbids
    /// and forbids first who begins last. 0: 2^24, or eight for each position and buffer if that is more.
    std::uint64_t max_ranges = 0;
};

namespace detail {

/// The union of both, in `to`.
inline void unite(std::span<live_range const> a, std::span<live_range const> b, std::vector<live_range>& to)
{
    to.clear();
    for (std::size_t i = 0, j = 0; i != a.size() || j != b.size();)
        if (j == b.size() || (i != a.size() && a[i].first <= b[j].first)) push_range(to, a[i++]);
        else push_range(to, b[j++]);
}

/// By position, and one more: the next at which a buffer begins, or the number of positions.
inline std::vector<step_id> next_begins(concurrent_lives const& lives)
{
    std::vector<step_id> next(std::size_t{lives.positions} + 1, lives.positions);
    for (std::size_t b = 0; b != lives.buffers(); ++b)
        for (step_id p : lives.begins[b]) next[p] = p;
    for (step_id p = lives.positions; p-- != 0;)
        if (next[p] == lives.positions) next[p] = next[p + 1];
    return next;
}

/// How many pairs are forbidden behind what is known.
inline std::uint64_t count_undecided(concurrent_lives const& lives, live_range_lists const& of,
                                     range_sets const& sets, std::size_t first_owner)
{
    std::vector<std::uint32_t> begun(std::size_t{lives.positions} + 1); // before each position
    for (std::size_t b = 0; b != lives.buffers(); ++b)
        for (step_id p : lives.begins[b]) ++begun[p + std::size_t{1}];
    for (std::size_t p = 0; p != lives.positions; ++p) begun[p + 1] += begun[p];
    std::uint64_t count = 0;
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        step_id const known = sets.known_until(first_owner + b);
        for (live_range r : of[b])
            if (known < r.last) count += begun[r.last] - begun[larger(r.first, known)];
    }
    return count;
}

} // namespace detail

/// The positions that conflict with each buffer.
///
/// Requires:   `lives` are of `g`, which has no violation.
/// Ensures:    u gives its bytes to v in every execution if no begin of v is below the first position of u or
///             in one of its ranges; where nothing is undecided, only then. Exceptions are buffers without
///             touches and without begins: `gives_to` knows them.
/// Complexity: O(positions + edges + buffers + r) time, r = ranges of the successors of all positions and of
///             the ends of all buffers: few where few branches are open at once. O(positions + buffers +
///             ranges) memory.
/// Throws:     precondition_error if `lives` are of another graph.
[[nodiscard]] inline conflict_ranges later_conflicts(dependence_graph const& g, concurrent_lives const& lives,
                                                     conflict_options const& options = {})
{
    auto const positions = lives.positions;
    std::size_t const buffers = lives.buffers(), owners = positions + buffers;
    SUBLET_EXPECTS(!g.violation && g.positions() == positions, "sublet: these are lives of another graph");
    SUBLET_EXPECTS(owners < no_step, "sublet: more positions and buffers than 32-bit ids");

    // Ranges begin and end where a buffer begins, so that those with nothing between them join.
    std::vector<step_id> const next = detail::next_begins(lives);
    csr_rows const ends_at = lives.ends.transposed(std::size_t{positions} + 1);
    std::uint64_t const most = larger(std::uint64_t{1} << 24, 8 * std::uint64_t{owners});
    detail::range_sets sets(owners, options.max_ranges == 0 ? most : options.max_ranges);
    std::vector<live_range> scratch;
    auto end_at = [&](step_id t, std::vector<live_range> const& unreached, step_id known) {
        for (buffer_id b : ends_at[t]) {
            std::size_t const owner = positions + std::size_t{b};
            step_id until = known;
            if (t == lives.ends[b].back()) { // the first end to be met
                scratch.clear();
                detail::push_range(scratch, {lives.first(b), t == positions ? t : next[t + 1]});
                detail::push_ranges(scratch, unreached);
            } else {
                detail::unite(sets[owner], unreached, scratch);
                until = smaller(known, sets.known_until(owner));
            }
            sets.keep(owner, scratch, until);
        }
        return true;
    };
    end_at(positions, {}, no_step);
    detail::find_unreached(g, next, sets, false, end_at);

    std::vector<std::uint32_t> row{0};
    std::vector<live_range> ranges;
    std::size_t all = 0;
    for (std::size_t b = 0; b != buffers; ++b) all += larger(sets[positions + b].size(), std::size_t{1});
    SUBLET_EXPECTS(all < no_step, "sublet: more ranges than 32-bit ids");
    row.reserve(buffers + 1);
    ranges.reserve(all);
    for (buffer_id b = 0; b != buffers; ++b) {
        auto const mine = sets[positions + std::size_t{b}];
        if (mine.empty()) ranges.push_back({lives.first(b), lives.first(b) + 1}); // nobody touches it
        for (live_range r : mine) ranges.push_back(r);
        row.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    conflict_ranges result;
    result.of = {interval_method::from_liveness, positions, std::move(row), std::move(ranges)};
    if (sets.has_forgotten()) result.undecided = detail::count_undecided(lives, result.of, sets, positions);
    return result;
}

/// u can hand its bytes to v in every execution.
///
/// Ensures:    exact where nothing is undecided; otherwise never true where it should be false.
/// Complexity: O(begins of v x log of the ranges of u).
[[nodiscard]] inline bool gives_to(conflict_ranges const& conflicts, concurrent_lives const& lives,
                                   buffer_id u, buffer_id v)
{
    if (lives.begins[v].empty()) return false;
    if (lives.ends[u].empty()) return true;
    auto const mine = conflicts.of[u];
    for (step_id begin : lives.begins[v]) {
        std::size_t const at = first_that(mine.size(), [&](std::size_t i) { return begin < mine[i].last; });
        if (begin < mine.front().first || (at != mine.size() && mine[at].first <= begin)) return false;
    }
    return true;
}

} // namespace sublet

#endif
