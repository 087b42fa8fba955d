// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_STRUCTURES_INTERNAL_RANGE_SETS_HPP
#define SUBLET_STRUCTURES_INTERNAL_RANGE_SETS_HPP

/// Many sets of positions, each stored as a few ranges, in a bounded amount of memory.
///
///     owner  ranges                       in one array: a head {owner, count}, then the ranges
///       4    [1, 3) [7, 9)                {4, 2} [1, 3) [7, 9)   {6, 1} [2, 8)   ...
///       6    [2, 8)
///
/// A new set is appended to the array. An erased set leaves a gap, and when gaps make up half, the array is
/// compacted in one pass.
///
/// If memory still does not suffice, sets are coarsened: all keep their exact ranges only below a common
/// position, and merge the ranges behind into one. They become supersets, exact below `exact_until`.

#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet::detail {

/// Appends a range, merged with the last one if it begins within it or at its end.
inline void push_range(std::vector<live_range>& to, live_range range)
{
    if (is_empty(range)) return;
    if (to.empty() || to.back().last < range.first) to.push_back(range);
    else if (to.back().last < range.last) to.back().last = range.last;
}

/// Appends ranges that begin no earlier than those in `to`.
/// Requires:   `ranges` ascend, and neither overlap nor touch each other.
void push_ranges(std::vector<live_range>& to, std::span<live_range const> ranges);

/// By owner, ranges that ascend and neither overlap nor touch; initially empty.
class range_sets {
public:
    /// Holds no more than `most` ranges and heads together, unless one range per set already exceeds that.
    range_sets(std::size_t owners, std::uint64_t most);

    /// The number of ranges, of eight bytes each, that the array can hold.
    [[nodiscard]] std::size_t capacity() const { return storage_.size(); }
    [[nodiscard]] std::size_t owners() const { return head_.size(); }
    [[nodiscard]] std::span<live_range const> operator[](std::size_t owner) const
    {
        live_range const* const head = storage_.data() + head_[owner];
        return {head + 1, head + 1 + head->last};
    }
    /// Below it the owner's set is exact.
    [[nodiscard]] position_id exact_until(std::size_t owner) const
    {
        return exact_until_.empty() ? no_position : exact_until_[owner];
    }

    [[nodiscard]] bool is_coarsened() const { return !exact_until_.empty(); }

    void erase(std::size_t owner);
    /// Replaces the owner's set, which is exact below `exact_until`: `no_position` unless sets have been
    /// coarsened.
    /// Complexity: O(its ranges), amortised; another O(owners + ranges) whenever sets are coarsened.
    void assign(std::size_t owner, std::vector<live_range> const& ranges, position_id exact_until);

private:
    void compact(std::size_t widest);
    /// Frees a quarter of the budget, so that this happens rarely.
    void coarsen();

    std::vector<std::uint32_t> head_;      // by owner: the head; 0 if the set is empty
    std::vector<live_range> storage_;      // from 1 on; at 0 the head of all empty sets
    std::vector<position_id> exact_until_; // by owner; empty while all are exact
    std::uint64_t most_;
    std::size_t used_ = 1;
    std::size_t gaps_ = 0;   // unused ranges and heads
    std::size_t widest_ = 1; // the most ranges of a set
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/structures/impl/range_sets.ipp>
#endif

#endif
