// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_INTERNAL_KEEP_PLACES_HPP
#define SUBLET_PLACEMENT_INTERNAL_KEEP_PLACES_HPP

/// Moves buffers of a finished placement back to where they lay before, as replan() does it.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/internal/pack_options.hpp>

namespace sublet::detail {

/// What a pool may take: as much as it does, and a share of that.
[[nodiscard]] inline byte_count grown(byte_count height, double share)
{
    constexpr byte_count most = no_limit / 2;
    byte_count const left = most - smaller(height, most);
    double const more = static_cast<double>(height) * share;
    if (more >= static_cast<double>(left)) return most;
    return height + static_cast<byte_count>(more);
}

/// Requires:   `placed` is a placement of the problem, which has no clocks; `previous` has the old offset of
///             each buffer, or `no_offset`; share >= 0.
/// Ensures:    `placed` is one still, with the same bounds. No pool is higher than before and `share` of
///             that; a pool above its capacity may get below it. If each buffer can lie where it lay, and no
///             pool is higher then than it may be, each does. A pool of several blocks is left as it is.
/// Complexity: that of replan(); O(buffers log buffers) if nothing lies elsewhere.
void keep_places(placement_problem const& problem, table<buffer_id, byte_count> const& previous, double share,
                 pack_options const& options, placement& placed);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/keep_places.ipp>
#endif

#endif
