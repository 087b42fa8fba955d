// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_LATER_CONFLICTS_IPP
#define SUBLET_ANALYSIS_IMPL_LATER_CONFLICTS_IPP

#include <sublet/analysis/later_conflicts.hpp>
#include <sublet/analysis/range_sets.hpp>
#include <sublet/analysis/unreached.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sorting.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

SUBLET_DECL void unite(std::span<live_range const> a, std::span<live_range const> b,
                       std::vector<live_range>& to)
{
    to.clear();
    for (std::size_t i = 0, j = 0; i != a.size() || j != b.size();)
        if (j == b.size() || (i != a.size() && a[i].first <= b[j].first)) push_range(to, a[i++]);
        else push_range(to, b[j++]);
}

/// By position, and one more: the next at which a buffer begins, or the number of positions.
SUBLET_DECL std::vector<step_id> next_begins(concurrent_lives const& lives)
{
    std::vector<step_id> next(std::size_t{lives.positions} + 1, lives.positions);
    for (std::size_t b = 0; b != lives.buffers(); ++b)
        for (step_id p : lives.begins[b]) next[p] = p;
    for (step_id p = lives.positions; p-- != 0;)
        if (next[p] == lives.positions) next[p] = next[p + 1];
    return next;
}

/// How many pairs are forbidden behind what is known.
SUBLET_DECL std::uint64_t count_undecided(concurrent_lives const& lives, live_range_lists const& of,
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

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL conflict_ranges later_conflicts(dependence_graph const& g, concurrent_lives const& lives,
                                            conflict_options const& options)
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

SUBLET_DECL bool gives_to(conflict_ranges const& conflicts, concurrent_lives const& lives, buffer_id u,
                          buffer_id v)
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
