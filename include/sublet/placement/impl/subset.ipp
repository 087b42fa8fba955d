// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_SUBSET_IPP
#define SUBLET_PLACEMENT_IMPL_SUBSET_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/subset.hpp>
#include <sublet/units.hpp>

namespace sublet {

SUBLET_DECL placement_shapes subset_of(placement_shapes const& all, std::vector<std::uint32_t> const& chosen)
{
    placement_shapes some;
    some.positions = all.positions;
    std::vector<std::uint32_t> number(all.size(), no_buffer);
    for (std::uint32_t s : chosen) {
        number[s] = static_cast<std::uint32_t>(some.size());
        some.shapes.push_back(all.shapes[s]);
        for (shape_piece const& piece : all.pieces_of(s)) some.pieces.push_back(piece);
        some.first_piece.push_back(static_cast<std::uint32_t>(some.pieces.size()));
    }
    for (shape_part const& part : all.parts)
        if (number[part.shape] != no_buffer)
            some.parts.push_back({number[part.shape], part.buffer, part.distance});
    return some;
}

} // namespace sublet

#endif
