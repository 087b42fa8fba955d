// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_CONCURRENT_ORDERS_HPP
#define SUBLET_PLACEMENT_CONCURRENT_ORDERS_HPP

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

#include <sublet/keyed.hpp>
#include <sublet/placement/conflicts.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

enum class concurrent_order : std::uint8_t { octave, size, area, peak, last, begin };

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

[[nodiscard]] order_keys keys_of(std::vector<placement_buffer> const& buffers,
                                 placement_conflicts const& conflicts,
                                 std::vector<unsigned char> is_in_antichain);

/// The ids of sorted offers.
[[nodiscard]] std::vector<std::uint32_t> sorted_ids(std::vector<keyed> offers);

/// The buffers' indexes in the given order; of equals the lower index first.  O(n log n)
[[nodiscard]] std::vector<std::uint32_t> order_by(concurrent_order which, order_keys const& keys);

/// The buffers' indexes from the lowest level to the highest, in each by falling size.  O(n log n)
[[nodiscard]] std::vector<std::uint32_t> order_by_levels(std::vector<byte_count> const& level,
                                                         order_keys const& keys);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/concurrent_orders.ipp>
#endif

#endif
