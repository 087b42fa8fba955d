// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PLACED_BY_RANGE_HPP
#define SUBLET_PLACEMENT_PLACED_BY_RANGE_HPP

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

#include <sublet/live_range.hpp>
#include <sublet/placement/byte_unions.hpp>
#include <sublet/placement/conflicts.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

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
    /// `no_offset`. One that is `in_haste` gives up after some steps a union, and takes what lies above them
    /// all.
    [[nodiscard]] byte_count lowest_gap(buffer_id b, byte_count size, byte_count alignment,
                                        byte_count ceiling, bool in_haste = false);

private:
    /// The end of the highest that is in the way of b.
    byte_count top(buffer_id b);

    static constexpr std::uint32_t none = byte_unions::none;
    enum : unsigned char { is_asked = 1, is_under_asked = 2 };
    using stretch = byte_unions::stretch;
    using stack = byte_unions::byte_union;

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
                if ((use_[node] & is_asked) != 0) visit(node);
                if ((use_[node] & is_under_asked) == 0) break;
            }
    }

    template <class Visit>
    void for_each_stack_in_the_way(buffer_id b, Visit visit) const
    {
        auto ask = [&](stack s) {
            if (s.lowest != none) visit(s);
        };
        for_each_node_of_ranges(b, [&](std::size_t node) { ask(stacks_[2 * node + 1]); });
        for_each_node_of_begins(b, [&](std::size_t node) { ask(stacks_[2 * node]); });
    }

    placement_conflicts const* conflicts_;
    std::size_t leaves_;
    std::vector<unsigned char> use_;
    std::vector<stack> stacks_; // by node: of those whose ranges it belongs to, of those that begin under it
    byte_unions stretches_;
    std::vector<stretch> cursors_;
    std::uint64_t visits_ = 0, step_cost_ = 1;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/placed_by_range.ipp>
#endif

#endif
