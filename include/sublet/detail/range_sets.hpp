// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_DETAIL_RANGE_SETS_HPP
#define SUBLET_DETAIL_RANGE_SETS_HPP

/// Many sets of positions, each as a few ranges, in a bounded amount of memory.
///
///     owner  ranges                       in one array: a head {owner, how many}, then the ranges
///       4    [1, 3) [7, 9)                {4, 2} [1, 3) [7, 9)   {6, 1} [2, 8)   ...
///       6    [2, 8)
///
/// Sets come and go in the order of a walk, so each is put behind the others. What is let go leaves a gap,
/// and when gaps are half of all the rest moves together, in one pass over the array.
///
/// If there is no room even so, sets become coarser: all keep as many ranges as before only up to a number
/// that is the same for all, and what lies behind is joined into one. The set grows by that, and from
/// `exact_until` on, nobody knows what of it is true.

#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet::detail {

/// Put a range behind others, joined with the last of them where it begins within it or at its end.
inline void push_range(std::vector<live_range>& to, live_range range)
{
    if (is_empty(range)) return;
    if (to.empty() || to.back().last < range.first) to.push_back(range);
    else if (to.back().last < range.last) to.back().last = range.last;
}

/// Put ranges behind others that begin no later.
///
/// Requires:   `ranges` ascend, and neither overlap nor touch each other.
void push_ranges(std::vector<live_range>& to, std::span<live_range const> ranges);

/// Rows of ranges that ascend and neither overlap nor touch, by owner; empty at first.
class range_sets {
public:
    /// Holds no more than `most` ranges and heads together, unless one range for each set is more.
    range_sets(std::size_t owners, std::uint64_t most);

    /// How many ranges, of eight bytes each, there is memory for.
    [[nodiscard]] std::size_t capacity() const { return storage_.size(); }
    [[nodiscard]] std::size_t owners() const { return head_.size(); }
    [[nodiscard]] std::span<live_range const> operator[](std::size_t owner) const
    {
        live_range const* const head = storage_.data() + head_[owner];
        return {head + 1, head + 1 + head->last};
    }
    /// Below it the owner's set is what it was said to be.
    [[nodiscard]] step_id exact_until(std::size_t owner) const
    {
        return exact_until_.empty() ? no_step : exact_until_[owner];
    }

    [[nodiscard]] bool is_coarsened() const { return !exact_until_.empty(); }

    void erase(std::size_t owner);
    /// Replaces the owner's set by one that is what it should be below `exact_until`.
    ///
    /// Requires:   `exact_until` is `no_step` as long as nothing has been forgotten.
    /// Complexity: O(its ranges), amortised; another O(owners + ranges) whenever sets become coarser.
    void assign(std::size_t owner, std::vector<live_range> const& ranges, step_id exact_until);

private:
    void compact(std::size_t widest);
    /// A quarter of the room, so that this happens seldom.
    void coarsen();

    std::vector<std::uint32_t> head_;  // by owner: the head; 0 if the set is empty
    std::vector<live_range> storage_;  // from 1 on; at 0 the head of all that are empty
    std::vector<step_id> exact_until_; // by owner; empty while all is known
    std::uint64_t most_;
    std::size_t used_ = 1;
    std::size_t gaps_ = 0;   // ranges and heads that nobody owns
    std::size_t widest_ = 1; // no set has more ranges
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/range_sets.ipp>
#endif

#endif
