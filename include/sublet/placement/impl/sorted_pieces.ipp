// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_SORTED_PIECES_IPP
#define SUBLET_PLACEMENT_IMPL_SORTED_PIECES_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/sorted_pieces.hpp>
#include <sublet/sorting.hpp>

namespace sublet {

SUBLET_DECL void sorted_pieces::insert(lying_piece const& piece)
{
    std::size_t const which = block_of(piece);
    std::vector<lying_piece>& items = blocks_[which].items;
    items.push_back(piece);
    std::size_t at = items.size() - 1;
    for (; at != 0 && piece < items[at - 1]; --at) items[at] = items[at - 1];
    items[at] = piece;
    blocks_[which].lives = hull(blocks_[which].lives, piece.when);
    if (items.size() == most) split(which, at + 1 == most ? most - 1 : most / 2);
}

SUBLET_DECL void sorted_pieces::erase(lying_piece const& piece)
{
    std::vector<lying_piece>& items = blocks_[block_of(piece)].items;
    std::size_t at = first_that(items.size(), [&](std::size_t i) { return !(items[i] < piece); });
    for (; at + 1 != items.size(); ++at) items[at] = items[at + 1];
    items.pop_back();
}

SUBLET_DECL std::uint64_t sorted_pieces::list(live_range when, std::vector<lying_piece>& found) const
{
    std::uint64_t visits = blocks_.size();
    for (block const& b : blocks_) {
        if (b.lives.first >= when.last || when.first >= b.lives.last) continue;
        visits += b.items.size();
        for (lying_piece const& p : b.items)
            if (p.when.first < when.last && when.first < p.when.last) found.push_back(p);
    }
    return visits;
}

SUBLET_DECL std::size_t sorted_pieces::block_of(lying_piece const& piece) const
{
    return first_that(blocks_.size() - 1, [&](std::size_t i) { return piece < blocks_[i + 1].lowest; });
}

} // namespace sublet

#endif
