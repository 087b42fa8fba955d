// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_SCALED_SHAPES_HPP
#define SUBLET_PLACEMENT_SCALED_SHAPES_HPP

/// Shapes in units instead of bytes, so that a search counts with small numbers.
///
///     sizes 48, 80, 4096        unit 16: 3, 5, 256
///     all aligned to 64         unit 64: 1, 2, 64      what is left over behind an end is of use to nobody
///
/// In a stacking each origin is 0, a pin, a phase, or the least that some others allow: a sum of distances,
/// rounded up to alignments. So it is a multiple of whatever divides them all.

#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <utility>

namespace sublet {

/// Shapes with ends rounded up and distances divided by `unit`; sizes are as they were, in bytes.
struct scaled_shapes {
    placement_shapes shapes;
    byte_count unit = 1;
    byte_count enough = 0; ///< in units: whatever order shapes are stacked in, they end below it or never fit
};

namespace detail {

[[nodiscard]] constexpr byte_count common_divisor(byte_count a, byte_count b) noexcept
{
    while (b != 0) a = std::exchange(b, a % b);
    return a;
}

} // namespace detail

/// Complexity: O(pieces), a few times.
[[nodiscard]] scaled_shapes scale_down(placement_shapes const& all);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/scaled_shapes.ipp>
#endif

#endif
