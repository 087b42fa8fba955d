// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PARTS_IN_TIME_HPP
#define SUBLET_PLACEMENT_PARTS_IN_TIME_HPP

/// Shapes cut into parts where nobody lives on: each may be placed as if there were no others.
///
///     [====)   [===)     |  [=====)      |    [=)
///        [=======)       |     [======)  |  [=====)
///          [=====)       |               |  [===)
///           part 0          part 1          part 2
///
/// The arena is as high as the highest part. A batch of programs, or one whose steps are repeated, falls into
/// many, and each has a peak of its own to begin at.

#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// By part, the number of its first shape; and the number of shapes behind them.  O(n)
[[nodiscard]] inline std::vector<std::uint32_t> parts_in_time(placement_shapes const& all)
{
    std::vector<std::uint32_t> first;
    step_id end = 0;
    for (std::uint32_t s = 0; s != all.size(); ++s) {
        if (s == 0 || all.shapes[s].life.first >= end) first.push_back(s);
        end = larger(end, all.shapes[s].life.last);
    }
    first.push_back(static_cast<std::uint32_t>(all.size()));
    return first;
}

/// The shapes from `first` to before `last` as shapes of their own, without their buffers.
///
/// Requires:   first < last.
/// Ensures:    shape i is first + i of all; positions are only those from its first birth to its last death.
/// Complexity: O(shapes and positions of the part).
[[nodiscard]] inline placement_shapes part_of(placement_shapes const& all, std::uint32_t first,
                                              std::uint32_t last)
{
    placement_shapes part;
    step_id const begin = all.shapes[first].life.first;
    step_id end = begin;
    auto shifted = [begin](live_range r) { return live_range{r.first - begin, r.last - begin}; };
    part.shapes.reserve(last - first);
    part.first_piece.reserve(last - first + 1);
    for (std::uint32_t s = first; s != last; ++s) {
        end = larger(end, all.shapes[s].life.last);
        part.shapes.push_back(all.shapes[s]);
        part.shapes.back().life = shifted(all.shapes[s].life);
        for (shape_piece const& p : all.pieces_of(s))
            part.pieces.push_back({shifted(p.when), p.begin, p.end});
        part.first_piece.push_back(static_cast<std::uint32_t>(part.pieces.size()));
    }
    part.positions.assign(all.positions.begin() + begin, all.positions.begin() + end + 1);
    return part;
}

} // namespace sublet

#endif
