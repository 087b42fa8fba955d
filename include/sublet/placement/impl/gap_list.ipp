// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_GAP_LIST_IPP
#define SUBLET_PLACEMENT_IMPL_GAP_LIST_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/gap_list.hpp>

namespace sublet::detail {

SUBLET_DECL void sorted_gaps::insert(gap const& g)
{
    if (first_.empty()) {
        first_.push_back(g);
        number_.push_back(0);
        blocks_.push_back({1, {g}});
        return;
    }
    std::size_t which = block_of(g);
    if (blocks_[number_[which]].size == most) {
        split(which);
        which = block_of(g);
    }
    block& b = blocks_[number_[which]];
    std::size_t at = b.size++;
    for (; at != 0 && g < b.items[at - 1]; --at) b.items[at] = b.items[at - 1];
    b.items[at] = g;
    first_[which] = b.items[0];
}

SUBLET_DECL void sorted_gaps::erase(gap const& g)
{
    std::size_t const which = block_of(g);
    block& b = blocks_[number_[which]];
    std::size_t at = b.first_from(g);
    for (--b.size; at != b.size; ++at) b.items[at] = b.items[at + 1];
    if (b.size != 0) first_[which] = b.items[0];
    else if (first_.size() != 1) drop(which);
}

SUBLET_DECL sorted_gaps::cursor sorted_gaps::with_room(byte_count room) const
{
    if (first_.empty()) return {};
    gap const least{room, 0, 0};
    std::size_t const which = block_of(least);
    block const& b = blocks_[number_[which]];
    std::size_t const at = b.first_from(least);
    return at == b.size ? cursor{which + 1, 0} : cursor{which, at};
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL gap_list::gap_list(std::size_t shapes)
    : border_(static_cast<std::uint32_t>(shapes)), begin_(shapes + 1, no_limit - 1), end_(shapes + 1, 0),
      below_(shapes + 1, border_), above_(below_)
{
    offer(border_);
}

SUBLET_DECL byte_count gap_list::take(std::uint32_t who, placement_shape const& shape, byte_count ceiling)
{
    if (shape.size > ceiling) return no_offset;
    int misfits = 0;
    for (auto found = gaps_.with_room(shape.size); !gaps_.is_past(found);) {
        detail::sorted_gaps::gap const g = gaps_[found];
        byte_count const at = align_up(g.begin, shape), end = begin_[above_[g.below]];
        if (at < end && shape.size <= end - at) {
            if (at > ceiling - shape.size) return no_offset;
            gaps_.erase(g);
            put(who, at, shape.size, g.below);
            offer(g.below);
            offer(who);
            return at;
        }
        // After many that only alignment makes too small: with so much room it fits wherever a gap
        // begins.
        bool const had_enough = ++misfits == 64 && sum_fits(shape.size, shape.alignment);
        found = had_enough ? gaps_.with_room(shape.size + shape.alignment) : gaps_.next(found);
    }
    return no_offset;
}

SUBLET_DECL void gap_list::stack(std::uint32_t who, byte_count origin, byte_count size)
{
    std::uint32_t const under = below_[border_];
    withdraw(under);
    put(who, origin, size, under);
    offer(under);
    offer(who);
}

SUBLET_DECL void gap_list::give_back(std::uint32_t who)
{
    std::uint32_t const under = below_[who], over = above_[who];
    withdraw(under);
    withdraw(who);
    above_[under] = over;
    below_[over] = under;
    offer(under);
}

} // namespace sublet

#endif
