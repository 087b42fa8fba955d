// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_SHAPES_HPP
#define SUBLET_PLACEMENT_SHAPES_HPP

/// What is moved about when buffers are placed: rigid shapes made of rectangles.
///
///     a buffer     one with a gap and a window   two, colocated 8 apart
///     +------+     +--+   +----+                     +------+
///     |      |     |  |   +--+ |                  +--+------+
///     |      |     |  |      | |                  |     |  |
///     +------+     +--+      +-+                  +-----+--+
///     1 piece      3 pieces                       3 pieces: at each position one
///
/// All that a placement_problem can say about one pool is said here in one form: a shape has pieces, one at a
/// position and one after the other, an origin that is congruent to `phase` modulo `alignment`, and perhaps a
/// pin. Positions are replaced by their ranks among those where a piece begins or ends, so that no table over
/// them is longer than twice the number of pieces.
///
/// Two shapes are told apart by a single distance in each direction, reach(): how far the origin of the one
/// above must be from that of the one below.

#include <sublet/contract.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

/// The bytes [begin, end) above a shape's origin, during `when` (in ranks).
struct shape_piece {
    live_range when;
    byte_count begin = 0;
    byte_count end = 0;
};

struct placement_shape {
    live_range life;          ///< in ranks, from the first piece to the last; never empty
    byte_count size = 0;      ///< origin + size is what it needs of the arena; never 0
    byte_count alignment = 1; ///< its origin is `phase` modulo this
    byte_count phase = 0;
    byte_count pinned = no_offset;
    byte_count preferred = no_offset;
};

/// A buffer in its shape.
struct shape_part {
    std::uint32_t shape = 0;
    buffer_id buffer = no_buffer;
    byte_count distance = 0; ///< above the shape's origin
};

/// What contradicts itself before anything is placed.
enum class shape_fault : std::uint8_t {
    none,
    pin_misaligned, ///< `buffer` is pinned where alignment forbids
    parts_clash     ///< what is asked of `buffer` and of `other`, colocated with it, cannot both be
};

/// The shapes of one pool, sorted by the begin of their lives.
struct placement_shapes {
    std::vector<placement_shape> shapes;
    std::vector<std::uint32_t> first_piece{0}; ///< by shape, and one more
    std::vector<shape_piece> pieces;           ///< by shape, ascending in time
    std::vector<shape_part> parts;             ///< ascending by shape; not those that need no bytes
    std::vector<step_id> positions;            ///< by rank: the position
    shape_fault fault = shape_fault::none;
    buffer_id buffer = no_buffer;
    buffer_id other = no_buffer;

    [[nodiscard]] std::size_t size() const { return shapes.size(); }
    [[nodiscard]] std::span<shape_piece const> pieces_of(std::uint32_t s) const
    {
        return {pieces.data() + first_piece[s], pieces.data() + first_piece[s + 1]};
    }
    /// One rectangle, from its origin up: all that its life and size say.
    [[nodiscard]] bool is_plain(std::uint32_t s) const
    {
        return first_piece[s + 1] - first_piece[s] == 1 && pieces[first_piece[s]].begin == 0 &&
               pieces[first_piece[s]].end == shapes[s].size;
    }
};

/// How far above the origin of `below` that of `above` must be: not at all (`meets` is false) if they have no
/// position in common, and perhaps below it, if windows leave room.
struct shape_reach {
    bool meets = false;
    std::int64_t distance = 0;
};

/// Complexity: O(pieces of both).
template <std::same_as<placement_shapes> Shapes>
[[nodiscard]] shape_reach reach(Shapes const& all, std::uint32_t below, std::uint32_t above)
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

/// The lowest origin at or above `offset` that the shape may have, without its pin; `no_offset` beyond 64
/// bits.
[[nodiscard]] constexpr byte_count align_up(byte_count offset, placement_shape const& shape) noexcept
{
    if (shape.alignment == 1) return offset;
    if (offset <= shape.phase) return shape.phase;
    byte_count const up = align_up(offset - shape.phase, shape.alignment);
    return up != no_offset && sum_fits(up, shape.phase) ? up + shape.phase : no_offset;
}

namespace detail {

/// All parts of one piece of storage: which buffers, and how far above the lowest.
struct storage_groups {
    std::vector<std::uint32_t> first{0}; ///< by group
    std::vector<shape_part> parts;       ///< `shape` is the group
    shape_fault fault = shape_fault::none;
    buffer_id buffer = no_buffer, other = no_buffer;
};

/// Follow the anchors from one member of each group to all others.
template <class Member>
storage_groups group_colocated(std::size_t buffers, std::vector<Member> const& members,
                               std::vector<colocation> const& colocated)
{
    storage_groups result;
    result.first.reserve(members.size() + 1);
    result.parts.reserve(members.size());
    auto close = [&] { result.first.push_back(static_cast<std::uint32_t>(result.parts.size())); };
    if (colocated.empty()) {
        for (std::uint32_t i = 0; i != members.size(); ++i) {
            result.parts.push_back({i, members[i], 0});
            close();
        }
        return result;
    }
    struct link {
        buffer_id to;
        std::int64_t up;
    };
    std::vector<std::uint32_t> first(buffers + 1, 0);
    for (colocation const& c : colocated) {
        SUBLET_EXPECTS(c.buffer < buffers && c.anchor < buffers, "sublet: a colocated buffer does not exist");
        SUBLET_EXPECTS(c.distance < byte_count{1} << 62, "sublet: a distance is too large");
        ++first[c.buffer + 1];
        ++first[c.anchor + 1];
    }
    for (std::size_t b = 0; b != buffers; ++b) first[b + 1] += first[b];
    std::vector<link> links(first[buffers]);
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (colocation const& c : colocated) {
        auto const up = static_cast<std::int64_t>(c.distance);
        links[next[c.anchor]++] = {c.buffer, up};
        links[next[c.buffer]++] = {c.anchor, -up};
    }
    std::vector<unsigned char> is_member(buffers, 0), is_reached(buffers, 0);
    std::vector<std::int64_t> height(buffers, 0);
    for (buffer_id b : members) is_member[b] = 1;
    std::vector<buffer_id> found;
    for (buffer_id b : members) {
        if (is_reached[b]) continue;
        is_reached[b] = 1;
        found.assign(1, b);
        std::int64_t lowest = 0;
        for (std::size_t i = 0; i != found.size(); ++i) {
            buffer_id const u = found[i];
            if (height[u] < lowest) lowest = height[u];
            for (std::uint32_t k = first[u]; k != first[u + 1]; ++k) {
                auto const [v, up] = links[k];
                if (is_reached[v]) {
                    if (height[v] == height[u] + up || result.fault != shape_fault::none) continue;
                    result.fault = shape_fault::parts_clash;
                    result.buffer = u;
                    result.other = v;
                    continue;
                }
                SUBLET_EXPECTS(is_member[v] != 0, "sublet: colocated buffers are in different pools");
                is_reached[v] = 1;
                height[v] = height[u] + up;
                found.push_back(v);
            }
        }
        auto const group = static_cast<std::uint32_t>(result.first.size() - 1);
        for (buffer_id u : found)
            result.parts.push_back({group, u, static_cast<byte_count>(height[u] - lowest)});
        close();
    }
    return result;
}

/// The least common multiple of both alignments, with the phase that satisfies both; false if there is none.
template <std::same_as<placement_shape> Shape>
bool combine_phase(Shape& shape, byte_count alignment, byte_count phase)
{
    byte_count const all = combine_alignment(shape.alignment, alignment);
    if (shape.alignment < alignment) { // walk in the coarser of the two: at most the other's number of steps
        std::swap(shape.alignment, alignment);
        std::swap(shape.phase, phase);
    }
    byte_count at = shape.phase;
    for (; at < all && at % alignment != phase; at += shape.alignment) {}
    shape.phase = at;
    shape.alignment = all;
    return at < all;
}

/// What of a buffer is solid: its life without its gaps, and their windows.  O(gaps log gaps)
template <class Buffer>
void list_pieces(Buffer const& b, byte_count distance, std::vector<buffer_gap>& gaps,
                 std::vector<shape_piece>& pieces)
{
    sort_by(gaps, [](buffer_gap const& x, buffer_gap const& y) { return x.when.first < y.when.first; });
    live_range rest = b.life;
    auto add = [&](live_range when, byte_count begin, byte_count end) {
        if (!is_empty(when) && begin < end) pieces.push_back({when, distance + begin, distance + end});
    };
    for (buffer_gap const& g : gaps) {
        SUBLET_EXPECTS(g.begin <= g.end && g.end <= b.size, "sublet: a window is not within its buffer");
        live_range const when{larger(g.when.first, b.life.first), smaller(g.when.last, b.life.last)};
        if (is_empty(when)) continue;
        SUBLET_EXPECTS(rest.first <= when.first, "sublet: two gaps of a buffer meet");
        add({rest.first, when.first}, 0, b.size);
        add(when, g.begin, g.end);
        rest.first = when.last;
    }
    add(rest, 0, b.size);
}

/// Replace pieces that overlap in time by one at a position: from the lowest byte to the highest.
template <class Piece>
void merge_pieces(std::vector<Piece>& pieces)
{
    std::vector<step_id> cuts;
    for (Piece const& p : pieces) {
        cuts.push_back(p.when.first);
        cuts.push_back(p.when.last);
    }
    sort_ascending(cuts);
    std::size_t distinct = 0;
    for (step_id c : cuts)
        if (distinct == 0 || cuts[distinct - 1] != c) cuts[distinct++] = c;
    cuts.resize(distinct);
    auto rank = [&](step_id at) {
        return first_that(distinct, [&](std::size_t i) { return cuts[i] >= at; });
    };
    // Who paints first stays: the lowest begins, then, in a second round, the highest ends.
    std::vector<byte_count> begin(distinct, no_offset), end(distinct, 0);
    std::vector<std::size_t> next(distinct + 1);
    auto unpainted = [&](std::size_t at) {
        while (next[at] != at) at = next[at] = next[next[at]];
        return at;
    };
    auto paint = [&](std::vector<byte_count>& colors, auto color) {
        for (std::size_t i = 0; i != next.size(); ++i) next[i] = i;
        for (Piece const& p : pieces)
            for (std::size_t at = unpainted(rank(p.when.first)), last = rank(p.when.last); at < last;
                 at = unpainted(at)) {
                colors[at] = color(p);
                next[at] = at + 1;
            }
    };
    sort_by(pieces, [](Piece const& a, Piece const& b) { return a.begin < b.begin; });
    paint(begin, [](Piece const& p) { return p.begin; });
    sort_by(pieces, [](Piece const& a, Piece const& b) { return a.end > b.end; });
    paint(end, [](Piece const& p) { return p.end; });
    pieces.clear();
    for (std::size_t i = 0; i + 1 < distinct; ++i) {
        if (end[i] == 0) continue;
        bool const goes_on = !pieces.empty() && pieces.back().when.last == cuts[i] &&
                             pieces.back().begin == begin[i] && pieces.back().end == end[i];
        if (goes_on) pieces.back().when.last = cuts[i + 1];
        else pieces.push_back({{cuts[i], cuts[i + 1]}, begin[i], end[i]});
    }
}

/// Positions by rank, and all pieces and lives in ranks. Where positions are dense their ranks are counted,
/// otherwise sorted.
template <std::same_as<placement_shapes> Shapes>
void rank_positions(Shapes& all)
{
    step_id last = 0;
    for (shape_piece const& p : all.pieces) last = larger(last, p.when.last);
    std::vector<step_id> rank;
    if (last / 16 <= all.pieces.size()) {
        rank.assign(std::size_t{last} + 1, 0);
        for (shape_piece const& p : all.pieces) rank[p.when.first] = rank[p.when.last] = 1;
        for (step_id at = 0; at != rank.size(); ++at)
            if (rank[at] != 0) {
                rank[at] = static_cast<step_id>(all.positions.size());
                all.positions.push_back(at);
            }
    } else {
        for (shape_piece const& p : all.pieces) {
            all.positions.push_back(p.when.first);
            all.positions.push_back(p.when.last);
        }
        sort_ascending(all.positions);
        std::size_t distinct = 0;
        for (step_id at : all.positions)
            if (distinct == 0 || all.positions[distinct - 1] != at) all.positions[distinct++] = at;
        all.positions.resize(distinct);
    }
    auto rank_of = [&](step_id at) {
        if (!rank.empty()) return rank[at];
        return static_cast<step_id>(
            first_that(all.positions.size(), [&](std::size_t i) { return all.positions[i] >= at; }));
    };
    for (shape_piece& p : all.pieces) p.when = {rank_of(p.when.first), rank_of(p.when.last)};
}

} // namespace detail

/// The shapes of `members`, which are buffers of one pool.
///
/// Requires:   members are distinct; whoever is colocated with a member is one.
/// Ensures:    buffers of 0 bytes or an empty life, or nothing but gaps, are in no shape, unless they are
///             colocated with others that are. If `fault` is not none, the shapes are not complete.
/// Complexity: O(n log n) time, O(n + buffers of the problem) memory, n = members, gaps and colocations.
/// Throws:     precondition_error for an alignment of 0, a size of `no_size`, a window outside of its buffer,
///             gaps that meet, colocation across pools, and sums that exceed 64 bits.
template <std::same_as<placement_problem> Problem>
[[nodiscard]] placement_shapes shapes_of(Problem const& problem, std::vector<buffer_id> const& members,
                                         pool_limits limits = {})
{
    std::size_t const buffers = problem.buffers.size();
    SUBLET_EXPECTS(limits.alignment >= 1, "sublet: an alignment is at least 1");
    std::vector<std::uint32_t> first_gap;
    std::vector<buffer_gap> gaps; // by buffer
    if (!problem.gaps.empty()) {
        first_gap.assign(buffers + 1, 0);
        for (buffer_gap const& g : problem.gaps) {
            SUBLET_EXPECTS(g.buffer < buffers, "sublet: a gap is one of no buffer");
            ++first_gap[g.buffer + 1];
        }
        for (std::size_t b = 0; b != buffers; ++b) first_gap[b + 1] += first_gap[b];
        std::vector<std::uint32_t> next(first_gap.begin(), first_gap.end() - 1);
        gaps.resize(problem.gaps.size());
        for (buffer_gap const& g : problem.gaps) gaps[next[g.buffer]++] = g;
    }
    detail::storage_groups const groups = detail::group_colocated(buffers, members, problem.colocated);

    placement_shapes listed; // by group; sorted below
    listed.fault = groups.fault;
    listed.buffer = groups.buffer;
    listed.other = groups.other;
    std::vector<buffer_gap> own;
    std::vector<shape_piece> pieces;
    auto fails = [&](shape_fault fault, buffer_id buffer, buffer_id other) {
        if (listed.fault != shape_fault::none) return;
        listed.fault = fault;
        listed.buffer = buffer;
        listed.other = other;
    };
    std::vector<shape_part> parts;
    listed.shapes.reserve(groups.first.size());
    listed.pieces.reserve(groups.first.size());
    listed.first_piece.reserve(groups.first.size());
    parts.reserve(groups.parts.size());
    for (std::size_t g = 0; g + 1 != groups.first.size(); ++g) {
        placement_shape shape;
        buffer_id pinned_by = no_buffer, aligned_by = no_buffer;
        std::size_t const first_part = parts.size();
        pieces.clear();
        for (std::uint32_t k = groups.first[g]; k != groups.first[g + 1]; ++k) {
            auto const [group, who, distance] = groups.parts[k];
            placement_buffer const& b = problem.buffers[who];
            SUBLET_EXPECTS(b.alignment >= 1, "sublet: an alignment is at least 1");
            SUBLET_EXPECTS(b.size != no_size, "sublet: a buffer of unknown size cannot be placed");
            if (b.size == 0 || is_empty(b.life)) continue;
            SUBLET_EXPECTS(b.size < byte_count{1} << 62, "sublet: a buffer is too large");
            own.clear();
            if (!first_gap.empty())
                own.assign(gaps.begin() + first_gap[who], gaps.begin() + first_gap[who + 1]);
            detail::list_pieces(b, distance, own, pieces);
            shape.size = larger(shape.size, checked_add(distance, b.size));
            byte_count const alignment = combine_alignment(b.alignment, limits.alignment);
            byte_count const below = distance % alignment;
            if (!detail::combine_phase(shape, alignment, below == 0 ? 0 : alignment - below))
                fails(shape_fault::parts_clash, who, aligned_by);
            aligned_by = who;
            if (b.pinned != no_offset) {
                SUBLET_EXPECTS(sum_fits(b.pinned, b.size) && b.pinned + b.size < byte_count{1} << 62,
                               "sublet: a pinned buffer ends beyond 62 bits");
                if (b.pinned % alignment != 0) fails(shape_fault::pin_misaligned, who, no_buffer);
                if (b.pinned < distance || (pinned_by != no_buffer && shape.pinned != b.pinned - distance))
                    fails(shape_fault::parts_clash, who, pinned_by);
                shape.pinned = b.pinned - distance;
                pinned_by = who;
            }
            if (b.preferred != no_offset && b.preferred >= distance) shape.preferred = b.preferred - distance;
            parts.push_back({static_cast<std::uint32_t>(listed.shapes.size()), who, distance});
        }
        if (groups.first[g + 1] - groups.first[g] > 1) detail::merge_pieces(pieces);
        if (pieces.empty()) {
            parts.resize(first_part);
            continue;
        }
        if (shape.pinned != no_offset && shape.pinned % shape.alignment != shape.phase % shape.alignment)
            fails(shape_fault::pin_misaligned, pinned_by, no_buffer);
        for (shape_piece const& p : pieces) listed.pieces.push_back(p);
        listed.first_piece.push_back(static_cast<std::uint32_t>(listed.pieces.size()));
        listed.shapes.push_back(shape);
    }
    detail::rank_positions(listed);

    placement_shapes result;
    result.fault = listed.fault;
    result.buffer = listed.buffer;
    result.other = listed.other;
    result.positions = std::move(listed.positions);
    std::size_t const n = listed.size();
    std::vector<std::uint32_t> order(n), next(result.positions.size() + 1, 0), new_number(n);
    auto birth = [&](std::size_t s) { return listed.pieces[listed.first_piece[s]].when.first; };
    for (std::size_t s = 0; s != n; ++s) ++next[birth(s) + 1];
    for (std::size_t p = 0; p + 1 < next.size(); ++p) next[p + 1] += next[p];
    for (std::uint32_t s = 0; s != n; ++s) order[next[birth(s)]++] = s;
    result.shapes.reserve(n);
    result.first_piece.reserve(n + 1);
    result.pieces.reserve(listed.pieces.size());
    for (std::uint32_t s : order) {
        new_number[s] = static_cast<std::uint32_t>(result.shapes.size());
        auto const mine = listed.pieces_of(s);
        for (shape_piece const& p : mine) result.pieces.push_back(p);
        result.first_piece.push_back(static_cast<std::uint32_t>(result.pieces.size()));
        result.shapes.push_back(listed.shapes[s]);
        result.shapes.back().life = {mine.front().when.first, mine.back().when.last};
    }
    std::vector<std::uint32_t> first_part(n + 1, 0);
    for (shape_part const& p : parts) ++first_part[new_number[p.shape] + 1];
    for (std::size_t s = 0; s != n; ++s) first_part[s + 1] += first_part[s];
    result.parts.resize(parts.size());
    for (shape_part const& p : parts)
        result.parts[first_part[new_number[p.shape]]++] = {new_number[p.shape], p.buffer, p.distance};
    return result;
}

} // namespace sublet

#endif
