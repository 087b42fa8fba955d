// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_PARTS_IN_TIME_IPP
#define SUBLET_PLACEMENT_IMPL_PARTS_IN_TIME_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/parts_in_time.hpp>
#include <sublet/units.hpp>

namespace sublet {

SUBLET_DECL std::vector<std::uint32_t> parts_in_time(placement_shapes const& all)
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

SUBLET_DECL placement_shapes part_of(placement_shapes const& all, std::uint32_t first, std::uint32_t last)
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
