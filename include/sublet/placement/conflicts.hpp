// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_CONFLICTS_HPP
#define SUBLET_PLACEMENT_CONFLICTS_HPP

/// Which buffers of a pool must lie apart if only a partial order of the steps is known.
///
///     position   0   1   2   3   4   5
///     a          [===)       [===)           a conflicts with what begins at 0 or 3
///     b              [===========)           and b with what begins at 1, 2 or 3
///     c                      [=======)       c begins at 3: with a, b and c's own range
///
/// A buffer has ranges of positions, and whatever begins in them must not take its bytes: live ranges with
/// holes. Two conflict if and only if one of them begins in a range of the other. So nobody has to list the
/// pairs, of which there may be n * n / 2: begins and ranges are all there is to know.
///
/// Positions at which nothing begins do not matter. What is left of them is numbered densely.

#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/contract.hpp>
#include <sublet/live_range.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

struct placement_conflicts {
    std::vector<std::uint32_t> first_begin{0}; ///< by buffer, and one more: where its begins begin
    std::vector<step_id> begin;                ///< ascending for each buffer, never none
    live_range_lists ranges;                   ///< by buffer, ascending, from its first begin

    [[nodiscard]] std::size_t buffers() const { return first_begin.size() - 1; }
    [[nodiscard]] step_id positions() const { return ranges.positions(); }
    [[nodiscard]] std::span<step_id const> begins(buffer_id b) const
    {
        return {begin.data() + first_begin[b], begin.data() + first_begin[b + 1]};
    }

    /// a and b must lie apart.  O(begins * ranges)
    [[nodiscard]] bool conflict(buffer_id a, buffer_id b) const { return begins_in(a, b) || begins_in(b, a); }

private:
    [[nodiscard]] bool begins_in(buffer_id a, buffer_id b) const;
};

/// The conflicts of some of the buffers among each other, which are numbered anew, as `members` lists them.
///
/// Requires:   `lives` are the concurrent_lives of all buffers, and `lists` what analysis/later_conflicts.hpp
///             makes of them: by buffer, the positions at which nobody may begin who takes its bytes.
/// Ensures:    two members conflict if and only if neither gives to the other. One that is given, that is,
///             has no begin, begins before all positions.
/// Complexity: O(members + their begins and ranges + positions).
template <class Lives>
[[nodiscard]] placement_conflicts conflicts_among(std::vector<buffer_id> const& members, Lives const& lives,
                                                  live_range_lists const& lists)
{
    SUBLET_EXPECTS(lists.values() == lives.buffers(), "sublet: conflicts are not those of the buffers");
    // Position p is p + 1 here, and 0 is before all of them.
    std::vector<step_id> rank(std::size_t{lives.positions} + 2, 0);
    for (buffer_id b : members) {
        if (lives.begins[b].empty()) rank[0] = 1;
        for (step_id at : lives.begins[b]) rank[at + 1] = 1;
    }
    step_id ranks = 0;
    for (step_id& r : rank) ranks += std::exchange(r, ranks);

    placement_conflicts result;
    std::vector<std::uint32_t> first{0};
    std::vector<live_range> ranges;
    result.first_begin.reserve(members.size() + 1);
    result.begin.reserve(members.size());
    first.reserve(members.size() + 1);
    ranges.reserve(members.size());
    for (buffer_id b : members) {
        bool const is_given = lives.begins[b].empty();
        if (is_given) {
            result.begin.push_back(0);
            ranges.push_back({0, 1});
        }
        for (step_id at : lives.begins[b]) result.begin.push_back(rank[at + 1]);
        result.first_begin.push_back(static_cast<std::uint32_t>(result.begin.size()));
        for (live_range r : lists[b]) {
            if (is_given && lives.ends[b].empty()) break; // touched nowhere: free at once
            r = {rank[r.first + 1], rank[r.last + 1]};
            if (is_empty(r)) continue;
            if (ranges.size() != first.back() && ranges.back().last == r.first) ranges.back().last = r.last;
            else ranges.push_back(r);
        }
        first.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    result.ranges = {interval_method::from_liveness, ranks, std::move(first), std::move(ranges)};
    return result;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/conflicts.ipp>
#endif

#endif
