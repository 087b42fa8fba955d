// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_SECTIONS_IPP
#define SUBLET_PLACEMENT_IMPL_SECTIONS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/sections.hpp>

#include <numeric>

namespace sublet::detail {

SUBLET_DECL scaled_shapes scale_down(placement_shapes const& all)
{
    scaled_shapes result{all};
    auto& [shapes, unit, enough] = result;
    byte_count common = 0;
    for (placement_shape const& s : shapes.shapes) common = std::gcd(std::gcd(common, s.alignment), s.phase);
    for (shape_piece const& p : shapes.pieces) common = std::gcd(common, p.begin);
    unit = 0;
    for (shape_piece& p : shapes.pieces) {
        p.end = align_up(p.end, common);
        unit = std::gcd(std::gcd(unit, p.begin), p.end);
    }
    for (placement_shape const& s : shapes.shapes) {
        unit = std::gcd(unit, s.phase);
        if (s.pinned != no_offset) unit = std::gcd(unit, s.pinned);
    }
    // An alignment that divides the unit asks for nothing; any other one is made a multiple of it.
    for (bool changes = true; std::exchange(changes, false);)
        for (placement_shape const& s : shapes.shapes) {
            if (unit % s.alignment == 0 || s.alignment % unit == 0) continue;
            unit = std::gcd(unit, s.alignment);
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

} // namespace sublet::detail

#endif
