// SPDX-License-Identifier: BSL-1.0
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/best_packing.hpp>

#include <utility>

// --- gap list --------------------------------------------------------------------------------------------

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

SUBLET_DECL gap_list::gap_list(std::size_t shapes)
    : border_(static_cast<std::uint32_t>(shapes)), begin_(shapes + 1, no_limit - 1), end_(shapes + 1, 0),
      below_(shapes + 1, border_), above_(below_)
{
    offer(border_);
}

SUBLET_DECL byte_count gap_list::take(std::uint32_t id, placement_shape const& shape, byte_count ceiling)
{
    if (shape.size > ceiling) return no_offset;
    int misfits = 0;
    for (auto found = gaps_.with_room(shape.size); !gaps_.is_past(found);) {
        sorted_gaps::gap const g = gaps_[found];
        byte_count const at = align_up(g.begin, shape), end = begin_[above_[g.below]];
        if (at < end && shape.size <= end - at) {
            if (at > ceiling - shape.size) return no_offset;
            gaps_.erase(g);
            put(id, at, shape.size, g.below);
            offer(g.below);
            offer(id);
            return at;
        }
        // After many that only alignment makes too small: with so much room it fits wherever a gap
        // begins.
        bool const had_enough = ++misfits == 64 && sum_fits(shape.size, shape.alignment);
        found = had_enough ? gaps_.with_room(shape.size + shape.alignment) : gaps_.next(found);
    }
    return no_offset;
}

SUBLET_DECL void gap_list::stack(std::uint32_t id, byte_count origin, byte_count size)
{
    std::uint32_t const under = below_[border_];
    withdraw(under);
    put(id, origin, size, under);
    offer(under);
    offer(id);
}

SUBLET_DECL void gap_list::give_back(std::uint32_t id)
{
    std::uint32_t const under = below_[id], over = above_[id];
    withdraw(under);
    withdraw(id);
    above_[under] = over;
    below_[over] = under;
    offer(under);
}

// --- fit outwards ----------------------------------------------------------------------------------------

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
        sort_by_falling(coming, key);
        for (std::uint32_t s = 0; s != n; ++s) key[s] = ~byte_count{life(s).first};
        sort_by_falling(coming, key);
        for (std::uint32_t s = 0; s != n; ++s) key[s] = ~byte_count{life(s).last};
        sort_by_falling(going, key);
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

// --- fit upwards -----------------------------------------------------------------------------------------

SUBLET_DECL packing fit_upwards(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                placement_bound const& bound, byte_count ceiling)
{
    struct waiting {
        byte_count lowest; // where it can lie
        live_range life;
        std::uint32_t id;
        bool is_plain;
    };
    packing result;
    result.origin.assign(all.size(), no_offset);
    std::vector<waiting> queue;
    queue.reserve(all.size());
    for (std::uint32_t s : order) {
        placement_shape const& shape = all.shapes[s];
        SUBLET_EXPECTS(shape.pinned == no_offset, "sublet: a pinned shape is not placed upwards");
        queue.push_back({shape.phase, shape.life, s, all.is_plain(s)});
    }
    std::vector<byte_count> to_come = bound.live_bytes;
    std::vector<std::int32_t> candidates(all.positions.size() + 1);
    while (!queue.empty()) {
        result.visits += queue.size() + to_come.size();
        byte_count lowest = no_offset;
        for (waiting const& w : queue) lowest = smaller(lowest, w.lowest);
        for (std::int32_t& n : candidates) n = 0;
        for (waiting const& w : queue)
            if (w.lowest == lowest) {
                ++candidates[w.life.first];
                --candidates[w.life.last];
            }
        step_id fullest = no_step;
        std::int32_t alive = 0;
        for (step_id at = 0; at != to_come.size(); ++at)
            if ((alive += candidates[at]) != 0 && (fullest == no_step || to_come[at] > to_come[fullest]))
                fullest = at;
        std::size_t next = 0;
        while (queue[next].lowest != lowest || !contains(queue[next].life, fullest)) ++next;

        waiting const now = queue[next];
        byte_count const size = all.shapes[now.id].size;
        if (size > ceiling || now.lowest > ceiling - size) {
            result.height = no_limit;
            return result;
        }
        result.origin[now.id] = now.lowest;
        result.height = larger(result.height, now.lowest + size);
        for (shape_piece const& p : all.pieces_of(now.id))
            for (step_id at = p.when.first; at != p.when.last; ++at) to_come[at] -= p.end - p.begin;
        for (std::size_t i = next + 1; i != queue.size(); ++i) queue[i - 1] = queue[i];
        queue.pop_back();
        for (waiting& w : queue) {
            if (w.life.first >= now.life.last || now.life.first >= w.life.last) continue;
            byte_count above = now.lowest + size;
            if (!now.is_plain || !w.is_plain) {
                shape_reach const apart = reach(all, now.id, w.id);
                if (!apart.meets) continue;
                above = now.lowest + static_cast<byte_count>(apart.distance); // below it: modulo 2^64
                if (apart.distance < 0 && above > now.lowest) continue;       // not even at 0 in the way
            }
            if (above > w.lowest) w.lowest = align_up(above, all.shapes[w.id]);
        }
    }
    return result;
}

// --- parts in time ---------------------------------------------------------------------------------------

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

// --- best packing ----------------------------------------------------------------------------------------

struct packing_attempt {
    packing_way way;
    placement_order order;
};

/// For any number of shapes quickly the first; and for few a better one.
inline constexpr packing_attempt first_of_many{packing_way::outwards, placement_order::peak_birth};

inline constexpr packing_attempt first_of_few{packing_way::upwards, placement_order::load_area};

/// What makes the largest difference to those before it comes next, on lifetimes of networks, on perturbed
/// copies of them, and on drawn ones.
inline constexpr packing_attempt packing_attempts[] = {first_of_few,
                                                       {packing_way::upwards, placement_order::load_death},
                                                       {packing_way::upwards, placement_order::load_length},
                                                       first_of_many,
                                                       {packing_way::lowest, placement_order::peak_length},
                                                       {packing_way::lowest, placement_order::peak_death},
                                                       {packing_way::upwards, placement_order::area},
                                                       {packing_way::upwards, placement_order::size_class},
                                                       {packing_way::lowest, placement_order::size_class},
                                                       {packing_way::lowest, placement_order::size},
                                                       {packing_way::outwards, placement_order::peak_death},
                                                       {packing_way::lowest, placement_order::peak_birth},
                                                       {packing_way::tightest, placement_order::size},
                                                       {packing_way::lowest, placement_order::birth}};

/// A part of time, and the lowest packing of its shapes.
struct part_packing {
    placement_shapes own; ///< unless it is all there is
    placement_shapes const* all = nullptr;
    std::uint32_t first = 0;
    bool has_wishes = false; ///< pins or preferred origins
    placement_bound bound;
    packing best;

    [[nodiscard]] placement_shapes const& shapes() const { return all != nullptr ? *all : own; }
};

template <class Shapes>
std::vector<part_packing> parts_to_pack(Shapes const& all, placement_bound const& bound)
{
    std::vector<std::uint32_t> const first = parts_in_time(all);
    std::vector<part_packing> parts(first.size() - 1);
    for (std::size_t i = 0; i != parts.size(); ++i) {
        part_packing& part = parts[i];
        part.first = first[i];
        if (parts.size() == 1) {
            part.all = &all;
            part.bound = bound;
        } else {
            part.own = part_of(all, first[i], first[i + 1]);
            part.bound = lower_bound(part.own);
        }
        for (placement_shape const& s : part.shapes().shapes)
            if (s.pinned != no_offset || s.preferred != no_offset) part.has_wishes = true;
    }
    return parts;
}

template <class Part>
packing pack_part(Part const& part, packing_attempt const& attempt, fit_limits limits)
{
    placement_shapes const& shapes = part.shapes();
    std::vector<std::uint32_t> const order = order_by(attempt.order, shapes, part.bound);
    switch (attempt.way) {
    case packing_way::upwards: return fit_upwards(shapes, order, part.bound, limits.ceiling);
    case packing_way::outwards: return fit_outwards(shapes, order, part.bound, limits.ceiling);
    case packing_way::tightest: return fit(shapes, order, gap_choice::tightest, limits);
    case packing_way::lowest: break;
    }
    return fit(shapes, order, gap_choice::lowest, limits);
}

template <class Part>
packing whole_packing(std::vector<Part> const& parts, std::size_t shapes)
{
    packing whole;
    whole.origin.reserve(shapes);
    for (Part const& part : parts) {
        for (byte_count origin : part.best.origin) whole.origin.push_back(origin);
        whole.height = larger(whole.height, part.best.height);
        whole.visits += part.best.visits;
    }
    return whole;
}

SUBLET_DECL packing first_packing(placement_shapes const& all, placement_bound const& bound)
{
    auto parts = parts_to_pack(all, bound);
    for (part_packing& part : parts) {
        std::size_t const n = part.shapes().size();
        packing_attempt attempt = n > 512 ? first_of_many : first_of_few;
        if (part.has_wishes) attempt = {packing_way::lowest, placement_order::size};
        part.best = pack_part(part, attempt, {.expected = bound.bytes, .patience = 1'000'000 + 100 * n});
    }
    return whole_packing(parts, all.size());
}

SUBLET_DECL packing best_packing(placement_shapes const& all, placement_bound const& bound,
                                 std::uint64_t visits, packing best, search_driver& driver,
                                 std::uint32_t& tried)
{
    if (best.height <= bound.bytes) return best;
    auto parts = parts_to_pack(all, bound);
    for (part_packing& part : parts) {
        std::size_t const n = part.shapes().size();
        auto const* const origins = best.origin.data() + part.first;
        part.best.origin.assign(origins, origins + n);
        if (best.height == no_limit) part.best.height = no_limit;
        for (std::size_t s = 0; s != n && best.height != no_limit; ++s)
            part.best.height = larger(part.best.height, part.best.origin[s] + part.shapes().shapes[s].size);
    }
    std::uint64_t spent = 0;
    byte_count height = best.height;
    for (packing_attempt const& attempt : packing_attempts) {
        if (height <= bound.bytes || spent >= visits || driver.stop(height, bound.bytes, 0)) break;
        bool is_tried = false;
        for (part_packing& part : parts) {
            if (part.best.height <= bound.bytes || !is_possible(part, attempt.way)) continue;
            if (spent >= visits) break;
            // To be worth anything a packing must end below the best so far.
            packing next = pack_part(
                part, attempt,
                {.ceiling = part.best.height - 1, .expected = bound.bytes, .visits = visits - spent});
            is_tried = true;
            spent += next.visits + part.shapes().size();
            if (next.height < part.best.height) part.best = std::move(next);
        }
        tried += is_tried;
        height = 0;
        for (part_packing const& part : parts) height = larger(height, part.best.height);
    }
    return whole_packing(parts, all.size());
}

SUBLET_DECL packing best_packing(placement_shapes const& all, placement_bound const& bound,
                                 std::uint64_t visits, packing best, std::uint32_t& tried)
{
    steady driver;
    return best_packing(all, bound, visits, std::move(best), driver, tried);
}

} // namespace sublet::detail
