// SPDX-License-Identifier: BSL-1.0

/// Gaps by size lie in blocks of up to 48 that split when they are full. Shapes that are live at the peak
/// are stacked in the given order; then begins and ends are visited by position, forwards and backwards.

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/fit_from_peak.hpp>

// --- gap list --------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::size_t sorted_gaps::block_of(gap const& g) const
{
    std::size_t const behind = partition_point(first_.size(), [&](std::size_t i) { return g < first_[i]; });
    return behind == 0 ? 0 : behind - 1;
}

SUBLET_DECL void sorted_gaps::split(std::size_t which)
{
    block upper;
    block& lower = blocks_[number_[which]];
    for (std::size_t i = most / 2; i != most; ++i) upper.items[upper.size++] = lower.items[i];
    lower.size = most / 2;
    std::uint32_t number = static_cast<std::uint32_t>(blocks_.size());
    if (unused_.empty()) {
        blocks_.push_back(upper);
    } else {
        number = unused_.back();
        unused_.pop_back();
        blocks_[number] = upper;
    }
    first_.push_back(upper.items[0]);
    number_.push_back(number);
    for (std::size_t i = first_.size() - 1; i != which + 1; --i) {
        first_[i] = first_[i - 1];
        number_[i] = number_[i - 1];
    }
    first_[which + 1] = upper.items[0];
    number_[which + 1] = number;
}

SUBLET_DECL void sorted_gaps::erase_block(std::size_t which)
{
    unused_.push_back(number_[which]);
    for (std::size_t i = which + 1; i != first_.size(); ++i) {
        first_[i - 1] = first_[i];
        number_[i - 1] = number_[i];
    }
    first_.pop_back();
    number_.pop_back();
}

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
    else if (first_.size() != 1) erase_block(which);
}

SUBLET_DECL sorted_gaps::cursor sorted_gaps::first_with_room(byte_count room) const
{
    if (first_.empty()) return {};
    gap const least{room, 0, 0};
    std::size_t const which = block_of(least);
    block const& b = blocks_[number_[which]];
    std::size_t const at = b.first_from(least);
    return at == b.size ? cursor{which + 1, 0} : cursor{which, at};
}

SUBLET_DECL gap_list::gap_list(std::size_t shapes, byte_count roof)
    : sentinel_(static_cast<std::uint32_t>(shapes)), begin_(shapes + 1, roof), end_(shapes + 1, 0),
      below_(shapes + 1, sentinel_), above_(below_)
{
    insert_gap(sentinel_);
}

SUBLET_DECL void gap_list::stack(std::uint32_t id, byte_count origin, byte_count size)
{
    std::uint32_t const under = below_[sentinel_];
    erase_gap(under);
    put(id, origin, size, under);
    insert_gap(under);
    insert_gap(id);
}

SUBLET_DECL void gap_list::deallocate(std::uint32_t id)
{
    std::uint32_t const under = below_[id], over = above_[id];
    erase_gap(under);
    erase_gap(id);
    above_[under] = over;
    below_[over] = under;
    insert_gap(under);
}

// --- fit from peak ---------------------------------------------------------------------------------------

// NOLINTNEXTLINE(misc-no-recursion): once, without a stop
SUBLET_DECL packing fit_from_peak(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                  placement_bound const& bound, byte_count ceiling, fit_stop stop,
                                  bool has_roof)
{
    std::size_t const n = all.size();
    packing result;
    result.origin.assign(n, no_offset);
    result.visits = 8 * n;
    auto give_up = [&] {
        result.height = no_limit;
        return result;
    };
    std::vector<std::uint32_t> stack, by_start, by_end;
    for (std::uint32_t s : order) {
        placement_shape const& shape = all.shapes[s];
        SUBLET_EXPECTS(shape.pinned == no_offset, "sublet: a pinned shape cannot be placed from the peak");
        if (!contains(shape.life, bound.peak_position)) continue;
        byte_count const at = align_up(result.height, shape);
        if (shape.size > ceiling || at > ceiling - shape.size) return give_up();
        result.origin[s] = at;
        result.height = at + shape.size;
        stack.push_back(s);
    }
    std::vector<byte_count> key(n);
    step_poll const poll = stop.poll();
    for (bool forwards : {true, false}) {
        if (n >= 512 && stop() && stop.finish(all, result)) return result;
        // Backwards, positions are counted from the end, so that live ranges begin where they end.
        auto const positions = static_cast<std::uint32_t>(all.positions.size());
        position_id const peak = forwards ? +bound.peak_position : positions - 1 - bound.peak_position;
        auto life = [&](std::uint32_t s) {
            live_range const l = all.shapes[s].life;
            return forwards ? l : live_range{positions - l.last, positions - l.first};
        };
        gap_list gaps(n, has_roof ? ceiling : no_limit - 1);
        auto end_of = [&](std::uint32_t s) { return s == n ? no_position : life(s).last; };
        for (std::uint32_t s : stack) gaps.stack(s, result.origin[s], all.shapes[s].size);
        by_start.clear();
        for (std::uint32_t s = 0; s != n && !poll.stops(4); ++s) {
            if (life(s).first > peak) by_start.push_back(s);
            key[s] = all.shapes[s].size;
        }
        by_end = stack;
        for (std::uint32_t s : by_start) by_end.push_back(s);
        sort_descending(by_start, key, poll);
        for (std::uint32_t s = 0; s != n && !poll.stops(2); ++s) key[s] = ~byte_count{life(s).first};
        sort_descending(by_start, key, poll);
        for (std::uint32_t s = 0; s != n && !poll.stops(2); ++s) key[s] = ~byte_count{life(s).last};
        sort_descending(by_end, key, poll);
        if (poll.has_stopped()) {
            if (stop.finish(all, result)) return result;
            return fit_from_peak(all, order, bound, ceiling, {},
                                 has_roof); // 64 bits do not suffice for a stack
        }
        std::size_t freed = 0;
        std::uint32_t until_poll = 512;
        for (std::uint32_t s : by_start) {
            if (--until_poll == 0) {
                until_poll = 512;
                if (stop() && stop.finish(all, result)) return result;
            }
            for (; life(by_end[freed]).last <= life(s).first; ++freed) gaps.deallocate(by_end[freed]);
            byte_count const at =
                gaps.allocate(s, all.shapes[s], ceiling, [&](std::uint32_t below, std::uint32_t above) {
                    return has_roof && end_of(below) < end_of(s) && end_of(below) < end_of(above);
                });
            if (at == no_offset) return give_up();
            result.origin[s] = at;
            result.height = larger(result.height, at + all.shapes[s].size);
        }
    }
    return result;
}

} // namespace sublet::detail
