// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_FIT_IPP
#define SUBLET_PLACEMENT_IMPL_FIT_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/fit.hpp>

namespace sublet {

SUBLET_DECL packing fit(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                        gap_choice choice, fit_limits limits, placed_pieces& placed)
{
    packing result;
    result.origin.assign(all.size(), no_offset);
    placed.clear();
    auto put = [&](std::uint32_t s, byte_count origin) {
        result.origin[s] = origin;
        result.height = larger(result.height, origin + all.shapes[s].size);
        placed.insert(all, s, origin);
    };
    for (std::uint32_t s : order)
        if (all.shapes[s].pinned != no_offset) put(s, all.shapes[s].pinned);
    for (std::uint32_t s : order) {
        placement_shape const& shape = all.shapes[s];
        if (shape.pinned != no_offset) continue;
        byte_count at = no_offset;
        if (shape.size <= limits.ceiling && placed.visits() <= limits.visits) {
            byte_count const highest = limits.ceiling - shape.size;
            at = placed.visits() >= limits.patience ? placed.origin_on_top(all, s, highest)
                                                    : placed.free_origin(all, s, 0, highest, choice);
        }
        if (at == no_offset) {
            result.height = no_limit;
            break;
        }
        if (shape.preferred != no_offset && shape.preferred != at) {
            byte_count const top = larger(larger(result.height, limits.expected), at + shape.size);
            if (shape.preferred <= top - shape.size &&
                placed.free_origin(all, s, shape.preferred, shape.preferred) != no_offset)
                at = shape.preferred;
        }
        put(s, at);
    }
    result.visits = placed.visits();
    if (result.height != no_limit && result.height > limits.ceiling) result.height = no_limit;
    return result;
}

} // namespace sublet

#endif
