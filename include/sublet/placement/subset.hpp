// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_SUBSET_HPP
#define SUBLET_PLACEMENT_SUBSET_HPP

/// Some of the shapes of a pool, as a problem of their own.
///
///     shapes      0  1  2  3  4        positions stay as they are, with the same ranks: what was read off
///     chosen         1     3  4        the whole at a position can be compared with what is read off the
///     subset         0     1  2        part

#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// Requires:   `chosen` ascends.
/// Ensures:    shape i of the result is `chosen[i]`, with its parts.
/// Complexity: O(all shapes and their parts + positions).
[[nodiscard]] inline placement_shapes subset_of(placement_shapes const& all,
                                                std::vector<std::uint32_t> const& chosen)
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
