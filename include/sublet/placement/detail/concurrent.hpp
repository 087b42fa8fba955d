// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_CONCURRENT_HPP
#define SUBLET_PLACEMENT_DETAIL_CONCURRENT_HPP

/// Placement by conflicts instead of by time. Included by placement/pack.hpp.

#include <sublet/detail/sorting.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

// --- conflicts -------------------------------------------------------------------------------------------

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

namespace sublet::detail {

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
/// Requires:   `lives` are the concurrent_live_ranges of all buffers, and `lists` what analysis/dependences.hpp
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
    result.ranges = {live_range_lists::source::from_liveness, ranks, std::move(first), std::move(ranges)};
    return result;
}

// --- placed by range -------------------------------------------------------------------------------------

/// What has been placed so far, asked one question: where is the lowest gap for a buffer, if only a partial
/// order of the steps is known?
///
///                  0 - 7                    ranges of a: [1, 4) lies under the nodes 1 and 2 - 3
///             /             \               a begins at 1: under the nodes 1, 0 - 1, 0 - 3 and 0 - 7
///          0 - 3           4 - 7
///         /     \         /     \           b is in the way of a if it begins under one of a's nodes,
///      0 - 1   2 - 3   4 - 5   6 - 7        or if a begins under one of b's
///      0   1   2   3   4   5   6   7
///
/// Each node knows the bytes of all that begin under it, and the bytes of all whose ranges it belongs to.
/// Both are unions, in which neighbours grow together: buffers that are packed well become one stretch, and
/// nobody walks past those that are in the way one by one, however many they are. A query asks some twice the
/// logarithm of the number of positions of such unions for every range and begin, and stops at the first gap.
///
/// Nodes that belong to nobody's ranges are never asked, and know nothing.

/// Complexity: a query walks as many unions from below up to the gap that is found, an insertion from above
///             down to where the new bytes go. `visits` counts their steps: up to 16 for one where so many
///             stretches have been made that most of them are in no cache.
class placed_by_range {
public:
    /// Requires: `conflicts` outlives this.
    explicit placed_by_range(placement_conflicts const& conflicts);

    /// As if nothing had been placed.  O(positions)
    void clear();
    [[nodiscard]] std::uint64_t visits() const { return visits_; }

    /// What lies on others is allowed.
    void insert(buffer_id b, byte_count begin, byte_count end);

    /// The bytes from `begin` to `end` are free for b.
    [[nodiscard]] bool is_free(buffer_id b, byte_count begin, byte_count end) const;

    /// The lowest multiple of `alignment` at which `size` bytes of b are free up to `ceiling`, or
    /// `no_offset`. One that is `is_limited` gives up after some steps a union, and takes what lies above them
    /// all.
    [[nodiscard]] byte_count lowest_gap(buffer_id b, byte_count size, byte_count alignment,
                                        byte_count ceiling, bool is_limited = false);

private:
    /// The end of the highest that is in the way of b.
    byte_count top(buffer_id b);

    static constexpr std::uint32_t none = byte_unions::none;
    enum : unsigned char { is_queried = 1, has_queried_ancestor = 2 };
    using interval = byte_unions::interval;
    using byte_union = byte_unions::byte_union;

    template <class Visit>
    void for_each_node_of_ranges(buffer_id b, Visit visit) const
    {
        for (live_range r : conflicts_->ranges[b])
            for (std::size_t i = r.first + leaves_, j = r.last + leaves_; i < j; i /= 2, j /= 2) {
                if (i % 2 == 1) visit(i++);
                if (j % 2 == 1) visit(--j);
            }
    }

    /// Of those only that are asked.
    template <class Visit>
    void for_each_node_of_begins(buffer_id b, Visit visit) const
    {
        for (step_id at : conflicts_->begins(b))
            for (std::size_t node = at + leaves_; use_[node] != 0; node /= 2) {
                if ((use_[node] & is_queried) != 0) visit(node);
                if ((use_[node] & has_queried_ancestor) == 0) break;
            }
    }

    template <class Visit>
    void for_each_conflicting_union(buffer_id b, Visit visit) const
    {
        auto visit_nonempty = [&](byte_union s) {
            if (s.lowest != none) visit(s);
        };
        for_each_node_of_ranges(b, [&](std::size_t node) { visit_nonempty(unions_[2 * node + 1]); });
        for_each_node_of_begins(b, [&](std::size_t node) { visit_nonempty(unions_[2 * node]); });
    }

    placement_conflicts const* conflicts_;
    std::size_t leaves_;
    std::vector<unsigned char> use_;
    std::vector<byte_union>
        unions_; // by node: of those whose ranges it belongs to, of those that begin under it
    byte_unions intervals_;
    std::vector<interval> cursors_;
    std::uint64_t visits_ = 0, step_cost_ = 1;
};

// --- concurrent orders -----------------------------------------------------------------------------------

/// The orders in which buffers are offered a place if only a partial order of the steps is known.
///
///     octave    those of twice the size first, else as they begin
///     size      the largest first, of equals the one whose conflicts have the most bytes
///     area      size times the bytes of its conflicts
///     peak      the antichain before all others, most bytes of conflicts first, the others by area
///     last      the last to be needed first
///     begin     as they begin
///
/// The antichain are buffers that all conflict with each other and have the most bytes. The arena is as low
/// as their sum only if they lie without a gap, so it is what the peak is for intervals.
///
/// Neighbours in the order of positions have nearly the same conflicts. Placed one after the other they lie
/// next to each other, and what has to be remembered of them grows together: octave is the order for a
/// million buffers that nearly all conflict.
///
///     a ──► b ──► c ──► d      by size d, b, c, a: b may have been put above a place that c needs
///     size  2  3  2  4         by levels a, c and then d, b: a, c at 0, and what lies above them at 2
///
/// Levels are what lowest fit makes of an order if all sizes are 1: slots. To offer places level by level, in
/// each by size, is what keeps a long row of buffers, where each conflicts with the next few, from rising.

enum class concurrent_order : std::uint8_t { size_class, size, area, peak, last, begin };

/// By buffer, its bytes and those of all that conflict with it; some count twice if one begins several times.
///
/// Complexity: O(buffers + begins + ranges + positions).
[[nodiscard]] std::vector<byte_count> conflicting_bytes(placement_conflicts const& conflicts,
                                                        std::vector<byte_count> const& size);

/// What the orders look at, of the buffers of one pool.
struct order_keys {
    std::vector<byte_count> size;
    std::vector<byte_count> conflicting; ///< the bytes of its conflicts and its own
    std::vector<unsigned char> is_in_antichain;
    std::vector<step_id> last; ///< behind the last range
};

[[nodiscard]] order_keys keys_of(std::vector<placement_problem::buffer> const& buffers,
                                 placement_conflicts const& conflicts,
                                 std::vector<unsigned char> is_in_antichain);

/// The ids of sorted offers.
[[nodiscard]] std::vector<std::uint32_t> sorted_ids(std::vector<sort_key> entries);

/// The buffers' indexes in the given order; of equals the lower index first.  O(n log n)
[[nodiscard]] std::vector<std::uint32_t> order_by(concurrent_order which, order_keys const& keys);

/// The buffers' indexes from the lowest level to the highest, in each by falling size.  O(n log n)
[[nodiscard]] std::vector<std::uint32_t> order_by_levels(std::vector<byte_count> const& level,
                                                         order_keys const& keys);

// --- fit concurrently ------------------------------------------------------------------------------------

/// Place buffers one after the other, each into the lowest gap that those before it have left, and try to do
/// better by moving those that reach too high forward in the order.
///
///     order   a  b  c  d  e         d reaches above the bound, and conflicts with a and b
///             a  d  b  c  e         so it is offered its place before b: kept, as it is no higher than
///             before
///
/// Lowest fit depends on the order alone, and some order makes it optimal: take buffers by their offsets in
/// an optimal placement, and none is placed above its offset there. So the search is for an order.
///
/// Who reaches above the bound could have been lower only in bytes of those that were placed before it and
/// conflict with it, so it is moved before one of these.

/// As fit(): place `buffers`, all of one pool, in `order`, pinned ones first.
///
/// Requires:   `placed` is made of the conflicts of `buffers`; `order` names each once; pins are sound.
/// Ensures:    those that conflict do not overlap in bytes; every offset is a multiple of its alignment or a
///             pin. The placement is given up as soon as it is clear that it ends above `ceiling`. Once it
///             has visited as much as `limit`, it looks no longer for gaps but puts all others on top of
///             those that they conflict with; at `most` it is given up.
/// Complexity: n insertions and queries, n = buffers.
[[nodiscard]] packing fit_concurrently(std::vector<placement_problem::buffer> const& buffers,
                                       std::vector<std::uint32_t> const& order, placed_by_range& placed,
                                       byte_count ceiling, std::uint64_t limit = no_limit,
                                       std::uint64_t most = no_limit);

/// Lower `best`, which was placed in `order`, to `bound` if that can be done within `visits`.
///
/// Ensures:    `best` is no higher than it was, and valid as fit_concurrently() has it.
void lower_by_reordering(std::vector<placement_problem::buffer> const& buffers,
                         placement_conflicts const& conflicts, placed_by_range& placed, byte_count bound,
                         std::uint64_t visits, std::vector<std::uint32_t> order, packing& best);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/concurrent.ipp>
#endif

#endif
