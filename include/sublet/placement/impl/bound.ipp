// SPDX-License-Identifier: BSL-1.0
/// Bounds by position: a sweep over the live bytes; the same with heights rounded up to a common alignment;
/// and, for pins and several alignments, the lowest stack of the pieces of a position, by dynamic programming
/// over sets.
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/bound.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace sublet::detail {

SUBLET_DECL void sort_descending(std::vector<std::uint32_t>& ids, std::vector<byte_count> const& key,
                                 step_poll const& poll)
{
    if (ids.size() <= 48) { // fewer steps than the digits of one pass
        if (poll.stops(2 * ids.size())) return;
        for (std::size_t i = 1; i < ids.size(); ++i) {
            std::uint32_t const id = ids[i];
            std::size_t at = i;
            for (; at != 0 && key[ids[at - 1]] < key[id]; --at) ids[at] = ids[at - 1];
            ids[at] = id;
        }
        return;
    }
    unsigned const digit_bits = ids.size() < 4096 ? 8 : 11; // a pass counts all digits, too
    std::size_t const digits = std::size_t{1} << digit_bits;
    byte_count differ = 0;
    for (std::uint32_t id : ids) differ |= key[id] ^ key[ids[0]];
    std::vector<std::uint32_t> sorted(ids.size()), next;
    for (unsigned shift = 0; shift < 64; shift += digit_bits) {
        auto digit = [&](std::uint32_t id) { return to_size((~key[id] >> shift) % digits); };
        if ((differ >> shift) % digits == 0) continue;
        if (poll.stops(2 * ids.size())) return;
        next.assign(digits, 0);
        for (std::uint32_t id : ids) ++next[digit(id)];
        std::uint32_t before = 0;
        for (std::uint32_t& n : next) {
            std::uint32_t const own = n;
            n = before;
            before += own;
        }
        for (std::uint32_t id : ids) sorted[next[digit(id)]++] = id;
        ids.swap(sorted);
    }
}

SUBLET_DECL byte_count common_alignment(placement_shapes const& all)
{
    byte_count common = 0;
    for (placement_shape const& s : all.shapes) {
        common = std::gcd(std::gcd(common, s.alignment), s.phase);
        if (common == 1) return 1;
    }
    for (shape_piece const& p : all.pieces) common = std::gcd(common, p.begin);
    return common;
}

/// Paints the ranks of pieces with their padding, by falling padding: the first paint stays. False: stopped.
template <class PaddingOf>
bool paint_by_padding(placement_shapes const& all, PaddingOf padding_of,
                      table<position_id, std::int64_t>& padding, step_poll const& poll)
{
    std::vector<sort_key> by_padding;
    by_padding.reserve(all.pieces.size());
    for (std::uint32_t i = 0; i != all.pieces.size(); ++i)
        by_padding.push_back(
            {descending(static_cast<byte_count>(padding_of(i)) + (byte_count{1} << 62)), 0, i});
    sort_in_parts(by_padding, poll);
    std::vector<std::uint32_t> unpainted(padding.size() + 1);
    for (std::uint32_t r = 0; r != unpainted.size(); ++r) unpainted[r] = r;
    auto next_unpainted = [&](std::uint32_t r) {
        while (unpainted[r] != r) r = unpainted[r] = unpainted[unpainted[r]];
        return r;
    };
    for (sort_key const& k : by_padding) {
        if (poll.stops(4)) return false;
        shape_piece const& p = all.pieces[k.id];
        for (std::uint32_t r = next_unpainted(p.when.first); r < p.when.last; r = next_unpainted(r)) {
            padding[r] = padding_of(k.id);
            unpainted[r] = r + 1;
        }
    }
    return true;
}

/// Raises the bound by the padding of the common alignment.
SUBLET_DECL void add_padding(placement_shapes const& all, placement_bound& bound, step_poll const& poll)
{
    byte_count const unit = common_alignment(all);
    if (unit <= 1 || unit > (byte_count{1} << 61) / all.pieces.size()) return; // sums stay below 2^62
    constexpr std::int64_t no_padding = -(std::int64_t{1} << 62);
    auto number = [](byte_count bytes) { return static_cast<std::int64_t>(bytes); };
    auto rounded = [&](shape_piece const& p) { return number(align_up(p.end, unit)); };
    // By rank: the sum of the rounded heights, and the most padding of a piece.
    std::size_t const ranks = all.positions.size();
    table<position_id, std::int64_t> load(ranks, 0), padding(ranks, no_padding);
    std::vector<std::uint32_t> shape_of(all.pieces.size());
    std::uint64_t cells = 0; // ranks of all pieces
    for (std::uint32_t s = 0; s != all.size(); ++s)
        for (std::uint32_t i = all.first_piece[s]; i != all.first_piece[s + 1]; ++i) {
            if (poll.stops(4)) return;
            shape_piece const& p = all.pieces[i];
            std::int64_t const height = rounded(p) - number(p.begin);
            load[p.when.first] += height;
            load[p.when.last] -= height;
            shape_of[i] = s;
            cells += p.when.last - p.when.first;
        }
    auto padding_of = [&](std::uint32_t i) { // less than 0 if the shape ends higher at other positions
        return rounded(all.pieces[i]) - number(all.shapes[shape_of[i]].size);
    };
    if (cells <= 64 * all.pieces.size()) {
        if (poll.stops(cells)) return;
        for (std::uint32_t i = 0; i != all.pieces.size(); ++i) {
            std::int64_t const own = padding_of(i);
            for (position_id r = all.pieces[i].when.first; r != all.pieces[i].when.last; ++r)
                padding[r] = larger(padding[r], own);
        }
    } else if (!paint_by_padding(all, padding_of, padding, poll)) {
        return;
    }
    std::int64_t sum = 0, most = number(bound.bytes);
    position_id at = no_position;
    for (position_id r = 0; r != ranks; ++r)
        if ((sum += load[r]) != 0 && sum - padding[r] > most) {
            most = sum - padding[r];
            at = r;
        }
    if (at == no_position) return;
    std::vector<std::uint32_t> stacked;
    for (std::uint32_t i = 0; i != all.pieces.size(); ++i)
        if (contains(all.pieces[i].when, at)) stacked.push_back(shape_of[i]);
    if (!can_only_be_stacked(all, stacked)) return;
    bound.bytes = static_cast<byte_count>(most);
    bound.kind = placement::proof::reason::exhausted;
    bound.stacked = std::move(stacked);
}

SUBLET_DECL void raise_to_tops(placement_shapes const& all, placement_bound& bound)
{
    for (std::uint32_t s = 0; s != all.size(); ++s) {
        placement_shape const& shape = all.shapes[s];
        byte_count const top =
            checked_add(shape.pinned == no_offset ? shape.phase : shape.pinned, shape.size);
        if (top <= bound.bytes) continue;
        bound.bytes = top;
        bound.kind = placement::proof::reason::top_of_pin;
        bound.shape = s;
    }
}

SUBLET_DECL placement_bound lower_bound(placement_shapes const& all, step_poll const& poll)
{
    placement_bound bound;
    bound.live_bytes.assign(all.positions.size(), 0);
    table<position_id, byte_count> ending(all.positions.size(), 0);
    for (shape_piece const& p : all.pieces) {
        if (poll.stops(2)) return {};
        byte_count& starting = bound.live_bytes[p.when.first];
        starting = checked_add(starting, p.end - p.begin);
        ending[p.when.last] += p.end - p.begin;
    }
    byte_count load = 0, most = 0;
    for (position_id at = 0; at != bound.live_bytes.size(); ++at) {
        bound.live_bytes[at] = load = checked_add(load - ending[at], bound.live_bytes[at]);
        if (load <= most) continue;
        most = load;
        bound.peak_position = at;
    }
    bound.bytes = most;
    if (most != 0) bound.kind = placement::proof::reason::live_bytes;
    raise_to_tops(all, bound);
    if (bound.bytes < byte_count{1} << 61) add_padding(all, bound, poll);
    return bound;
}

SUBLET_COLD_DECL byte_count least_stack(placement_shapes const& all, std::vector<std::uint32_t> const& some,
                                        position_id rank, std::uint64_t& work, step_poll const& poll)
{
    struct piece_kind {
        byte_count begin = 0, end = 0;
        residue_class origins = {};
        std::size_t count = 0, step = 0; // of the number of a set
    };
    auto comes_before = [](piece_kind const& a, piece_kind const& b) {
        return std::tie(a.begin, a.end, a.origins.alignment, a.origins.phase) <
               std::tie(b.begin, b.end, b.origins.alignment, b.origins.phase);
    };
    std::vector<piece_kind> loose, pinned;
    for (std::uint32_t s : some) {
        placement_shape const& shape = all.shapes[s];
        for (shape_piece const& p : all.pieces_of(s)) {
            if (!contains(p.when, rank)) continue;
            if (shape.pinned == no_offset)
                loose.push_back({p.begin, p.end, {shape.alignment, shape.phase}, 1});
            else pinned.push_back({shape.pinned + p.begin, shape.pinned + p.end});
        }
    }
    sort_by(loose, comes_before);
    sort_by(pinned, comes_before);
    std::vector<piece_kind> kinds;
    for (piece_kind const& k : loose) {
        if (kinds.empty() || comes_before(kinds.back(), k)) kinds.push_back(k);
        else ++kinds.back().count;
    }
    kinds.push_back({});
    kinds.back().count = pinned.size();
    std::size_t states = 1;
    for (piece_kind& k : kinds) {
        k.step = states;
        if (k.count >= work / kinds.size() / states) return 0;
        states *= k.count + 1;
    }
    work -= states * kinds.size();
    std::vector<byte_count> least(states, no_limit);
    std::vector<std::size_t> used(kinds.size(), 0);
    least[0] = 0;
    for (std::size_t set = 0; set != states; ++set) {
        if (poll.stops(kinds.size())) return 0;
        if (least[set] != no_limit) {
            std::size_t const passed = used.back();
            byte_count const ceiling = passed == pinned.size() ? no_limit : pinned[passed].begin;
            if (ceiling != no_limit && least[set] <= ceiling) {
                byte_count& next = least[set + kinds.back().step];
                next = smaller(next, pinned[passed].end);
            }
            for (std::size_t i = 0; i + 1 != kinds.size(); ++i) {
                piece_kind const& k = kinds[i];
                if (used[i] == k.count) continue;
                byte_count const origin =
                    align_up(least[set] <= k.begin ? 0 : least[set] - k.begin, k.origins);
                if (origin == no_offset || !sum_fits(origin, k.end) || origin + k.end > ceiling) continue;
                byte_count& next = least[set + k.step];
                next = smaller(next, origin + k.end);
            }
        }
        for (std::size_t i = 0; i != kinds.size() && ++used[i] > kinds[i].count; ++i) used[i] = 0;
    }
    return least.back();
}

SUBLET_COLD_DECL bool raise_by_stacks(placement_shapes const& all, std::uint64_t work, placement_bound& bound,
                                      step_poll const& poll)
{
    byte_count const unit = common_alignment(all);
    bool may_raise = false;
    for (placement_shape const& s : all.shapes)
        may_raise = may_raise || s.pinned != no_offset || s.alignment != unit;
    if (!may_raise || bound.bytes >= byte_count{1} << 61) return false;

    // The stack of a position is not above that of another where the same pieces and more are live: only
    // positions count where a piece begins, and none does before the next one ends.
    std::size_t const ranks = all.positions.size();
    table<position_id, unsigned char> begins(ranks, 0), ends(ranks, 0);
    for (shape_piece const& p : all.pieces) begins[p.when.first] = ends[p.when.last] = 1;
    if (poll.stops(2 * all.pieces.size())) return false;
    std::vector<sort_key> full; // most live bytes first
    position_id last = no_position;
    for (position_id r = 0; r != ranks; ++r) {
        if (ends[r] != 0 && last != no_position) {
            full.push_back({descending(bound.live_bytes[last]), 0, last});
            last = no_position;
        }
        if (begins[r] != 0) last = r;
    }
    bool is_raised = false;
    // Only the fullest are looked at, as many as the work suffices for.
    if (std::uint64_t const most = work / all.pieces.size(); most < full.size()) {
        std::nth_element(full.begin(), full.begin() + static_cast<std::ptrdiff_t>(most), full.end());
        full.resize(to_size(most));
    }
    sort_by_key(full);
    for (sort_key const& k : full) {
        if (work < all.pieces.size() || poll.stops(all.pieces.size())) break;
        work -= all.pieces.size();
        std::vector<std::uint32_t> stacked;
        byte_count highest = bound.live_bytes[k.id]; // without pins, of any order
        bool is_pinned = false;
        for (std::uint32_t s = 0; s != all.size(); ++s)
            for (shape_piece const& p : all.pieces_of(s))
                if (contains(p.when, k.id)) {
                    stacked.push_back(s);
                    is_pinned = is_pinned || all.shapes[s].pinned != no_offset;
                    highest = checked_add(highest, all.shapes[s].alignment - 1 + p.begin);
                }
        if (!is_pinned && highest <= bound.bytes) continue;
        byte_count const least = least_stack(all, stacked, k.id, work, poll);
        if (least <= bound.bytes || least == no_limit || !can_only_be_stacked(all, stacked)) continue;
        bound.bytes = least;
        bound.kind = placement::proof::reason::exhausted;
        bound.stacked = std::move(stacked);
        is_raised = true;
    }
    return is_raised;
}

} // namespace sublet::detail
