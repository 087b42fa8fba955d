// SPDX-License-Identifier: BSL-1.0

/// Placed bytes are sorted intervals in the nodes of a segment tree over buckets of positions; a query
/// goes through the lists of the nodes on its way and within its life from below, until one gap is free in
/// all of them. Orders are sort keys of sizes, lives, areas and distances from the peak.

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/fit.hpp>

#include <bit>

// --- byte unions -----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::uint64_t byte_unions::unite(byte_union& all, byte_count begin, byte_count end)
{
    std::uint64_t steps = 1;
    std::uint32_t above = none,
                  at = all.recent; // becomes the highest interval that begins at or below `begin`
    if (at != none && intervals_[at].begin <= end) {
        for (; (above = intervals_[at].above) != none && intervals_[above].begin <= end; ++steps) at = above;
    } else {
        for (; at != none && intervals_[at].begin > end; at = intervals_[at].below, ++steps) above = at;
    }
    if (at == none || intervals_[at].end < begin) {
        std::uint32_t fresh = unused_;
        interval const item{begin, end, at, above};
        if (fresh == none) {
            fresh = static_cast<std::uint32_t>(intervals_.size());
            intervals_.push_back(item);
        } else {
            unused_ = intervals_[fresh].below;
            intervals_[fresh] = item;
        }
        if (above != none) intervals_[above].below = fresh;
        (at == none ? all.lowest : intervals_[at].above) = fresh;
        all.recent = fresh;
        return steps;
    }
    interval& grown = intervals_[at];
    grown.begin = smaller(grown.begin, begin);
    grown.end = larger(grown.end, end);
    while (grown.below != none && intervals_[grown.below].end >= grown.begin) {
        std::uint32_t const absorbed = grown.below;
        grown.begin = smaller(grown.begin, intervals_[absorbed].begin);
        grown.below = intervals_[absorbed].below;
        intervals_[absorbed].below = unused_;
        unused_ = absorbed;
    }
    (grown.below == none ? all.lowest : intervals_[grown.below].above) = at;
    all.recent = at;
    return steps;
}

// --- placed pieces ---------------------------------------------------------------------------------------

SUBLET_COLD_DECL placed_pieces::placed_pieces(placement_shapes const& all)
{
    table<position_id, std::uint32_t> events(all.positions.size(), 0); // begins and ends
    for (shape_piece const& p : all.pieces) {
        ++events[p.when.first];
        ++events[p.when.last];
    }
    bucket_of_.reserve(events.size());
    std::uint32_t in_bucket = 0;
    for (std::uint32_t n : events) {
        bool const is_full = is_wide_.empty() || in_bucket + n > events_per_bucket;
        if (is_full) is_wide_.push_back(0);
        else is_wide_.back() = 1;
        in_bucket = is_full ? n : in_bucket + n;
        bucket_of_.push_back(static_cast<std::uint32_t>(is_wide_.size() - 1));
    }
    tree_.leaves = is_wide_.size();
    clear();
}

SUBLET_DECL void placed_pieces::clear()
{
    visits_ = 0;
    starting_.assign(2 * tree_.leaves, {});
    covering_ = starting_;
    partial_.resize(tree_.leaves);
    for (std::vector<shape_piece>& items : partial_) items.clear();
    intervals_.clear();
}

SUBLET_DECL void placed_pieces::insert(placement_shapes const& all, std::uint32_t shape, byte_count origin)
{
    for (shape_piece const& p : all.pieces_of(shape))
        insert(shape_piece{p.when, origin + p.begin, origin + p.end});
}

SUBLET_DECL byte_count placed_pieces::free_origin(placement_shapes const& all, std::uint32_t shape,
                                                  byte_count from, byte_count highest, fit_rule choice)
{
    collect_obstacles(all, shape);
    byte_count best = no_offset, least_room = no_offset;
    byte_count at = next_free_origin(all.shapes[shape], align_up(from, all.shapes[shape]), highest);
    if (choice == fit_rule::first_fit) return at;
    while (at != no_offset) {
        byte_count const end = next_obstacle(); // how far the origin may rise
        if (best == no_offset || (end != no_offset && end - at < least_room)) {
            best = at;
            least_room = end == no_offset ? no_offset : end - at;
        }
        if (end == no_offset || least_room == 0) break;
        at = next_free_origin(all.shapes[shape], align_up(end + 1, all.shapes[shape]), highest);
    }
    return best;
}

SUBLET_DECL byte_count placed_pieces::origin_on_top(placement_shapes const& all, std::uint32_t shape,
                                                    byte_count highest)
{
    collect_obstacles(all, shape);
    byte_count top = 0;
    auto raise_top = [&](byte_count end, shape_piece const& own) {
        if (end > own.begin) top = larger(top, end - own.begin);
    };
    for (partial_cursor const& c : partial_cursors_)
        for (shape_piece const* p = c.at; p != c.stop; ++p)
            if (overlap_nonempty(p->when, c.own.when)) raise_top(p->end, c.own);
    for (union_cursor const& c : union_cursors_) {
        std::uint32_t at = c.recent;
        for (; intervals_[at].above != none; ++visits_) at = intervals_[at].above;
        raise_top(intervals_[at].end, c.own);
    }
    top = align_up(top, all.shapes[shape]);
    return top <= highest ? top : no_offset;
}

SUBLET_DECL byte_count placed_pieces::next_free_origin(placement_shape const& shape, byte_count at,
                                                       byte_count highest)
{
    for (byte_count before = no_offset; at != before;) {
        if (at > highest) return no_offset;
        before = at;
        for (partial_cursor& c : partial_cursors_)
            for (; c.at != c.stop && c.at->begin < at + c.own.end; ++c.at, ++visits_)
                if (c.at->end > at + c.own.begin && overlap_nonempty(c.at->when, c.own.when)) {
                    at = align_up(c.at->end - c.own.begin, shape);
                    if (at > highest) return no_offset;
                }
        for (union_cursor& c : union_cursors_)
            for (; c.next.begin < at + c.own.end; ++visits_) {
                if (c.next.end > at + c.own.begin) {
                    at = align_up(c.next.end - c.own.begin, shape);
                    if (at > highest) return no_offset;
                }
                if (c.next.above == none) c.next.begin = no_offset;
                else c.next = intervals_[c.next.above];
            }
    }
    return at;
}

SUBLET_DECL byte_count placed_pieces::next_obstacle()
{
    byte_count end = no_offset;
    for (partial_cursor& c : partial_cursors_) {
        while (c.at != c.stop && !overlap_nonempty(c.at->when, c.own.when)) ++c.at, ++visits_;
        if (c.at != c.stop) end = smaller(end, c.at->begin - c.own.end);
    }
    for (union_cursor const& c : union_cursors_)
        if (c.next.begin != no_offset) end = smaller(end, c.next.begin - c.own.end);
    return end;
}

SUBLET_DECL void placed_pieces::insert(shape_piece const& p)
{
    std::uint32_t const first = bucket_of_[p.when.first], last = bucket_of_[p.when.last - 1];
    if (is_wide_[first] != 0) insert_sorted(partial_[first], p);
    if (is_wide_[last] != 0 && last != first) insert_sorted(partial_[last], p);
    tree_.each(bucket_range{first + is_wide_[first], last + 1 - is_wide_[last]},
               [&](std::size_t node) { visits_ += intervals_.unite(covering_[node], p.begin, p.end); });
    for (std::size_t node = first + tree_.leaves; node != 0; node /= 2)
        visits_ += intervals_.unite(starting_[node], p.begin, p.end);
}

// --- fit -------------------------------------------------------------------------------------------------

SUBLET_DECL bool fit_stop::finish(placement_shapes const& all, packing& unfinished) const
{
    if (!needs_packing) {
        unfinished.height = no_limit;
        return true;
    }
    byte_count end = unfinished.height;
    for (std::uint32_t s = 0; s != all.size(); ++s) {
        if (unfinished.origin[s] != no_offset) continue;
        byte_count const at = align_up(end, all.shapes[s]);
        if (at == no_offset || all.shapes[s].size >= no_limit - 1 - at) { // takes back what it has stacked
            for (byte_count& origin : unfinished.origin)
                if (origin >= unfinished.height) origin = no_offset;
            return false;
        }
        end = at + all.shapes[s].size;
        unfinished.origin[s] = at;
    }
    unfinished.height = end;
    return true;
}

SUBLET_DECL packing fit(placement_shapes const& all, std::vector<std::uint32_t> const& order, fit_rule choice,
                        fit_limits limits, placed_pieces& placed)
{
    constexpr std::uint64_t visits_per_poll = 4096;
    std::uint64_t next_poll = visits_per_poll;
    packing result;
    result.origin.assign(all.size(), no_offset);
    placed.clear();
    auto put = [&](std::uint32_t s, byte_count origin) {
        result.origin[s] = origin;
        result.height = larger(result.height, origin + all.shapes[s].size);
        placed.insert(all, s, origin);
    };
    auto is_over = [&] {
        if (placed.visits() < next_poll) return false;
        next_poll = placed.visits() + visits_per_poll;
        return limits.stop();
    };
    for (std::uint32_t s : order) {
        if (all.shapes[s].pinned == no_offset) continue;
        if (is_over()) {
            packing pins = result;
            for (std::uint32_t p = 0; p != all.size(); ++p) {
                if (all.shapes[p].pinned == no_offset) continue;
                pins.origin[p] = all.shapes[p].pinned;
                pins.height = larger(pins.height, pins.origin[p] + all.shapes[p].size);
            }
            if (limits.stop.finish(all, pins)) return pins;
        }
        put(s, all.shapes[s].pinned);
    }
    for (std::uint32_t s : order) {
        placement_shape const& shape = all.shapes[s];
        if (shape.pinned != no_offset) continue;
        if (is_over() && limits.stop.finish(all, result)) break;
        byte_count at = no_offset;
        if (shape.size <= limits.ceiling && placed.visits() <= limits.visits) {
            byte_count const highest = limits.ceiling - shape.size;
            at = placed.visits() >= limits.gap_visits ? placed.origin_on_top(all, s, highest)
                                                      : placed.free_origin(all, s, 0, highest, choice);
        }
        if (at == no_offset) {
            result.height = no_limit;
            break;
        }
        if (shape.preferred != no_offset && shape.preferred != at) {
            byte_count const top = larger(larger(result.height, limits.known_height), at + shape.size);
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

// --- orders ----------------------------------------------------------------------------------------------

SUBLET_DECL range_maximum::range_maximum(std::vector<byte_count> const& table)
    : tree_{table.size()}, most_(2 * table.size())
{
    for (std::size_t i = 0; i != table.size(); ++i) most_[table.size() + i] = table[i];
    for (std::size_t i = table.size(); i-- > 1;) most_[i] = larger(most_[2 * i], most_[2 * i + 1]);
}

SUBLET_DECL byte_count range_maximum::over(live_range r) const
{
    byte_count most = 0;
    tree_.each(r, [&](std::size_t node) { most = larger(most, most_[node]); });
    return most;
}

/// By position: its rank by rising load; of equal loads the later position ranks lower.
SUBLET_DECL std::vector<byte_count> ranks_by_load(std::vector<byte_count> const& live_bytes)
{
    std::vector<std::uint32_t> fullest(live_bytes.size());
    for (std::uint32_t p = 0; p != fullest.size(); ++p) fullest[p] = p;
    sort_descending(fullest, live_bytes);
    std::vector<byte_count> rank(fullest.size());
    for (std::size_t r = 0; r != fullest.size(); ++r) rank[fullest[r]] = fullest.size() - r;
    return rank;
}

/// By distance from the peak in positions: its class. Each class begins 1/`steps` farther out than the one
/// before, and at least one position.
SUBLET_DECL std::vector<std::uint32_t> distance_classes(std::size_t positions, std::size_t steps)
{
    std::vector<std::uint32_t> class_of;
    class_of.reserve(positions + 1);
    std::uint32_t now = 0;
    for (std::size_t begin = 1; class_of.size() <= positions; ++now) {
        std::size_t const end = begin + larger<std::size_t>(1, begin / steps);
        for (; begin != end; ++begin) class_of.push_back(now);
    }
    return class_of;
}

SUBLET_DECL std::vector<std::uint32_t> order_by(placement_order which, placement_shapes const& all,
                                                placement_bound const& bound, step_poll const& poll)
{
    std::size_t const n = all.size();
    std::vector<std::uint32_t> order(n);
    for (std::uint32_t s = 0; s != n; ++s) order[s] = s;
    std::vector<byte_count> key(n);
    auto by = [&](auto key_of) {
        for (std::uint32_t s = 0; s != n; ++s) {
            if (s % 4096 == 4095 && poll.stops(std::uint64_t{8} * 4096)) return;
            key[s] = key_of(all.shapes[s]);
        }
        sort_descending(order, key, poll);
    };
    auto by_load = [&] {
        range_maximum const most(bound.live_bytes);
        by([&](placement_shape const& s) { return most.over(s.life); });
    };
    auto by_length = [&] { by([](placement_shape const& s) { return byte_count{length(s.life)}; }); };
    auto by_birth = [&] { by([](placement_shape const& s) { return ~byte_count{s.life.first}; }); };
    auto by_death = [&] { by([](placement_shape const& s) { return byte_count{s.life.last}; }); };
    auto by_area = [&] { // saturates at 64 bits
        by([](placement_shape const& s) {
            byte_count const width = length(s.life);
            // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): each shape is live at a position
            return s.size <= (no_size - 1) / width ? s.size * width : no_size;
        });
    };
    auto at_peak_by = [&](auto key_of) {
        by([&](placement_shape const& s) {
            return contains(s.life, bound.peak_position) ? 1 + key_of(s.life) : 0;
        });
    };
    auto by_peak_distance = [&](std::size_t steps) {
        auto const class_of = distance_classes(all.positions.size(), steps);
        by([&](placement_shape const& s) {
            position_id const peak = bound.peak_position;
            std::uint32_t const distance = s.life.first > peak   ? s.life.first - peak
                                     : s.life.last <= peak ? peak - s.life.last + 1
                                                           : 0;
            return ~byte_count{class_of[distance]};
        });
    };
    using enum placement_order;
    by([](placement_shape const& s) { return s.size; });
    switch (which) {
    case size: break;
    case size_class:
        by([](placement_shape const& s) {
            return byte_count{static_cast<unsigned>(std::bit_width(s.size))} << 32 | length(s.life);
        });
        break;
    case size_class_death:
        by_death();
        by([](placement_shape const& s) {
            return byte_count{static_cast<unsigned>(std::bit_width(s.size))};
        });
        break;
    case length_class:
        by_birth();
        by([](placement_shape const& s) {
            return byte_count{static_cast<unsigned>(std::bit_width(byte_count{length(s.life)}))};
        });
        break;
    case area: by_area(); break;
    case area_death:
        by_death();
        by_area();
        break;
    case load: by_load(); break;
    case load_area:
        by_length();
        by_area();
        by_load();
        break;
    case load_length:
        by_area();
        by_length();
        by_load();
        break;
    case load_birth:
        by_birth();
        by_load();
        break;
    case load_death:
        by_death();
        by_load();
        break;
    case breadth: {
        range_maximum const best(ranks_by_load(bound.live_bytes));
        by([&](placement_shape const& s) { return best.over(s.life); });
        break;
    }
    case lifetime: by_length(); break;
    case birth: by_birth(); break;
    case peak_birth: at_peak_by([&](live_range life) { return all.positions.size() - life.first; }); break;
    case peak_length: at_peak_by([](live_range life) { return byte_count{length(life)}; }); break;
    case peak_death: at_peak_by([](live_range life) { return byte_count{life.last}; }); break;
    case peak_distance: by_peak_distance(5); break;
    case peak_distance_fine: by_peak_distance(20); break;
    case peak_distance_coarse: by_peak_distance(2); break;
    }
    (void)poll.stops(n); // the control stays stopped
    return order;
}

} // namespace sublet::detail
