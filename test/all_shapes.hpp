// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_ALL_SHAPES_HPP
#define SUBLET_TEST_ALL_SHAPES_HPP

/// All shapes of a placement problem, and whether given origins place them, pair by pair and piece by piece.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

/// All buffers of a problem, in its first pool or in one without limits.
inline sublet::detail::placement_shapes shapes_of_all(sublet::placement_problem const& problem)
{
    std::vector<sublet::buffer_id> members(problem.buffers.size());
    std::iota(members.begin(), members.end(), 0u);
    return sublet::detail::shapes_of(problem, members,
                                     problem.pools.empty() ? sublet::pool_limits{} : problem.pools[0]);
}

/// Whether two shapes at these origins share a byte at a position.
inline bool share_a_byte(sublet::detail::placement_shapes const& all, std::uint32_t s, sublet::byte_count at,
                         std::uint32_t t, sublet::byte_count there)
{
    for (sublet::detail::shape_piece const& own : all.pieces_of(s))
        for (sublet::detail::shape_piece const& other : all.pieces_of(t))
            if (overlaps(own.when, other.when) && at + own.begin < there + other.end &&
                there + other.begin < at + own.end)
                return true;
    return false;
}

/// No two shapes share a byte at a position, pins and alignments are respected, nothing ends above `height`.
inline bool is_placed(sublet::detail::placement_shapes const& all,
                      std::vector<sublet::byte_count> const& origin, sublet::byte_count height)
{
    if (origin.size() != all.size()) return false;
    for (std::uint32_t s = 0; s != all.size(); ++s) {
        sublet::detail::placement_shape const& shape = all.shapes[s];
        if (origin[s] > height || shape.size > height - origin[s]) return false;
        if (origin[s] % shape.alignment != shape.phase % shape.alignment) return false;
        if (shape.pinned != sublet::no_offset && shape.pinned != origin[s]) return false;
        for (std::uint32_t t = 0; t != s; ++t)
            if (share_a_byte(all, s, origin[s], t, origin[t])) return false;
    }
    return true;
}

/// Where the highest shape ends.
inline sublet::byte_count height_of(sublet::detail::placement_shapes const& all,
                                    std::vector<sublet::byte_count> const& origin)
{
    sublet::byte_count height = 0;
    for (std::size_t s = 0; s != all.size(); ++s) height = std::max(height, origin[s] + all.shapes[s].size);
    return height;
}

/// Whether `packed`, a packing or the like, places all shapes and is as high as it says.
template <class Packing>
bool is_sound(sublet::detail::placement_shapes const& all, Packing const& packed)
{
    return is_placed(all, packed.origin, packed.height) && height_of(all, packed.origin) == packed.height;
}

#endif
