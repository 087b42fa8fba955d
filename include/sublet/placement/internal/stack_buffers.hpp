// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_INTERNAL_STACK_BUFFERS_HPP
#define SUBLET_PLACEMENT_INTERNAL_STACK_BUFFERS_HPP

/// Makes a stacking of buffers that are given from the lowest to the highest, by a sweep over positions.
///
///     order from below: a b c d       position   0   1   2   3      pairs
///     live:  a          [=======)                a                  a below c: c begins between a and d
///            d          [===========)            d   c              c below d
///            c              [===)                                   a below d: neighbours at position 0
///
/// At each position the live buffers of a pool form a chain. Where a buffer begins, it is placed between its
/// neighbours in the order; where one ends, the others are a chain already. So 2 pairs a range suffice.

#include <sublet/core/stacking.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Buffers without sizes.
struct unsized_buffers {
    table<buffer_id, stacking::layer> layers = {}; ///< pool, alignment, pin, and what each is written over
    std::vector<std::uint32_t> first_range = {0};  ///< by buffer, and one more: the index of its first range
    std::vector<live_range> ranges = {};           ///< the ranges of one buffer do not overlap
    std::uint32_t pools = 0;                       ///< pools are below

    /// The ranges of the next buffer are all there.
    void end_buffer() { first_range.push_back(static_cast<std::uint32_t>(ranges.size())); }
};

/// Puts buffers on top of each other in many orders.
class buffer_stacker {
public:
    /// `some` are the buffers that are stacked.
    buffer_stacker(unsized_buffers const& all, std::vector<buffer_id> const& some);

    /// The stacking of the buffers, from the lowest to the highest.
    ///
    /// Requires:   `order` names each of the buffers once; one that is written over another follows it.
    /// Ensures:    of two buffers of a pool that are live together the first in the order is below the
    ///             second, directly or by others.
    /// Complexity: O(r log r + r k), r = ranges, k = buffers that are live at one position, with a small
    ///             factor of k (numbers are moved).
    void stack(std::vector<buffer_id> const& order, stacking& result);

private:
    struct event {
        std::uint32_t position;
        bool begins;
        buffer_id buffer;
    };
    unsized_buffers const& all_;
    std::vector<event> events_; // ends before begins
    table<buffer_id, std::uint32_t> rank_;
    std::vector<std::vector<std::uint32_t>> live_; // by pool: ranks, ascending
    std::vector<std::uint64_t> pairs_;             // of ranks: above, below
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/stack_buffers.ipp>
#endif

#endif
