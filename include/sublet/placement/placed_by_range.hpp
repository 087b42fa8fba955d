// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PLACED_BY_RANGE_HPP
#define SUBLET_PLACEMENT_PLACED_BY_RANGE_HPP

/// What has been placed so far, asked one question: where is the lowest gap for a buffer, if only a partial
/// order of the steps is known?
///
///                  0 - 7                    ranges of a: [1, 4) lie under the nodes 1, 2 - 3
///             /             \               a begins at 1, under the nodes 1, 0 - 1, 0 - 3, 0 - 7
///          0 - 3           4 - 7
///         /     \         /     \           b is in the way of a if it begins under one of a's nodes,
///      0 - 1   2 - 3   4 - 5   6 - 7        or if a begins under one of b's
///      0   1   2   3   4   5   6   7
///
/// Two trees of that shape: each node knows the bytes of all that begin under it, and the bytes of all whose
/// ranges it belongs to. Both are unions, in which neighbours grow together; buffers that are packed well
/// become one stretch, so that nobody walks past those that are in the way one by one, however many they are.
/// A query asks twice the logarithm of the number of positions of such unions, and stops at the first gap.

#include <sublet/live_range.hpp>
#include <sublet/placement/conflicts.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// Complexity: insertion O(log positions * (begins + ranges)) unions, each walked up to where the new bytes
///             go; a query as many, each up to the gap that is found.
class placed_by_range {
public:
    /// Requires: `conflicts` outlives this.
    explicit placed_by_range(placement_conflicts const& conflicts)
        : conflicts_(&conflicts), leaves_(conflicts.positions()), is_asked_(2 * leaves_),
          lowest_(4 * leaves_, none)
    {
        for (buffer_id b = 0; b != conflicts.buffers(); ++b)
            for_each_node_of_ranges(b, [this](std::size_t node) { is_asked_[node] = asked; });
        for (std::size_t node = 2; node < is_asked_.size(); ++node)
            if (is_asked_[node / 2] != 0) is_asked_[node] |= above;
    }

    void insert(buffer_id b, byte_count begin, byte_count end)
    {
        for_each_node_of_ranges(b, [&](std::size_t node) { unite(2 * node, begin, end); });
        for_each_node_of_begins(b, [&](std::size_t node) { unite(2 * node + 1, begin, end); });
    }

    /// The lowest multiple of `alignment` at which `size` bytes of b are free up to `ceiling`, or
    /// `no_offset`.
    [[nodiscard]] byte_count lowest_gap(buffer_id b, byte_count size, byte_count alignment,
                                        byte_count ceiling, std::uint64_t& visits)
    {
        if (size > ceiling) return no_offset;
        byte_count const highest = ceiling - size;
        cursors_.clear();
        auto ask = [this](std::size_t set) {
            if (lowest_[set] != none) cursors_.push_back(lowest_[set]);
        };
        for_each_node_of_ranges(b, [&](std::size_t node) { ask(2 * node + 1); });
        for_each_node_of_begins(b, [&](std::size_t node) { ask(2 * node); });

        // Each union in turn lifts the buffer above what it meets of it, until none of them does.
        byte_count at = 0;
        for (std::size_t i = 0, content = 0; content < cursors_.size();
             i = i + 1 < cursors_.size() ? i + 1 : 0) {
            std::uint32_t& cursor = cursors_[i];
            ++content;
            for (++visits; cursor != none; cursor = stretches_[cursor].above, ++visits) {
                stretch const& s = stretches_[cursor];
                if (s.end <= at) continue;
                if (s.begin >= at + size) break;
                at = align_up(s.end, alignment);
                if (at > highest) return no_offset;
                content = 1;
            }
        }
        return at;
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    enum : unsigned char { asked = 1, above = 2 };
    struct stretch {
        byte_count begin, end;
        std::uint32_t above;
    };

    template <class Visit>
    void for_each_node_of_ranges(buffer_id b, Visit visit) const
    {
        for (live_range r : conflicts_->ranges[b])
            for (std::size_t i = r.first + leaves_, j = r.last + leaves_; i < j; i /= 2, j /= 2) {
                if (i % 2 == 1) visit(i++);
                if (j % 2 == 1) visit(--j);
            }
    }

    /// Of those only that belong to the ranges of anybody.
    template <class Visit>
    void for_each_node_of_begins(buffer_id b, Visit visit) const
    {
        for (step_id at : conflicts_->begins[b])
            for (std::size_t node = at + leaves_; is_asked_[node] != 0; node /= 2) {
                if ((is_asked_[node] & asked) != 0) visit(node);
                if ((is_asked_[node] & above) == 0) break;
            }
    }

    template <class Index>
    void unite(Index set, byte_count begin, byte_count end)
    {
        std::uint32_t below = none, at = lowest_[set];
        for (; at != none && stretches_[at].end < begin; at = stretches_[at].above) below = at;
        if (at == none || stretches_[at].begin > end) {
            std::uint32_t fresh = free_;
            if (fresh != none) free_ = stretches_[fresh].above;
            else fresh = static_cast<std::uint32_t>(stretches_.size());
            if (fresh == stretches_.size()) stretches_.push_back({begin, end, at});
            else stretches_[fresh] = {begin, end, at};
            (below == none ? lowest_[set] : stretches_[below].above) = fresh;
            return;
        }
        stretch& grown = stretches_[at];
        grown.begin = smaller(grown.begin, begin);
        grown.end = larger(grown.end, end);
        while (grown.above != none && stretches_[grown.above].begin <= grown.end) {
            std::uint32_t const swallowed = grown.above;
            grown.end = larger(grown.end, stretches_[swallowed].end);
            grown.above = stretches_[swallowed].above;
            stretches_[swallowed].above = free_;
            free_ = swallowed;
        }
    }

    placement_conflicts const* conflicts_;
    std::size_t leaves_;
    std::vector<unsigned char> is_asked_; // by node: it belongs to ranges; a node above it does
    std::vector<std::uint32_t> lowest_;   // by node, of those whose ranges it belongs to, then of those that
                                          // begin under it: the first stretch
    std::vector<stretch> stretches_;
    std::uint32_t free_ = none;
    std::vector<std::uint32_t> cursors_;
};

} // namespace sublet

#endif
