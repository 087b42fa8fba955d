// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_FIT_UPWARDS_HPP
#define SUBLET_PLACEMENT_FIT_UPWARDS_HPP

/// Place shapes from the bottom up: next is always one that can lie as low as any.
///
///     offset |          +----+             a, b and c can lie at 0; most bytes are alive where b lives, so
///            |     +----+ e? |             b is first, then a and c; now d and e can lie on a at the
///            |-----+  b | c  |             lowest, and of these d lives at a time when more is to come
///            |  a  |    +----+--+
///            |-----+----+-------+--> position
///
/// A placement in which nothing can be lowered is such a sequence, so nothing is lost by looking for one. Of
/// those that can lie equally low that one is taken that lives where most bytes are still to be placed: there
/// the arena will be highest if anything is wasted.
///
/// It is what a branch and bound for this problem tries first (Moffitt, "MiniMalloc: a lightweight memory
/// allocator for hardware-accelerated machine learning", ASPLOS 2023), with the choice of the time in place
/// of a static order: that one only breaks ties.

#include <sublet/placement/bound.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// Place all shapes; of those that are alive at one time and can lie equally low, in the given order.
///
/// Requires:   `order` names each shape once; `bound` is that of the shapes; none is pinned. Preferred
/// origins
///             are not looked at.
/// Ensures:    as fit(); no origin is below that of one placed before. Given up if it ends above the ceiling.
/// Complexity: O(n * (n + positions)) time, n = shapes; O(n + positions) memory.
[[nodiscard]] packing fit_upwards(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                  placement_bound const& bound, byte_count ceiling = no_limit - 1);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/fit_upwards.ipp>
#endif

#endif
