// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_CONCURRENT_HPP
#define SUBLET_PLACEMENT_DETAIL_CONCURRENT_HPP

/// Placement of buffers by pairwise conflicts, for steps of which only a partial order is known: first fit
/// in several orders, then local search over orders. No guaranteed factor.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/structures/internal/segment_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

// --- conflicts -------------------------------------------------------------------------------------------

/// The pairs of buffers of a pool that must not overlap in bytes, as begins and ranges.
///
///     position   0   1   2   3   4   5
///     a          [===)       [===)           a conflicts with what begins at 0 or 3
///     b              [===========)           and b with what begins at 1, 2 or 3
///     c                      [=======)       c begins at 3: with a, b and c's own range
///
/// A buffer has ranges of positions, like live ranges with holes. Two buffers conflict if and only if one
/// begins in a range of the other. So the pairs, of which there may be n * n / 2, are never listed. Only
/// positions at which some buffer begins are kept; they are numbered densely.

namespace sublet::detail {

struct placement_conflicts {
    table<buffer_id, std::uint32_t> first_begin{0}; ///< the first index in `begin`; and one more
    std::vector<position_id> begin;                 ///< ascending for each buffer, at least one
    buffer_range_lists ranges;                      ///< ascending, from the first begin

    [[nodiscard]] std::size_t buffers() const { return first_begin.size() - 1; }
    [[nodiscard]] std::uint32_t positions() const { return ranges.positions(); }
    [[nodiscard]] std::span<position_id const> begins(buffer_id b) const
    {
        return {begin.data() + first_begin[b], begin.data() + first_begin[b + 1]};
    }

    /// Whether a and b must not overlap.  O(begins * ranges)
    [[nodiscard]] bool conflict(buffer_id a, buffer_id b) const { return begins_in(a, b) || begins_in(b, a); }

    /// Whether buffers conflict if and only if their ranges overlap: each has one, from its only begin.
    [[nodiscard]] bool are_intervals() const;

private:
    [[nodiscard]] bool begins_in(buffer_id a, buffer_id b) const;
};

/// The conflicts among some of the buffers, renumbered in the order of `members`.
///
/// Requires:   `lives` are the concurrent_live_ranges of all buffers, and `lists` their conflict ranges
///             (analysis/internal/conflict_ranges.hpp): by buffer, the positions at which no reuse of its
///             bytes may begin.
/// Ensures:    two members conflict if and only if neither may reuse the bytes of the other. A member
///             without begins begins before all positions.
/// Complexity: O(members + their begins and ranges + positions).
template <class Lives>
[[nodiscard]] placement_conflicts conflicts_among(std::vector<buffer_id> const& members, Lives const& lives,
                                                  buffer_range_lists const& lists)
{
    SUBLET_EXPECTS(lists.values() == lives.buffers(), "sublet: conflicts are not those of the buffers");
    // Position p has index p + 1; index 0 is before all positions.
    std::vector<std::uint32_t> rank(std::size_t{lives.positions} + 2, 0);
    for (buffer_id b : members) {
        if (lives.begins[b].empty()) rank[0] = 1;
        for (position_id at : lives.begins[b]) rank[at + 1] = 1;
    }
    std::uint32_t ranks = 0;
    for (std::uint32_t& r : rank) ranks += std::exchange(r, ranks);

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
        for (position_id at : lives.begins[b]) result.begin.push_back(rank[at + 1]);
        result.first_begin.push_back(static_cast<std::uint32_t>(result.begin.size()));
        for (live_range r : lists[b]) {
            if (is_given && lives.ends[b].empty()) break; // never accessed: free at once
            r = {rank[r.first + 1], rank[r.last + 1]};
            if (is_empty(r)) continue;
            if (ranges.size() != first.back() && ranges.back().last == r.first) ranges.back().last = r.last;
            else ranges.push_back(r);
        }
        first.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    result.ranges = {buffer_range_lists::source::from_liveness, ranks, std::move(first), std::move(ranges)};
    return result;
}

// --- placed by range -------------------------------------------------------------------------------------

/// The buffers placed so far, with one query: the lowest gap that is free for a buffer.
///
///                  0 - 7                    ranges of a: [1, 4) is covered by the nodes 1 and 2 - 3
///             /             \               a begins at 1: under the nodes 1, 0 - 1, 0 - 3 and 0 - 7
///          0 - 3           4 - 7
///         /     \         /     \           b conflicts with a if it begins under one of a's nodes,
///      0 - 1   2 - 3   4 - 5   6 - 7        or if a begins under one of b's
///      0   1   2   3   4   5   6   7
///
/// Each node of a segment tree has two byte_unions: of the buffers that begin under it, and of those with
/// ranges that cover it. Nodes that cover no range of any buffer are never queried, and stay empty.
///
/// Complexity: a query visits about 2 log p unions for each range and begin, p = positions, upwards to the
///             gap found; an insertion downwards to the new bytes. `visits` counts these steps, one as up to
///             16 if the intervals are too many for the caches.
class placed_by_range {
public:
    /// Requires: `conflicts` outlives this.
    explicit placed_by_range(placement_conflicts const& conflicts);

    /// O(positions)
    void clear();
    [[nodiscard]] std::uint64_t visits() const { return visits_; }

    /// The buffer may overlap others.
    void insert(buffer_id b, byte_count begin, byte_count end);

    [[nodiscard]] bool is_free(buffer_id b, byte_count begin, byte_count end) const;

    /// The lowest multiple of `alignment` at which `size` bytes are free for b and end at or below
    /// `ceiling`, or `no_offset`. With `is_limited` the gap search ends after some steps per union, and b
    /// goes above them all.
    [[nodiscard]] byte_count lowest_gap(buffer_id b, byte_count size, byte_count alignment,
                                        byte_count ceiling, bool is_limited = false);

private:
    /// The highest end of the buffers that conflict with b.
    byte_count top(buffer_id b);

    static constexpr std::uint32_t none = byte_unions::none;
    enum : unsigned char { is_queried = 1, has_queried_ancestor = 2 };
    using interval = byte_unions::interval;
    using byte_union = byte_unions::byte_union;

    template <class Visit>
    void for_each_node_of_ranges(buffer_id b, Visit visit) const
    {
        for (live_range r : conflicts_->ranges[b]) tree_.each(r, visit);
    }

    /// Visits queried nodes only.
    template <class Visit>
    void for_each_node_of_begins(buffer_id b, Visit visit) const
    {
        for (position_id at : conflicts_->begins(b))
            for (std::size_t node = at + tree_.leaves; use_[node] != 0; node /= 2) {
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
    segment_nodes tree_;
    std::vector<unsigned char> use_;
    std::vector<byte_union> unions_; // by node, two: with ranges that cover it, with begins under it
    byte_unions intervals_;
    std::vector<byte_count> begins_;     // of the query, by union: of the interval that is next
    std::vector<std::uint32_t> cursors_; // and its number
    std::uint64_t visits_ = 0, step_cost_ = 1;
};

// --- concurrent orders -----------------------------------------------------------------------------------

///     size_class   by power of two of the size, largest first, then by begin
///     size         largest first, ties by the bytes of the conflicting buffers
///     area         by size times the bytes of the conflicting buffers
///     peak         the antichain first, by the bytes of the conflicting buffers, the others by area
///     last         latest end first
///     begin        by begin
///
/// The antichain is a set of pairwise conflicting buffers with the most bytes: a height near its sum needs it
/// packed without gaps. Buffers with adjacent begins have nearly the same conflicts; placed in turn, their
/// bytes merge in the unions: size_class is the order for a million buffers that nearly all conflict.
///
///     a ──► b ──► c ──► d      by size d, b, c, a: b may lie above bytes that c needs
///     size  2  3  2  4         by levels a, c and then d, b: a, c at 0, and what lies above them at 2
///
/// The levels of an order are its first-fit slots if all sizes are 1. Placing level by level, in each by
/// size, keeps a long chain of buffers, each in conflict with the next few, from growing in height.
enum class concurrent_order : std::uint8_t { size_class, size, area, peak, last, begin };

/// By buffer, its bytes and those of all conflicting buffers; a buffer with several begins may count twice.
///
/// Complexity: O(buffers + begins + ranges + positions).
[[nodiscard]] table<buffer_id, byte_count> conflicting_bytes(placement_conflicts const& conflicts,
                                                             table<buffer_id, byte_count> const& size);

struct order_keys {
    table<buffer_id, byte_count> size;
    table<buffer_id, byte_count> conflicting; ///< bytes of the conflicting buffers and its own
    table<buffer_id, unsigned char> is_in_antichain;
    table<buffer_id, position_id> last; ///< end of the last range
};

[[nodiscard]] order_keys keys_of(table<buffer_id, placement_problem::buffer> const& buffers,
                                 placement_conflicts const& conflicts,
                                 table<buffer_id, unsigned char> is_in_antichain);

[[nodiscard]] std::vector<buffer_id> sorted_ids(std::vector<sort_key> entries);

/// The buffers' indexes in the given order; ties by index.  O(n log n)
[[nodiscard]] std::vector<buffer_id> order_by(concurrent_order which, order_keys const& keys);

/// The buffers' indexes by rising level, in each by falling size.  O(n log n)
[[nodiscard]] std::vector<buffer_id> order_by_levels(table<buffer_id, byte_count> const& level,
                                                     order_keys const& keys);

// --- fit concurrently ------------------------------------------------------------------------------------

/// First fit: places `buffers`, all of one pool, in `order`, pinned ones first.
///
/// First fit depends on the order alone, and some order makes it optimal: in the order of the offsets of an
/// optimal placement, no buffer is placed above its offset there.
///
/// Requires:   `placed` is made of the conflicts of `buffers`; `order` names each once; pins are consistent.
/// Ensures:    conflicting buffers do not overlap in bytes; every offset is a multiple of its alignment or a
///             pin. The placement is given up as soon as it must end above `ceiling`. After `limit` visits
///             the others are put on top of those that they conflict with; after `most` it is given up.
/// Complexity: n insertions and queries, n = buffers.
[[nodiscard]] packing fit_concurrently(table<buffer_id, placement_problem::buffer> const& buffers,
                                       std::vector<buffer_id> const& order, placed_by_range& placed,
                                       byte_count ceiling, std::uint64_t limit = no_limit,
                                       std::uint64_t most = no_limit);

/// Local search over orders: lowers `best`, which was placed in `order`, to `bound`, within `visits`.
///
///     order   a  b  c  d  e         d reaches above the bound, and conflicts with a and b
///             a  d  b  c  e         so it is moved before b; kept if the height does not grow
///
/// With a control it goes on until that stops or the visits are spent, and moves other buffers, too; `seed`
/// gives other moves.
///
/// Ensures:    `best` is no higher than it was, and valid as fit_concurrently() has it.
void lower_by_reordering(table<buffer_id, placement_problem::buffer> const& buffers,
                         placement_conflicts const& conflicts, placed_by_range& placed, byte_count bound,
                         std::uint64_t visits, std::vector<buffer_id> order, packing& best,
                         search_control* control = nullptr, std::uint64_t seed = 0);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/concurrent.ipp>
#endif

#endif
