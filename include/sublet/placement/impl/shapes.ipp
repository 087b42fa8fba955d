// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_SHAPES_IPP
#define SUBLET_PLACEMENT_IMPL_SHAPES_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/placement/shapes.hpp>

#include <algorithm>
#include <utility>

namespace sublet {

SUBLET_DECL shape_reach reach(placement_shapes const& all, std::uint32_t below, std::uint32_t above)
{
    shape_reach result;
    auto const lower = all.pieces_of(below), upper = all.pieces_of(above);
    for (std::size_t i = 0, j = 0; i != lower.size() && j != upper.size();) {
        if (overlaps(lower[i].when, upper[j].when)) {
            auto const distance =
                static_cast<std::int64_t>(lower[i].end) - static_cast<std::int64_t>(upper[j].begin);
            result.distance = result.meets ? larger(result.distance, distance) : distance;
            result.meets = true;
        }
        if (lower[i].when.last < upper[j].when.last) ++i;
        else ++j;
    }
    return result;
}

} // namespace sublet

namespace sublet::detail {

/// Whether there is a byte that all pieces of a shape have.
SUBLET_DECL bool has_common_byte(placement_shapes const& all, std::uint32_t shape)
{
    byte_count highest_begin = 0, lowest_end = no_limit;
    for (shape_piece const& p : all.pieces_of(shape)) {
        highest_begin = larger(highest_begin, p.begin);
        lowest_end = smaller(lowest_end, p.end);
    }
    return highest_begin < lowest_end;
}

SUBLET_DECL bool can_pass(placement_shapes const& all, std::uint32_t a, std::uint32_t b)
{
    struct overlapping { // if b is more than `from` and less than `to` above a
        std::int64_t from, to;
        bool operator<(overlapping const& other) const { return from < other.from; }
    };
    std::vector<overlapping> distances;
    auto const one = all.pieces_of(a), other = all.pieces_of(b);
    auto number = [](byte_count n) { return static_cast<std::int64_t>(n); };
    for (std::size_t i = 0, j = 0; i != one.size() && j != other.size();) {
        shape_piece const &x = one[i], &y = other[j];
        if (overlaps(x.when, y.when))
            distances.push_back({number(x.begin) - number(y.end), number(x.end) - number(y.begin)});
        if (x.when.last < y.when.last) ++i;
        else ++j;
    }
    std::sort(distances.begin(), distances.end());
    for (std::size_t i = 1; i < distances.size(); ++i) {
        if (distances[i].from >= distances[i - 1].to) return true;
        distances[i].to = larger(distances[i].to, distances[i - 1].to);
    }
    return false;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL bool can_only_be_stacked(placement_shapes const& all, std::vector<std::uint32_t> const& some)
{
    constexpr std::int64_t apart = std::int64_t{1} << 60;
    std::size_t const n = some.size();
    std::size_t with_byte = 0;
    byte_count largest = 0;
    for (std::uint32_t s : some) {
        with_byte += detail::has_common_byte(all, s);
        largest = larger(largest, all.shapes[s].size);
    }
    if (with_byte == n) return true;
    if (n > 64 || largest >> 53 != 0) return false; // no sum of distances is as large as `apart`
    std::vector<std::int64_t> up(n * n, apart);     // how far the second is above the first, if it is above
    for (std::size_t a = 0; a != n; ++a)
        for (std::size_t b = 0; b != n; ++b) {
            if (a == b) continue;
            if (a < b && detail::can_pass(all, some[a], some[b])) return false;
            if (shape_reach const r = reach(all, some[a], some[b]); r.meets) up[a * n + b] = r.distance;
        }
    // A circle is possible if its distances come to 0 or less (Floyd, "Algorithm 97", CACM 5(6), 1962).
    for (std::size_t via = 0; via != n; ++via)
        for (std::size_t a = 0; a != n; ++a)
            for (std::size_t b = 0; b != n; ++b) {
                up[a * n + b] = smaller(up[a * n + b], up[a * n + via] + up[via * n + b]);
                if (a == b && up[a * n + b] <= 0) return false;
            }
    return true;
}

} // namespace sublet

namespace sublet::detail {

/// Collects shapes as they come, and sorts them in the end.
class shape_collector {
public:
    shape_collector(placement_problem const& problem, std::vector<buffer_id> const& members,
                    pool_limits const& limits)
        : problem_(problem), limits_(limits), gaps_(gaps_in_order(problem)),
          groups_(group_colocated(problem, members))
    {
        SUBLET_EXPECTS(limits.alignment >= 1, "sublet: an alignment is at least 1");
        std::size_t const groups = groups_.first.size() - 1;
        listed_.shapes.reserve(groups);
        listed_.pieces.reserve(groups);
        listed_.first_piece.reserve(groups + 1);
        listed_.parts.reserve(groups_.parts.size());
    }

    placement_shapes collect()
    {
        auto broken = groups_.broken.begin();
        for (std::uint32_t g = 0; g + 1 != groups_.first.size(); ++g) {
            bool const is_solid = add_pieces(g);
            for (; broken != groups_.broken.end() && broken->key == g; ++broken)
                if (is_solid)
                    fails(shape_fault::parts_clash, static_cast<buffer_id>(broken->tie), broken->who);
            if (is_solid) add_shape(g);
        }
        listed_.positions = rank_positions(listed_.pieces);
        return by_birth();
    }

private:
    using parts = std::span<shape_part const>;
    parts parts_of(std::uint32_t group) const
    {
        return {groups_.parts.data() + groups_.first[group], groups_.parts.data() + groups_.first[group + 1]};
    }
    /// Where the origin may be for the sake of this part.
    phased_offsets allowed(shape_part const& part) const
    {
        byte_count const own = problem_.buffers[part.buffer].alignment;
        if (own == 1 && limits_.alignment == 1) return {}; // no divisions for the most common case
        return below_aligned(part.distance, combine_alignment(own, limits_.alignment));
    }
    void fails(shape_fault fault, buffer_id buffer, buffer_id other)
    {
        if (listed_.fault != shape_fault::none) return;
        listed_.fault = fault;
        listed_.buffer = buffer;
        listed_.other = other;
    }

    /// False if nothing of the group is solid.
    bool add_pieces(std::uint32_t group)
    {
        parts const all = parts_of(group);
        std::vector<shape_piece>& pieces = all.size() == 1 ? listed_.pieces : of_several_;
        of_several_.clear();
        for (shape_part const& part : all) {
            placement_buffer const& b = problem_.buffers[part.buffer];
            SUBLET_EXPECTS(b.alignment >= 1, "sublet: an alignment is at least 1");
            SUBLET_EXPECTS(b.size != no_size, "sublet: a buffer of unknown size cannot be placed");
            SUBLET_EXPECTS(b.size < too_large && part.distance < too_large - b.size,
                           "sublet: a buffer has 2^62 bytes or more");
            append_pieces(problem_, gaps_, part.buffer, part.distance, pieces);
        }
        if (!of_several_.empty()) merge_pieces(of_several_);
        for (shape_piece const& p : of_several_) listed_.pieces.push_back(p);
        auto const end = static_cast<std::uint32_t>(listed_.pieces.size());
        if (end == listed_.first_piece.back()) return false;
        listed_.first_piece.push_back(end);
        return true;
    }

    void add_shape(std::uint32_t group)
    {
        placement_shape shape;
        phased_offsets origins;
        parts const all = parts_of(group);
        shape_part const* pinned = nullptr;
        for (shape_part const& part : all) {
            placement_buffer const& b = problem_.buffers[part.buffer];
            shape.size = larger(shape.size, part.distance + b.size);
            phased_offsets const own = allowed(part);
            if (own.alignment != 1 && !restrict_to(origins, own)) incompatible_with(part, own, all);
            if (b.pinned != no_offset) {
                SUBLET_EXPECTS(b.pinned < too_large - b.size, "sublet: a pinned buffer ends beyond 62 bits");
                if (b.pinned % own.alignment != 0) fails(shape_fault::pin_misaligned, part.buffer, no_buffer);
                byte_count const origin = b.pinned - part.distance;
                if (pinned != nullptr && origin != shape.pinned)
                    fails(shape_fault::parts_clash, part.buffer, pinned->buffer);
                shape.pinned = origin;
                pinned = &part;
            }
            if (b.preferred != no_offset && b.preferred >= part.distance)
                shape.preferred = b.preferred - part.distance;
            listed_.parts.push_back(
                {static_cast<std::uint32_t>(listed_.shapes.size()), part.buffer, part.distance});
        }
        if (pinned != nullptr) pins_down(*pinned, all);
        shape.alignment = origins.alignment;
        shape.phase = origins.phase;
        listed_.shapes.push_back(shape);
    }

    /// Of those before it, one alone is what `part` cannot be with.
    void incompatible_with(shape_part const& part, phased_offsets const& own, parts all)
    {
        for (shape_part const& other : all) {
            phased_offsets origins = allowed(other);
            if (restrict_to(origins, own)) continue;
            fails(shape_fault::parts_clash, part.buffer, other.buffer);
            return;
        }
    }

    /// Whether there is an offset for each where one is pinned.
    void pins_down(shape_part const& pinned, parts all)
    {
        byte_count const pin = problem_.buffers[pinned.buffer].pinned;
        for (shape_part const& part : all) {
            bool const is_below = pin + part.distance < pinned.distance;
            byte_count const at = pin + part.distance - pinned.distance;
            if (is_below || at % allowed(part).alignment != 0)
                fails(shape_fault::parts_clash, pinned.buffer, part.buffer);
        }
    }

    /// All as collected, but by begin of their lives.
    placement_shapes by_birth()
    {
        placement_shapes result;
        result.fault = listed_.fault;
        result.buffer = listed_.buffer;
        result.other = listed_.other;
        std::size_t const n = listed_.size();
        std::vector<std::uint32_t> order(n), next(listed_.positions.size() + 1, 0), number(n);
        auto birth = [&](std::size_t s) { return listed_.pieces[listed_.first_piece[s]].when.first; };
        for (std::size_t s = 0; s != n; ++s) ++next[birth(s) + 1];
        for (std::size_t p = 0; p + 1 < next.size(); ++p) next[p + 1] += next[p];
        for (std::uint32_t s = 0; s != n; ++s) order[next[birth(s)]++] = s;
        result.positions = std::move(listed_.positions);
        result.shapes.reserve(n);
        result.first_piece.reserve(n + 1);
        result.pieces.reserve(listed_.pieces.size());
        for (std::uint32_t s : order) {
            number[s] = static_cast<std::uint32_t>(result.shapes.size());
            auto const mine = listed_.pieces_of(s);
            for (shape_piece const& p : mine) result.pieces.push_back(p);
            result.first_piece.push_back(static_cast<std::uint32_t>(result.pieces.size()));
            result.shapes.push_back(listed_.shapes[s]);
            result.shapes.back().life = {mine.front().when.first, mine.back().when.last};
        }
        std::vector<std::uint32_t> first_part(n + 1, 0);
        for (shape_part const& p : listed_.parts) ++first_part[number[p.shape] + 1];
        for (std::size_t s = 0; s != n; ++s) first_part[s + 1] += first_part[s];
        result.parts.resize(listed_.parts.size());
        for (shape_part const& p : listed_.parts)
            result.parts[first_part[number[p.shape]]++] = {number[p.shape], p.buffer, p.distance};
        return result;
    }

    static constexpr byte_count too_large = byte_count{1} << 62;

    placement_problem const& problem_;
    pool_limits const& limits_;
    std::vector<keyed> const gaps_;
    colocated_groups const groups_;
    placement_shapes listed_; // by group
    std::vector<shape_piece> of_several_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL placement_shapes shapes_of(placement_problem const& problem,
                                       std::vector<buffer_id> const& members, pool_limits limits)
{
    return detail::shape_collector(problem, members, limits).collect();
}

} // namespace sublet

#endif
