// SPDX-License-Identifier: BSL-1.0
/// Shapes of buffers: pieces of each group, one residue class and one pin for all of its parts; and whether
/// shapes can only be stacked.
#include <sublet/core/internal/alignment.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace sublet::detail {

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

SUBLET_COLD_DECL bool can_interleave(placement_shapes const& all, std::uint32_t a, std::uint32_t b)
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

SUBLET_COLD_DECL bool can_only_be_stacked(placement_shapes const& all, std::vector<std::uint32_t> const& some)
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

SUBLET_COLD_DECL placement_shapes shapes_of(placement_problem const& problem,
                                            std::vector<buffer_id> const& members, pool_limits limits,
                                            step_poll const& poll)
{
    return shape_collector(problem, members, limits, poll).collect();
}

} // namespace sublet::detail
