// SPDX-License-Identifier: BSL-1.0
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

// --- pieces ----------------------------------------------------------------------------------------------

namespace sublet::detail {

template <class Item>
void sort_and_merge(std::vector<Item>& items, step_poll const& poll)
{
    constexpr std::size_t part = 1u << 14;
    std::size_t const n = items.size();
    auto from = [&](std::size_t i) { return items.begin() + static_cast<std::ptrdiff_t>(smaller(i, n)); };
    for (std::size_t i = 0; i < n && !poll.stops(4 * smaller(n - i, part)); i += part)
        std::sort(from(i), from(i + part));
    // Not std::inplace_merge: libstdc++ 12 takes its buffer from a function that clang 19 reports as
    // deprecated.
    std::vector<Item> merged(n <= part ? 0 : n);
    for (std::size_t width = part; width < n; width *= 2) {
        auto to = merged.begin();
        for (std::size_t i = 0; i < n; i += 2 * width) {
            if (poll.stops(2 * smaller(n - i, width))) return;
            to = std::merge(from(i), from(i + width), from(i + width), from(i + 2 * width), to);
        }
        items.swap(merged);
    }
}

SUBLET_DECL void sort_in_parts(std::vector<sort_key>& items, step_poll const& poll)
{
    sort_and_merge(items, poll);
}

SUBLET_DECL void keep_distinct(std::vector<position_id>& positions, step_poll const& poll = {})
{
    sort_and_merge(positions, poll);
    std::size_t distinct = 0;
    for (position_id at : positions)
        if (distinct == 0 || positions[distinct - 1] != at) positions[distinct++] = at;
    shorten(positions, distinct);
}

SUBLET_DECL std::vector<sort_key> gaps_in_order(placement_problem const& problem,
                                                std::vector<buffer_id> const& members, step_poll const& poll)
{
    std::vector<sort_key> order;
    if (problem.gaps.empty()) return order;
    table<buffer_id, unsigned char> is_member;
    if (members.size() != problem.buffers.size()) {
        is_member.assign(problem.buffers.size(), 0);
        for (buffer_id b : members) is_member[b] = 1;
    } else {
        order.reserve(problem.gaps.size());
    }
    for (std::size_t i = 0; i != problem.gaps.size() && !poll.stops(1); ++i) {
        placement_problem::gap const& g = problem.gaps[i];
        SUBLET_EXPECTS(g.buffer < problem.buffers.size(),
                       "sublet: a gap names buffer %, but there are only % buffers", g.buffer,
                       problem.buffers.size());
        if (is_member.empty() || is_member[g.buffer] != 0)
            order.push_back({g.buffer, g.when.first, static_cast<std::uint32_t>(i)});
    }
    if (order.size() <= 1u << 16) {
        sort_by_key(order);
        return order;
    }
    // Many: by buffer in one pass, so that little is done between two questions.
    bool is_ascending = true;
    std::vector<std::uint32_t> next(problem.buffers.size() + 1, 0);
    for (std::size_t i = 0; i != order.size() && !poll.stops(1); ++i) {
        is_ascending = is_ascending && (i == 0 || order[i - 1] < order[i]);
        ++next[to_size(order[i].key) + 1];
    }
    if (is_ascending) return order;
    for (std::size_t b = 1; b != next.size(); ++b) next[b] += next[b - 1];
    std::vector<sort_key> sorted(order.size());
    for (std::size_t i = 0; i != order.size() && !poll.stops(1); ++i)
        sorted[next[to_size(order[i].key)]++] = order[i];
    for (std::size_t first = 0, last = 0; first != sorted.size() && !poll.stops(last - first); first = last) {
        while (last != sorted.size() && sorted[last].key == sorted[first].key) ++last;
        std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(first),
                  sorted.begin() + static_cast<std::ptrdiff_t>(last));
    }
    return sorted;
}

SUBLET_DECL std::size_t append_pieces(placement_problem const& problem, std::vector<sort_key> const& gaps,
                                      buffer_id id, byte_count distance, std::vector<shape_piece>& pieces,
                                      std::size_t near)
{
    placement_problem::buffer const& b = problem.buffers[id];
    std::size_t const first = pieces.size();
    auto add = [&](live_range when, byte_count begin, byte_count end) {
        if (is_empty(when) || begin == end) return;
        shape_piece const next{when, distance + begin, distance + end};
        bool const continues = pieces.size() != first && pieces.back().when.last == when.first &&
                               pieces.back().begin == next.begin && pieces.back().end == next.end;
        if (continues) pieces.back().when.last = when.last;
        else pieces.push_back(next);
    };
    live_range rest = b.life;
    std::size_t at = near;
    if ((at != gaps.size() && gaps[at].key < id) || (at != 0 && gaps[at - 1].key >= id))
        at = partition_point(gaps.size(), [&](std::size_t i) { return gaps[i].key >= id; });
    for (; at != gaps.size() && gaps[at].key == id; ++at) {
        placement_problem::gap const& g = problem.gaps[gaps[at].id];
        SUBLET_EXPECTS(g.begin <= g.end && g.end <= b.size,
                       "sublet: a window of buffer % is from byte % to %, but the buffer has % bytes",
                       g.buffer, g.begin, g.end, b.size);
        live_range const when{larger(g.when.first, b.life.first), smaller(g.when.last, b.life.last)};
        if (is_empty(when)) continue;
        SUBLET_EXPECTS(rest.first <= when.first, "sublet: two gaps of buffer % overlap", g.buffer);
        add({rest.first, when.first}, 0, b.size);
        add(when, g.begin, g.end);
        rest.first = when.last;
    }
    add(rest, 0, b.size);
    return at;
}

SUBLET_DECL void merge_pieces(std::vector<shape_piece>& pieces)
{
    std::vector<position_id> cuts(2 * pieces.size());
    for (std::size_t i = 0; i != pieces.size(); ++i) {
        cuts[2 * i] = pieces[i].when.first;
        cuts[2 * i + 1] = pieces[i].when.last;
    }
    keep_distinct(cuts);
    auto rank = [&](position_id at) {
        return partition_point(cuts.size(), [&](std::size_t i) { return cuts[i] >= at; });
    };
    std::vector<byte_count> begin(cuts.size(), 0), end(cuts.size(), 0); // end == 0: unpainted
    std::vector<std::uint32_t> next(cuts.size()); // the first unpainted one at or after it
    auto unpainted = [&](std::size_t at) {
        while (next[at] != at) at = next[at] = next[next[at]];
        return at;
    };
    std::vector<sort_key> order(pieces.size());
    auto paint = [&](std::vector<byte_count>& colors, auto key, auto color) {
        for (std::uint32_t i = 0; i != pieces.size(); ++i) order[i] = {key(pieces[i]), 0, i};
        for (std::uint32_t i = 0; i != next.size(); ++i) next[i] = i;
        sort_by_key(order);
        for (sort_key const& o : order) {
            std::size_t const last = rank(pieces[o.id].when.last);
            for (std::size_t at = unpainted(rank(pieces[o.id].when.first)); at < last; at = unpainted(at)) {
                colors[at] = color(pieces[o.id]);
                ++next[at];
            }
        }
    };
    auto begin_of = [](shape_piece const& p) { return p.begin; };
    auto end_of = [](shape_piece const& p) { return p.end; };
    paint(begin, begin_of, begin_of);
    paint(
        end, [](shape_piece const& p) { return descending(p.end); }, end_of);
    pieces.clear();
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        if (end[i] == 0) continue;
        bool const continues = !pieces.empty() && pieces.back().when.last == cuts[i] &&
                               pieces.back().begin == begin[i] && pieces.back().end == end[i];
        if (continues) pieces.back().when.last = cuts[i + 1];
        else pieces.push_back({{cuts[i], cuts[i + 1]}, begin[i], end[i]});
    }
}

SUBLET_DECL table<position_id, position_id> rank_positions(std::vector<shape_piece>& pieces, step_poll const& poll)
{
    position_id last = 0;
    for (shape_piece const& p : pieces) last = larger(last, p.when.last);
    auto for_each_piece = [&](std::uint64_t steps, auto visit) {
        for (std::size_t i = 0; i != pieces.size() && !poll.stops(steps); ++i) visit(pieces[i]);
    };
    if (last / 16 <= pieces.size()) {
        table<position_id, position_id> rank(std::size_t{last} + 1, 0);
        for_each_piece(2, [&](shape_piece& p) { rank[p.when.first] = rank[p.when.last] = 1; });
        std::size_t used = 0;
        for (position_id is_used : rank) used += is_used;
        table<position_id, position_id> positions(used);
        position_id next = 0;
        for (position_id at = 0; at != rank.size() && !poll.stops(1); ++at)
            if (rank[at] != 0) {
                rank[at] = next;
                positions[next++] = at;
            }
        for_each_piece(2, [&](shape_piece& p) { p.when = {rank[p.when.first], rank[p.when.last]}; });
        return positions;
    }
    table<position_id, position_id> positions(2 * pieces.size());
    std::size_t ends = 0;
    for_each_piece(1, [&](shape_piece& p) {
        positions[ends++] = p.when.first;
        positions[ends++] = p.when.last;
    });
    keep_distinct(positions, poll);
    auto rank_of = [&](position_id at) {
        return position_id::of(
            partition_point(positions.size(), [&](std::size_t i) { return positions[i] >= at; }));
    };
    for_each_piece(32, [&](shape_piece& p) { p.when = {rank_of(p.when.first), rank_of(p.when.last)}; });
    return positions;
}

// --- colocated -------------------------------------------------------------------------------------------

SUBLET_DECL colocated_groups group_colocated(placement_problem const& problem,
                                             std::vector<buffer_id> const& members, step_poll const& poll)
{
    std::size_t const buffers = problem.buffers.size();
    colocated_groups result;
    result.first.reserve(members.size() + 1);
    result.parts.reserve(members.size());
    auto needs_bytes = [&](buffer_id b) {
        return problem.buffers[b].size != 0 && !is_empty(problem.buffers[b].life);
    };
    auto end_group = [&] {
        auto const end = static_cast<std::uint32_t>(result.parts.size());
        if (end != result.first.back()) result.first.push_back(end);
    };
    if (problem.colocated.empty()) {
        for (buffer_id b : members) {
            if (poll.stops(1)) break;
            if (needs_bytes(b))
                result.parts.push_back({static_cast<std::uint32_t>(result.parts.size()), b, 0});
            end_group();
        }
        return result;
    }

    constexpr std::int64_t too_far = std::int64_t{1} << 62;
    table<buffer_id, std::uint32_t> first(buffers + 1, 0);
    for (placement_problem::colocation const& c : problem.colocated) {
        SUBLET_EXPECTS(c.buffer < buffers && c.anchor < buffers,
                       "sublet: buffer % is colocated with buffer %, but there are only % buffers", c.buffer,
                       c.anchor, buffers);
        SUBLET_EXPECTS(c.distance < byte_count{1} << 62, "sublet: the distance of buffer % is too large",
                       c.buffer);
        ++first[c.buffer + 1];
        ++first[c.anchor + 1];
    }
    for (std::size_t b = 0; b != buffers; ++b) first[b + 1] += first[b];
    std::vector<placement_problem::colocation> links(first[buffers]); // by anchor; distances wrap round
    table<buffer_id, std::uint32_t> next(first.begin(), first.end() - 1);
    for (placement_problem::colocation const& c : problem.colocated) {
        links[next[c.anchor]++] = c;
        links[next[c.buffer]++] = {c.anchor, c.buffer, byte_count{0} - c.distance};
    }
    table<buffer_id, unsigned char> is_member(buffers, 0), is_reached(buffers, 0);
    table<buffer_id, std::int64_t> height(buffers, 0);
    for (buffer_id b : members) is_member[b] = 1;
    std::vector<buffer_id> found;
    for (buffer_id b : members) {
        if (is_reached[b]) continue;
        if (poll.stops(8)) break;
        is_reached[b] = 1;
        found.assign(1, b);
        auto const group = static_cast<std::uint32_t>(result.first.size() - 1);
        std::int64_t lowest = too_far;
        std::size_t const broken_before = result.inconsistent.size();
        for (std::size_t i = 0; i != found.size(); ++i) {
            buffer_id const u = found[i];
            if (needs_bytes(u)) lowest = smaller(lowest, height[u]);
            for (std::uint32_t k = first[u]; k != first[u + 1]; ++k) {
                buffer_id const v = links[k].buffer;
                std::int64_t const required = height[u] + static_cast<std::int64_t>(links[k].distance);
                if (is_reached[v]) {
                    if (height[v] != required) result.inconsistent.push_back({group, u, v});
                    continue;
                }
                SUBLET_EXPECTS(is_member[v] != 0 || !needs_bytes(v),
                               "sublet: buffer % is colocated with others, in a different pool", v);
                SUBLET_EXPECTS(-too_far < required && required < too_far,
                               "sublet: the distance of buffer % is too large", v);
                is_reached[v] = 1;
                height[v] = required;
                found.push_back(v);
            }
        }
        if (lowest == too_far) { // no buffer of the group has bytes
            result.inconsistent.resize(broken_before);
            continue;
        }
        for (buffer_id u : found)
            if (needs_bytes(u))
                result.parts.push_back({group, u, static_cast<byte_count>(height[u] - lowest)});
        end_group();
    }
    return result;
}

// --- shapes ----------------------------------------------------------------------------------------------

SUBLET_DECL shape_separation min_separation(placement_shapes const& all, std::uint32_t below,
                                            std::uint32_t above)
{
    shape_separation result;
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

SUBLET_DECL bool has_common_byte(placement_shapes const& all, std::uint32_t shape)
{
    byte_count highest_begin = 0, lowest_end = no_limit;
    for (shape_piece const& p : all.pieces_of(shape)) {
        highest_begin = larger(highest_begin, p.begin);
        lowest_end = smaller(lowest_end, p.end);
    }
    return highest_begin < lowest_end;
}

SUBLET_DECL bool can_interleave(placement_shapes const& all, std::uint32_t a, std::uint32_t b)
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
    sort_ascending(distances);
    for (std::size_t i = 1; i < distances.size(); ++i) {
        if (distances[i].from >= distances[i - 1].to) return true;
        distances[i].to = larger(distances[i].to, distances[i - 1].to);
    }
    return false;
}

SUBLET_DECL bool can_only_be_stacked(placement_shapes const& all, std::vector<std::uint32_t> const& some)
{
    constexpr std::int64_t apart = std::int64_t{1} << 60;
    std::size_t const n = some.size();
    std::size_t with_common_byte = 0;
    byte_count largest = 0;
    for (std::uint32_t s : some) {
        with_common_byte += has_common_byte(all, s);
        largest = larger(largest, all.shapes[s].size);
    }
    if (with_common_byte == n) return true;
    if (n > 64 || largest >> 53 != 0) return false; // no sum of distances is as large as `apart`
    std::vector<std::int64_t> up(n * n, apart);     // least distance of the second above the first
    for (std::size_t a = 0; a != n; ++a)
        for (std::size_t b = 0; b != n; ++b) {
            if (a == b) continue;
            if (a < b && can_interleave(all, some[a], some[b])) return false;
            if (shape_separation const r = min_separation(all, some[a], some[b]); r.meets)
                up[a * n + b] = r.distance;
        }
    // A cycle is possible if its distances sum to 0 or less (Floyd, "Algorithm 97", CACM 5(6), 1962).
    for (std::size_t via = 0; via != n; ++via)
        for (std::size_t a = 0; a != n; ++a)
            for (std::size_t b = 0; b != n; ++b) {
                up[a * n + b] = smaller(up[a * n + b], up[a * n + via] + up[via * n + b]);
                if (a == b && up[a * n + b] <= 0) return false;
            }
    return true;
}

SUBLET_DECL void expect_placeable(placement_problem::buffer const& buffer, buffer_id id)
{
    SUBLET_EXPECTS(buffer.alignment >= 1, "sublet: the alignment of buffer % is 0, but has to be at least 1",
                   id);
    SUBLET_EXPECTS(buffer.size != no_size, "sublet: buffer %, of unknown size, cannot be placed", id);
    SUBLET_EXPECTS(buffer.size < byte_count{1} << 62, "sublet: buffer % has 2^62 bytes or more", id);
}

class shape_collector {
public:
    shape_collector(placement_problem const& problem, std::vector<buffer_id> const& members,
                    pool_limits const& limits, step_poll const& poll)
        : problem_(problem), limits_(limits), poll_(poll), gaps_(gaps_in_order(problem, members, poll)),
          groups_(group_colocated(problem, members, poll))
    {
        SUBLET_EXPECTS(limits.alignment >= 1,
                       "sublet: the alignment of a pool is 0, but has to be at least 1");
        std::size_t const groups = groups_.first.size() - 1;
        collected_.shapes.reserve(groups);
        collected_.pieces.reserve(groups + 2 * gaps_.size());
        collected_.first_piece.reserve(groups + 1);
        collected_.parts.reserve(groups_.parts.size());
    }

    placement_shapes collect()
    {
        auto inconsistent = groups_.inconsistent.begin();
        for (std::uint32_t g = 0; g + 1 != groups_.first.size(); ++g) {
            if (poll_.stops(4)) return {};
            bool const is_solid = add_pieces(g);
            for (; inconsistent != groups_.inconsistent.end() && inconsistent->key == g; ++inconsistent)
                if (is_solid)
                    record_fault(shape_fault::parts_clash, buffer_id::of(inconsistent->tie),
                                 inconsistent->id);
            if (is_solid) add_shape(g);
        }
        collected_.positions = rank_positions(collected_.pieces, poll_);
        return poll_.has_stopped() ? placement_shapes{} : sorted_by_start();
    }

private:
    using parts = std::span<shape_part const>;
    parts parts_of(std::uint32_t group) const
    {
        return {groups_.parts.data() + groups_.first[group], groups_.parts.data() + groups_.first[group + 1]};
    }
    /// The origins of the shape for which this part is aligned.
    residue_class allowed(shape_part const& part) const
    {
        byte_count const own = problem_.buffers[part.buffer].alignment;
        if (own == 1 && limits_.alignment == 1) return {}; // avoids divisions in the most common case
        return aligned_origins(part.distance, combine_alignment(own, limits_.alignment));
    }
    void record_fault(shape_fault fault, buffer_id buffer, buffer_id other)
    {
        if (collected_.fault != shape_fault::none) return;
        collected_.fault = fault;
        collected_.buffer = buffer;
        collected_.other = other;
    }

    /// False if the group has no solid part.
    bool add_pieces(std::uint32_t group)
    {
        parts const all = parts_of(group);
        std::vector<shape_piece>& pieces = all.size() == 1 ? collected_.pieces : group_pieces_;
        group_pieces_.clear();
        for (shape_part const& part : all) {
            placement_problem::buffer const& b = problem_.buffers[part.buffer];
            expect_placeable(b, part.buffer);
            SUBLET_EXPECTS(part.distance < too_large - b.size, "sublet: buffer % has 2^62 bytes or more",
                           part.buffer);
            next_gap_ = append_pieces(problem_, gaps_, part.buffer, part.distance, pieces, next_gap_);
        }
        if (!group_pieces_.empty()) merge_pieces(group_pieces_);
        for (shape_piece const& p : group_pieces_) collected_.pieces.push_back(p);
        auto const end = static_cast<std::uint32_t>(collected_.pieces.size());
        if (end == collected_.first_piece.back()) return false;
        collected_.first_piece.push_back(end);
        return true;
    }

    void add_shape(std::uint32_t group)
    {
        placement_shape shape;
        residue_class origins;
        parts const all = parts_of(group);
        shape_part const* pinned = nullptr;
        for (shape_part const& part : all) {
            placement_problem::buffer const& b = problem_.buffers[part.buffer];
            shape.size = larger(shape.size, part.distance + b.size);
            residue_class const own = allowed(part);
            if (own.alignment != 1 && !restrict_to(origins, own)) record_incompatible(part, own, all);
            if (b.pinned != no_offset) {
                SUBLET_EXPECTS(b.pinned < too_large - b.size,
                               "sublet: buffer %, which is pinned, ends beyond 62 bits", part.buffer);
                if (b.pinned % own.alignment != 0)
                    record_fault(shape_fault::pin_misaligned, part.buffer, no_buffer);
                byte_count const origin = b.pinned - part.distance;
                if (pinned != nullptr && origin != shape.pinned)
                    record_fault(shape_fault::parts_clash, part.buffer, pinned->buffer);
                shape.pinned = origin;
                pinned = &part;
            }
            if (b.preferred != no_offset && b.preferred >= part.distance)
                shape.preferred = b.preferred - part.distance;
            collected_.parts.push_back(
                {static_cast<std::uint32_t>(collected_.shapes.size()), part.buffer, part.distance});
        }
        if (pinned != nullptr) check_pin(*pinned, all);
        shape.alignment = origins.alignment;
        shape.phase = origins.phase;
        collected_.shapes.push_back(shape);
    }

    /// Finds an earlier part with an alignment that alone is incompatible with that of `part`.
    void record_incompatible(shape_part const& part, residue_class const& own, parts all)
    {
        for (shape_part const& other : all) {
            residue_class origins = allowed(other);
            if (restrict_to(origins, own)) continue;
            record_fault(shape_fault::parts_clash, part.buffer, other.buffer);
            return;
        }
    }

    /// Checks that all parts are aligned if `pinned` is at its pin.
    void check_pin(shape_part const& pinned, parts all)
    {
        byte_count const pin = problem_.buffers[pinned.buffer].pinned;
        for (shape_part const& part : all) {
            bool const is_below = pin + part.distance < pinned.distance;
            byte_count const at = pin + part.distance - pinned.distance;
            if (is_below || at % allowed(part).alignment != 0)
                record_fault(shape_fault::parts_clash, pinned.buffer, part.buffer);
        }
    }

    placement_shapes sorted_by_start()
    {
        placement_shapes result;
        result.fault = collected_.fault;
        result.buffer = collected_.buffer;
        result.other = collected_.other;
        std::size_t const n = collected_.size();
        std::vector<std::uint32_t> order(n), number(n);
        table<position_id, std::uint32_t> next(collected_.positions.size() + 1, 0);
        auto start_of = [&](std::size_t s) {
            return collected_.pieces[collected_.first_piece[s]].when.first;
        };
        for (std::size_t s = 0; s != n && !poll_.stops(1); ++s) ++next[start_of(s) + 1];
        for (std::size_t p = 0; p + 1 < next.size(); ++p) next[p + 1] += next[p];
        for (std::uint32_t s = 0; s != n && !poll_.stops(1); ++s) order[next[start_of(s)]++] = s;
        result.positions = std::move(collected_.positions);
        result.shapes.reserve(n);
        result.first_piece.reserve(n + 1);
        result.pieces.reserve(collected_.pieces.size());
        for (std::uint32_t s : order) {
            if (poll_.stops(4)) return result;
            number[s] = static_cast<std::uint32_t>(result.shapes.size());
            auto const own = collected_.pieces_of(s);
            for (shape_piece const& p : own) result.pieces.push_back(p);
            result.first_piece.push_back(static_cast<std::uint32_t>(result.pieces.size()));
            result.shapes.push_back(collected_.shapes[s]);
            result.shapes.back().life = {own.front().when.first, own.back().when.last};
        }
        std::vector<std::uint32_t> first_part(n + 1, 0);
        for (shape_part const& p : collected_.parts) ++first_part[number[p.shape] + 1];
        for (std::size_t s = 0; s != n; ++s) first_part[s + 1] += first_part[s];
        result.parts.resize(collected_.parts.size());
        for (shape_part const& p : collected_.parts) {
            if (poll_.stops(2)) return result;
            result.parts[first_part[number[p.shape]]++] = {number[p.shape], p.buffer, p.distance};
        }
        return result;
    }

    static constexpr byte_count too_large = byte_count{1} << 62;

    placement_problem const& problem_;
    pool_limits const& limits_;
    step_poll const& poll_;
    std::vector<sort_key> const gaps_;
    std::size_t next_gap_ = 0; // after those of the last buffer
    colocated_groups const groups_;
    placement_shapes collected_; // by group
    std::vector<shape_piece> group_pieces_;
};

SUBLET_DECL placement_shapes shapes_of(placement_problem const& problem,
                                       std::vector<buffer_id> const& members, pool_limits limits,
                                       step_poll const& poll)
{
    return shape_collector(problem, members, limits, poll).collect();
}

// --- bound -----------------------------------------------------------------------------------------------

SUBLET_DECL void sort_descending(std::vector<std::uint32_t>& ids, std::vector<byte_count> const& key,
                                 step_poll const& poll)
{
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

/// Raises the bound by the padding of the common alignment.
SUBLET_DECL void add_padding(placement_shapes const& all, placement_bound& bound, step_poll const& poll)
{
    byte_count const unit = common_alignment(all);
    if (unit <= 1 || unit > (byte_count{1} << 61) / all.pieces.size()) return; // sums stay below 2^62
    auto number = [](byte_count bytes) { return static_cast<std::int64_t>(bytes); };
    auto rounded = [&](shape_piece const& p) { return number(align_up(p.end, unit)); };
    // By rank: the sum of the rounded heights. Painted by falling padding; the first paint stays.
    std::size_t const ranks = all.positions.size();
    table<position_id, std::int64_t> load(ranks, 0), padding(ranks, 0);
    std::vector<sort_key> by_padding;
    std::vector<std::uint32_t> shape_of(all.pieces.size()), unpainted(ranks + 1);
    for (std::uint32_t s = 0; s != all.size(); ++s)
        for (std::uint32_t i = all.first_piece[s]; i != all.first_piece[s + 1]; ++i) {
            if (poll.stops(4)) return;
            shape_piece const& p = all.pieces[i];
            std::int64_t const height = rounded(p) - number(p.begin);
            load[p.when.first] += height;
            load[p.when.last] -= height;
            shape_of[i] = s;
            // Less than 0 if the shape ends higher at other positions.
            auto const rest = rounded(p) - number(all.shapes[s].size);
            by_padding.push_back({descending(static_cast<byte_count>(rest) + (byte_count{1} << 62)), 0, i});
        }
    sort_in_parts(by_padding, poll);
    for (std::uint32_t r = 0; r <= ranks; ++r) unpainted[r] = r;
    auto next_unpainted = [&](std::uint32_t r) {
        while (unpainted[r] != r) r = unpainted[r] = unpainted[unpainted[r]];
        return r;
    };
    for (sort_key const& k : by_padding) {
        if (poll.stops(4)) return;
        shape_piece const& p = all.pieces[k.id];
        for (std::uint32_t r = next_unpainted(p.when.first); r < p.when.last; r = next_unpainted(r)) {
            padding[r] = rounded(p) - number(all.shapes[shape_of[k.id]].size);
            unpainted[r] = r + 1;
        }
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

// --- stacks ----------------------------------------------------------------------------------------------

SUBLET_DECL byte_count least_stack(placement_shapes const& all, std::vector<std::uint32_t> const& some,
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

SUBLET_DECL bool raise_by_stacks(placement_shapes const& all, std::uint64_t work, placement_bound& bound,
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
