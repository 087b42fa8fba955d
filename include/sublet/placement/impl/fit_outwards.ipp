// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_FIT_OUTWARDS_IPP
#define SUBLET_PLACEMENT_IMPL_FIT_OUTWARDS_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/fit_outwards.hpp>
#include <sublet/placement/gap_list.hpp>
#include <sublet/placement/orders.hpp>

#include <cstddef>

namespace sublet {

SUBLET_DECL packing fit_outwards(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                 placement_bound const& bound, byte_count ceiling)
{
    std::size_t const n = all.size();
    packing result;
    result.origin.assign(n, no_offset);
    result.visits = 8 * n;
    auto give_up = [&] {
        result.height = no_limit;
        return result;
    };
    std::vector<std::uint32_t> stack, coming, going;
    for (std::uint32_t s : order) {
        placement_shape const& shape = all.shapes[s];
        SUBLET_EXPECTS(shape.pinned == no_offset, "sublet: a pinned shape is not placed outwards");
        if (!contains(shape.life, bound.peak_position)) continue;
        byte_count const at = align_up(result.height, shape);
        if (shape.size > ceiling || at > ceiling - shape.size) return give_up();
        result.origin[s] = at;
        result.height = at + shape.size;
        stack.push_back(s);
    }
    std::vector<byte_count> key(n);
    for (bool forwards : {true, false}) {
        // Backwards time is counted from the end, so that lives begin where they end.
        auto const positions = static_cast<step_id>(all.positions.size());
        step_id const peak = forwards ? bound.peak_position : positions - 1 - bound.peak_position;
        auto life = [&](std::uint32_t s) {
            live_range const l = all.shapes[s].life;
            return forwards ? l : live_range{positions - l.last, positions - l.first};
        };
        gap_list gaps(n);
        for (std::uint32_t s : stack) gaps.stack(s, result.origin[s], all.shapes[s].size);
        coming.clear();
        for (std::uint32_t s = 0; s != n; ++s) {
            if (life(s).first > peak) coming.push_back(s);
            key[s] = all.shapes[s].size;
        }
        going = stack;
        for (std::uint32_t s : coming) going.push_back(s);
        detail::sort_by_falling(coming, key);
        for (std::uint32_t s = 0; s != n; ++s) key[s] = ~byte_count{life(s).first};
        detail::sort_by_falling(coming, key);
        for (std::uint32_t s = 0; s != n; ++s) key[s] = ~byte_count{life(s).last};
        detail::sort_by_falling(going, key);
        std::size_t gone = 0;
        for (std::uint32_t s : coming) {
            for (; life(going[gone]).last <= life(s).first; ++gone) gaps.give_back(going[gone]);
            byte_count const at = gaps.take(s, all.shapes[s], ceiling);
            if (at == no_offset) return give_up();
            result.origin[s] = at;
            result.height = larger(result.height, at + all.shapes[s].size);
        }
    }
    return result;
}

} // namespace sublet

#endif
