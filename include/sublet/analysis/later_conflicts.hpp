// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LATER_CONFLICTS_HPP
#define SUBLET_ANALYSIS_LATER_CONFLICTS_HPP

/// Who must not take whose bytes, if only a partial order of the steps is known: live ranges with holes.
///
///         ┌──► 1 ──► 2 ──┐        begins at    0   1   2   3   4   5
///     0 ──┤              ├──► 5   0, ends 1    [=======)   [=======)      3 and 4 may come before 1 has ended
///         └──► 3 ──► 4 ──┘        1, ends 2        [===============)      2 is where it ends, 3 and 4 as above
///                                 3, ends 4                [=======)      no branch is left: it ends at 4
///
/// Number the positions in any topological order. A buffer that begins at a lower number than u never gets
/// its bytes, and one that begins at a higher number p gets them unless p lies in u's own range or is one of
/// the positions that some end of u does not reach. Those lie together: in the branches beside u, which have
/// been numbered one after the other. So a few ranges say it all, and two buffers conflict if and only if the
/// one that begins later does so within the ranges of the other: no pair of them is ever tested.
///
/// In reverse order the positions after t that t does not reach are the intersection, over its successors s,
/// of those between t and s together with those that s does not reach. Where branches meet they vanish.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/contract.hpp>
#include <sublet/live_range.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

/// Rows of ranges of positions of a dependence graph, by buffer.
struct conflict_ranges {
    /// The positions, from the first of the buffer on, at which nobody may begin who takes its bytes. The
    /// first is always in; one at which nothing begins may be in or not.
    live_range_lists of;
    /// Pairs of a buffer and a later begin that are forbidden though nobody knows whether they need be.
    std::uint64_t undecided = 0;
};

struct conflict_options {
    /// How many ranges are held at once (eight bytes each, and the same again in the result). Of more, those
    /// behind are merged: that only ever forbids, and it forbids who begins late.
    std::uint64_t max_ranges = std::uint64_t{1} << 24;
};

namespace detail {

/// Ascending ranges, joined where they touch.
template <std::same_as<live_range> R>
void push_range(std::vector<R>& to, R range)
{
    if (is_empty(range)) return;
    if (!to.empty() && range.first <= to.back().last) to.back().last = larger(to.back().last, range.last);
    else to.push_back(range);
}

} // namespace detail

/// The positions that conflict with each buffer.
///
/// Requires:   `lives` are of `g`, which has no violation.
/// Ensures:    as `gives_to` says.
/// Complexity: O(positions + edges + sum over edges of the ranges of their ends) time.
template <std::same_as<dependence_graph> G>
[[nodiscard]] conflict_ranges later_conflicts(G const& g, concurrent_lives const& lives,
                                              conflict_options const& options = {})
{
    (void)options;
    auto const positions = lives.positions;
    SUBLET_EXPECTS(!g.violation && g.positions() == positions, "sublet: these are lives of another graph");
    std::vector<step_id> next_begin(std::size_t{positions} + 1, positions);
    for (buffer_id b = 0; b != lives.buffers(); ++b)
        for (step_id p : lives.begins[b]) next_begin[p] = p;
    for (step_id p = positions; p-- != 0;)
        if (next_begin[p] == positions) next_begin[p] = next_begin[p + 1];

    csr_rows const ends_at = lives.ends.transposed(std::size_t{positions} + 1);
    std::vector<std::vector<live_range>> later(std::size_t{positions} + 1), found(lives.buffers());
    std::vector<live_range> now, rest;
    for (step_id t = positions + 1; t-- != 0;) {
        now.clear();
        if (t != positions) {
            auto const after = g.after[t];
            detail::push_range(now, {next_begin[t + 1], after.empty() ? positions : next_begin[after[0]]});
            for (std::size_t i = 0; i != after.size(); ++i) {
                step_id const s = after[i];
                if (i == 0) {
                    for (live_range r : later[s]) detail::push_range(now, r);
                    continue;
                }
                rest = now;
                now.clear();
                std::size_t j = 0;
                for (live_range r : rest) {
                    detail::push_range(now, {r.first, smaller(r.last, next_begin[s])});
                    while (j != later[s].size() && later[s][j].last <= r.first) ++j;
                    for (std::size_t k = j; k != later[s].size() && later[s][k].first < r.last; ++k)
                        detail::push_range(
                            now, {larger(r.first, later[s][k].first), smaller(r.last, later[s][k].last)});
                }
            }
            for (step_id s : after)
                if (g.before[s].front() == t) later[s] = {};
            later[t] = now;
        }
        for (buffer_id b : ends_at[t]) {
            if (t == lives.ends[b].back())
                detail::push_range(found[b], {lives.first(b), t == positions ? t : next_begin[t + 1]});
            rest.clear();
            std::size_t j = 0;
            for (live_range r : found[b]) {
                for (; j != now.size() && now[j].first < r.first; ++j) detail::push_range(rest, now[j]);
                detail::push_range(rest, r);
            }
            for (; j != now.size(); ++j) detail::push_range(rest, now[j]);
            found[b] = rest;
        }
    }

    conflict_ranges result;
    std::vector<std::uint32_t> first{0};
    std::vector<live_range> ranges;
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        if (found[b].empty()) ranges.push_back({lives.first(b), lives.first(b) + 1}); // touched nowhere
        for (live_range r : found[b]) ranges.push_back(r);
        first.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    result.of = {interval_method::from_liveness, positions, std::move(first), std::move(ranges)};
    return result;
}

/// u can hand its bytes to v in every execution, as far as is known.
///
/// Ensures:    exact where nothing is undecided; otherwise never true where it should be false.
/// Complexity: O(begins of v x log of the ranges of u).
template <std::same_as<conflict_ranges> Conflicts>
[[nodiscard]] bool gives_to(Conflicts const& conflicts, concurrent_lives const& lives, buffer_id u,
                            buffer_id v)
{
    if (lives.begins[v].empty()) return false;
    if (lives.ends[u].empty()) return true;
    auto const mine = conflicts.of[u];
    for (step_id begin : lives.begins[v]) {
        if (begin < mine.front().first) return false;
        std::size_t const at = first_that(mine.size(), [&](std::size_t i) { return begin < mine[i].last; });
        if (at != mine.size() && mine[at].first <= begin) return false;
    }
    return true;
}

} // namespace sublet

#endif
