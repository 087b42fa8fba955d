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
    explicit placed_by_range(placement_conflicts const& conflicts)
        : conflicts_(&conflicts), leaves_(conflicts.positions()), use_(2 * leaves_), stacks_(4 * leaves_)
    {
        for (buffer_id b = 0; b != conflicts.buffers(); ++b)
            for_each_node_of_ranges(b, [this](std::size_t node) { use_[node] = is_asked; });
        for (std::size_t node = 2; node < use_.size(); ++node)
            if (use_[node / 2] != 0) use_[node] |= is_under_asked;
    }

    /// As if nothing had been placed.  O(positions)
    void clear()
    {
        visits_ = 0;
        step_cost_ = 1;
        stacks_.assign(4 * leaves_, {});
        stretches_.clear();
    }
    [[nodiscard]] std::uint64_t visits() const { return visits_; }

    /// What lies on others is allowed.
    void insert(buffer_id b, byte_count begin, byte_count end)
    {
        std::uint64_t steps = 16; // what one costs whatever is found
        for_each_node_of_ranges(
            b, [&](std::size_t node) { steps += stretches_.unite(stacks_[2 * node], begin, end); });
        for_each_node_of_begins(
            b, [&](std::size_t node) { steps += stretches_.unite(stacks_[2 * node + 1], begin, end); });
        visits_ += step_cost_ * steps;
        step_cost_ = 1 + smaller<std::uint64_t>(stretches_.size() >> 16, 15);
    }

    /// The bytes from `begin` to `end` are free for b.
    [[nodiscard]] bool is_free(buffer_id b, byte_count begin, byte_count end) const
    {
        bool is_free = true;
        for_each_stack_in_the_way(b, [&](stack s) {
            std::uint32_t at = s.lowest;
            while (at != none && stretches_[at].end <= begin) at = stretches_[at].above;
            if (at != none && stretches_[at].begin < end) is_free = false;
        });
        return is_free;
    }

    /// The lowest multiple of `alignment` at which `size` bytes of b are free up to `ceiling`, or
    /// `no_offset`. One that is `in_haste` gives up after some steps a union, and takes what lies above them
    /// all.
    [[nodiscard]] byte_count lowest_gap(buffer_id b, byte_count size, byte_count alignment,
                                        byte_count ceiling, bool in_haste = false)
    {
        if (size > ceiling) return no_offset;
        byte_count const highest = ceiling - size;
        cursors_.clear();
        for_each_stack_in_the_way(b, [this](stack s) { cursors_.push_back(stretches_[s.lowest]); });
        visits_ += step_cost_ * cursors_.size();
        std::uint64_t const stop =
            in_haste ? visits_ + step_cost_ * (16 * cursors_.size() + 128) : ~std::uint64_t{0};

        // Each union in turn lifts the buffer above what it meets of it, until none of them does.
        byte_count at = 0;
        for (std::size_t i = 0, content = 0; content < cursors_.size();
             i = i + 1 < cursors_.size() ? i + 1 : 0) {
            stretch& next = cursors_[i];
            ++content;
            while (next.begin < at + size) {
                if (next.end > at) {
                    bool const gives_up = visits_ >= stop;
                    at = align_up(gives_up ? top(b) : next.end, alignment);
                    if (at > highest) return no_offset;
                    if (gives_up) return at;
                    content = 1;
                }
                visits_ += step_cost_;
                if (next.above == none) next.begin = no_offset;
                else next = stretches_[next.above];
            }
        }
        return at;
    }

private:
    /// The end of the highest that is in the way of b.
    byte_count top(buffer_id b)
    {
        byte_count end = 0;
        for_each_stack_in_the_way(b, [&](stack s) {
            for (; stretches_[s.recent].above != none; visits_ += step_cost_)
                s.recent = stretches_[s.recent].above;
            end = larger(end, stretches_[s.recent].end);
        });
        return end;
    }

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

#endif
