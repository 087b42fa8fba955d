// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPROVE_HPP
#define SUBLET_PLACEMENT_IMPROVE_HPP

/// Lower a packing that orders have left above the bound.
///
///     height  |_____________                 ceilings half way between what was reached and what failed; a
///             |_ _ _ _ _ _ _ _ __________    lap ends where they nearly meet. Then the next packing to begin
///             |      ________ _ _ _          from has its lap, and when all had theirs, the first again,
///     bound   |__________________________    with more steps
///
/// For tens of thousands of shapes, for which exact search is out of reach, and quickly for a few hundred.
/// There is no guaranteed factor. What packs the peak well, where all bytes of the bound are alive, is a good
/// packing to begin with even if it is high elsewhere: what is too high there has somewhere to go.

#include <sublet/placement/bound.hpp>
#include <sublet/placement/driver.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/shapes.hpp>

#include <cstdint>

namespace sublet {

struct improve_options {
    std::uint64_t visits = 20'000'000; ///< looks at pieces in the way
    std::uint64_t seed = 0;
};

/// `best`, or what is lower, until the height is `bound.bytes` or the limits are reached. `tried` counts the
/// packings that it makes to begin with.
///
/// Requires:   `best` is a packing of all shapes; the bound's `bytes` may be any height that is low enough.
/// Ensures:    the result is a packing of all shapes, no higher than `best`, with all pins. Same arguments,
///             same packing, as long as the driver does not stop it.
[[nodiscard]] packing improve(placement_shapes const& all, placement_bound const& bound, packing best,
                              improve_options options, search_driver& driver, std::uint32_t& tried);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/improve.ipp>
#endif

#endif
