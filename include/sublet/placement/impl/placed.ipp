// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_PLACED_IPP
#define SUBLET_PLACEMENT_IMPL_PLACED_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/placed.hpp>

namespace sublet {

SUBLET_DECL placed_pieces::placed_pieces(placement_shapes const& all)
{
    std::vector<std::uint32_t> events(all.positions.size(), 0); // births and deaths
    for (shape_piece const& p : all.pieces) {
        ++events[p.when.first];
        ++events[p.when.last];
    }
    bucket_of_.reserve(events.size());
    std::uint32_t in_bucket = 0;
    for (std::uint32_t n : events) {
        bool const is_full = is_wide_.empty() || in_bucket + n > events_of_a_bucket;
        if (is_full) is_wide_.push_back(0);
        else is_wide_.back() = 1;
        in_bucket = is_full ? n : in_bucket + n;
        bucket_of_.push_back(static_cast<std::uint32_t>(is_wide_.size() - 1));
    }
    leaves_ = is_wide_.size();
    clear();
}

SUBLET_DECL void placed_pieces::clear()
{
    visits_ = 0;
    born_.assign(2 * leaves_, {});
    living_ = born_;
    near_.resize(leaves_);
    for (std::vector<shape_piece>& items : near_) items.clear();
    stretches_.clear();
}

SUBLET_DECL void placed_pieces::insert(placement_shapes const& all, std::uint32_t shape, byte_count origin)
{
    for (shape_piece const& p : all.pieces_of(shape))
        insert(shape_piece{p.when, origin + p.begin, origin + p.end});
}

SUBLET_DECL byte_count placed_pieces::free_origin(placement_shapes const& all, std::uint32_t shape,
                                                  byte_count from, byte_count highest, gap_choice choice)
{
    gather(all, shape);
    byte_count best = no_offset, least_room = no_offset;
    byte_count at = lift(all.shapes[shape], align_up(from, all.shapes[shape]), highest);
    if (choice == gap_choice::lowest) return at;
    while (at != no_offset) {
        byte_count const end = lowest_above(); // as far as the origin may rise
        if (best == no_offset || (end != no_offset && end - at < least_room)) {
            best = at;
            least_room = end == no_offset ? no_offset : end - at;
        }
        if (end == no_offset || least_room == 0) break;
        at = lift(all.shapes[shape], align_up(end + 1, all.shapes[shape]), highest);
    }
    return best;
}

SUBLET_DECL byte_count placed_pieces::origin_on_top(placement_shapes const& all, std::uint32_t shape,
                                                    byte_count highest)
{
    gather(all, shape);
    byte_count top = 0;
    auto rise = [&](byte_count end, shape_piece const& mine) {
        if (end > mine.begin) top = larger(top, end - mine.begin);
    };
    for (near_cursor const& c : nearby_)
        for (shape_piece const* p = c.at; p != c.stop; ++p)
            if (meet(p->when, c.mine.when)) rise(p->end, c.mine);
    for (union_cursor const& c : unions_) {
        std::uint32_t at = c.recent;
        for (; stretches_[at].above != none; ++visits_) at = stretches_[at].above;
        rise(stretches_[at].end, c.mine);
    }
    top = align_up(top, all.shapes[shape]);
    return top <= highest ? top : no_offset;
}

SUBLET_DECL byte_count placed_pieces::lift(placement_shape const& shape, byte_count at, byte_count highest)
{
    for (byte_count before = no_offset; at != before;) {
        if (at > highest) return no_offset;
        before = at;
        for (near_cursor& c : nearby_)
            for (; c.at != c.stop && c.at->begin < at + c.mine.end; ++c.at, ++visits_)
                if (c.at->end > at + c.mine.begin && meet(c.at->when, c.mine.when)) {
                    at = align_up(c.at->end - c.mine.begin, shape);
                    if (at > highest) return no_offset;
                }
        for (union_cursor& c : unions_)
            for (; c.next.begin < at + c.mine.end; ++visits_) {
                if (c.next.end > at + c.mine.begin) {
                    at = align_up(c.next.end - c.mine.begin, shape);
                    if (at > highest) return no_offset;
                }
                if (c.next.above == none) c.next.begin = no_offset;
                else c.next = stretches_[c.next.above];
            }
    }
    return at;
}

SUBLET_DECL byte_count placed_pieces::lowest_above()
{
    byte_count end = no_offset;
    for (near_cursor& c : nearby_) {
        while (c.at != c.stop && !meet(c.at->when, c.mine.when)) ++c.at, ++visits_;
        if (c.at != c.stop) end = smaller(end, c.at->begin - c.mine.end);
    }
    for (union_cursor const& c : unions_)
        if (c.next.begin != no_offset) end = smaller(end, c.next.begin - c.mine.end);
    return end;
}

SUBLET_DECL void placed_pieces::insert(shape_piece const& p)
{
    std::uint32_t const first = bucket_of_[p.when.first], last = bucket_of_[p.when.last - 1];
    if (is_wide_[first] != 0) list(near_[first], p);
    if (is_wide_[last] != 0 && last != first) list(near_[last], p);
    std::size_t i = first + leaves_ + is_wide_[first], j = last + leaves_ + 1 - is_wide_[last];
    for (; i < j; i /= 2, j /= 2) {
        if (i % 2 == 1) visits_ += stretches_.unite(living_[i++], p.begin, p.end);
        if (j % 2 == 1) visits_ += stretches_.unite(living_[--j], p.begin, p.end);
    }
    for (std::size_t node = first + leaves_; node != 0; node /= 2)
        visits_ += stretches_.unite(born_[node], p.begin, p.end);
}

} // namespace sublet

#endif
