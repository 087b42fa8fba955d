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

#include <concepts>
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
[[nodiscard]] inline scaled_shapes scale_down(placement_shapes const& all)
{
    scaled_shapes result{all};
    auto& [shapes, unit, enough] = result;
    byte_count common = 0;
    for (placement_shape const& s : shapes.shapes)
        common = detail::common_divisor(detail::common_divisor(common, s.alignment), s.phase);
    for (shape_piece const& p : shapes.pieces) common = detail::common_divisor(common, p.begin);
    unit = 0;
    for (shape_piece& p : shapes.pieces) {
        p.end = align_up(p.end, common);
        unit = detail::common_divisor(detail::common_divisor(unit, p.begin), p.end);
    }
    for (placement_shape const& s : shapes.shapes) {
        unit = detail::common_divisor(unit, s.phase);
        if (s.pinned != no_offset) unit = detail::common_divisor(unit, s.pinned);
    }
    // An alignment that divides the unit asks for nothing; any other one is made a multiple of it.
    for (bool changes = true; std::exchange(changes, false);)
        for (placement_shape const& s : shapes.shapes) {
            if (unit % s.alignment == 0 || s.alignment % unit == 0) continue;
            unit = detail::common_divisor(unit, s.alignment);
            changes = true;
        }
    for (shape_piece& p : shapes.pieces) {
        p.begin /= unit;
        p.end /= unit;
    }
    byte_count highest_pin = 0;
    for (placement_shape& s : shapes.shapes) {
        s.alignment = unit % s.alignment == 0 ? 1 : s.alignment / unit;
        s.phase /= unit;
        if (s.pinned != no_offset) highest_pin = larger(highest_pin, s.pinned /= unit);
        byte_count const most = checked_add(s.size / unit + 1, s.alignment);
        enough = checked_add(enough, most);
    }
    enough = checked_add(enough, highest_pin);
    if (unit == 0) unit = 1;
    return result;
}

} // namespace sublet

#endif
