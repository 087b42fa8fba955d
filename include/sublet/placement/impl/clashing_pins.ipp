// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_CLASHING_PINS_IPP
#define SUBLET_PLACEMENT_IMPL_CLASHING_PINS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/placement/clashing_pins.hpp>

namespace sublet::detail {

SUBLET_DECL void skyline::paint(live_range when, roof const& fresh)
{
    for_each_node(when, [&](std::size_t node) { raise(over_[node], fresh), raise(within_[node], fresh); });
    for_each_above(when, [&](std::size_t node) { raise(within_[node], fresh); });
}

SUBLET_DECL skyline::roof skyline::highest(live_range when) const
{
    roof most;
    for_each_node(when, [&](std::size_t node) { raise(most, within_[node]); });
    for_each_above(when, [&](std::size_t node) { raise(most, over_[node]); });
    return most;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL clashing_pair clashing_pins(placement_shapes const& all)
{
    std::vector<keyed> from_below; // {begin, , piece}
    std::vector<std::uint32_t> shape_of;
    for (std::uint32_t s = 0; s != all.size(); ++s)
        if (all.shapes[s].pinned != no_offset)
            for (std::uint32_t p = all.first_piece[s]; p != all.first_piece[s + 1]; ++p) {
                from_below.push_back({all.shapes[s].pinned + all.pieces[p].begin, p,
                                      static_cast<std::uint32_t>(shape_of.size())});
                shape_of.push_back(s);
            }
    if (from_below.empty()) return {};
    sort_keyed(from_below);
    detail::skyline sky(all.positions.size());
    for (keyed const& k : from_below) {
        std::uint32_t const s = shape_of[k.who];
        shape_piece const& piece = all.pieces[static_cast<std::size_t>(k.tie)];
        if (auto const roof = sky.highest(piece.when); roof.top > k.key)
            return {true, smaller(roof.who, s), larger(roof.who, s)};
        sky.paint(piece.when, {all.shapes[s].pinned + piece.end, s});
    }
    return {};
}

} // namespace sublet

#endif
