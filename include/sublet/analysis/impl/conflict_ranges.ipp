// SPDX-License-Identifier: BSL-1.0

/// Walks the positions backwards with what each does not reach. At an end of a buffer these ranges are united
/// with those of its other ends; borders lie at begins only, so that few ranges are left.

#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/analysis/internal/unreached_positions.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL void unite(std::span<live_range const> a, std::span<live_range const> b,
                       std::vector<live_range>& to)
{
    to.clear();
    for (std::size_t i = 0, j = 0; i != a.size() || j != b.size();)
        if (j == b.size() || (i != a.size() && a[i].first <= b[j].first)) push_range(to, a[i++]);
        else push_range(to, b[j++]);
}

/// Of each position, and the end: the next position at which a buffer begins, or the number of positions.
SUBLET_DECL table<position_id, position_id> next_begins(concurrent_live_ranges const& lives)
{
    table<position_id, position_id> next(std::size_t{lives.positions} + 1, lives.positions);
    for (buffer_id b = 0; b != lives.buffers(); ++b)
        for (position_id p : lives.begins[b]) next[p] = p;
    for (position_id p = lives.positions; p-- != 0;)
        if (next[p] == lives.positions) next[p] = next[p + 1];
    return next;
}

/// The number of pairs that are forbidden where the sets are not exact.
SUBLET_DECL std::uint64_t count_undecided(concurrent_live_ranges const& lives, buffer_range_lists const& of,
                                          range_sets const& sets, std::size_t first_owner)
{
    table<position_id, std::uint32_t> begun(std::size_t{lives.positions} + 1); // before each position
    for (buffer_id b = 0; b != lives.buffers(); ++b)
        for (position_id p : lives.begins[b]) ++begun[p + std::size_t{1}];
    for (std::size_t p = 0; p != lives.positions; ++p) begun[p + 1] += begun[p];
    std::uint64_t count = 0;
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        position_id const known = sets.exact_until(first_owner + b);
        for (live_range r : of[b])
            if (known < r.last) count += begun[r.last] - begun[larger(r.first, known)];
    }
    return count;
}

SUBLET_DECL conflict_ranges find_conflict_ranges(dependence_graph const& g,
                                                 concurrent_live_ranges const& lives,
                                                 std::uint64_t max_ranges)
{
    auto const positions = lives.positions;
    std::size_t const buffers = lives.buffers(), owners = positions + buffers;
    SUBLET_EXPECTS(g && g.positions() == positions, "sublet: these are live ranges of another graph");
    SUBLET_EXPECTS(owners < no_position, "sublet: more positions and buffers than 32-bit ids");

    // Ranges begin and end where a buffer begins, so that ranges without a begin between them are merged.
    table<position_id, position_id> const next = detail::next_begins(lives);
    csr_rows<position_id, buffer_id> const ends_at = lives.ends.transposed(std::size_t{positions} + 1);
    std::uint64_t const default_limit = detail::larger(std::uint64_t{1} << 24, 8 * std::uint64_t{owners});
    detail::range_sets sets(owners, max_ranges == 0 ? default_limit : max_ranges);
    std::vector<live_range> scratch;
    auto end_at = [&](position_id t, std::vector<live_range> const& unreached, position_id known) {
        for (buffer_id b : ends_at[t]) {
            std::size_t const owner = positions + std::size_t{b};
            position_id until = known;
            if (t == lives.ends[b].back()) { // its last end, visited first
                scratch.clear();
                detail::push_range(scratch, {lives.first(b), t == positions ? t : next[t + 1]});
                detail::push_ranges(scratch, unreached);
            } else {
                detail::unite(sets[owner], unreached, scratch);
                until = detail::smaller(known, sets.exact_until(owner));
            }
            sets.assign(owner, scratch, until);
        }
        return true;
    };
    end_at(positions, {}, no_position);
    detail::find_unreached(g, next, sets, false, end_at);

    std::vector<std::uint32_t> row{0};
    std::vector<live_range> ranges;
    std::size_t all = 0;
    for (std::size_t b = 0; b != buffers; ++b)
        all += detail::larger(sets[positions + b].size(), std::size_t{1});
    SUBLET_EXPECTS(all < no_position, "sublet: more ranges than 32-bit ids");
    row.reserve(buffers + 1);
    ranges.reserve(all);
    for (buffer_id b = 0; b != buffers; ++b) {
        auto const buffer_ranges = sets[positions + std::size_t{b}];
        if (buffer_ranges.empty() && positions != 0) // it has no touches
            ranges.push_back({lives.first(b), lives.first(b) + 1});
        for (live_range r : buffer_ranges) ranges.push_back(r);
        row.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    conflict_ranges result;
    result.of = buffer_range_lists(live_range_lists::source::from_liveness, positions, std::move(row),
                                   std::move(ranges));
    if (sets.is_coarsened()) result.undecided = detail::count_undecided(lives, result.of, sets, positions);
    return result;
}

SUBLET_DECL bool reusable_by(conflict_ranges const& conflicts, concurrent_live_ranges const& lives,
                             buffer_id u, buffer_id v)
{
    if (lives.begins[v].empty()) return false;
    if (lives.ends[u].empty()) return true;
    auto const buffer_ranges = conflicts.of[u];
    for (position_id begin : lives.begins[v]) {
        std::size_t const at = detail::partition_point(
            buffer_ranges.size(), [&](std::size_t i) { return begin < buffer_ranges[i].last; });
        if (begin < buffer_ranges.front().first ||
            (at != buffer_ranges.size() && buffer_ranges[at].first <= begin))
            return false;
    }
    return true;
}

} // namespace sublet::detail
