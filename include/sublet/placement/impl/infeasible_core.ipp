// SPDX-License-Identifier: BSL-1.0

/// Pins are compared from below by a skyline in a segment tree. A core is shortened by what is cheap
/// first: one shape without a place, two that cannot be stacked, the stack that proves the bound, the
/// least stack at one position; then a deletion filter that asks the exact search, the smallest shape
/// first.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/infeasible_core.hpp>
#include <sublet/placement/detail/portfolio.hpp>

#include <algorithm>
#include <optional>
#include <utility>

// --- conflicting pins ------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_COLD_DECL void skyline::paint(live_range when, skyline_top const& fresh)
{
    tree_.each(when, [&](std::size_t node) { raise(over_[node], fresh); });
    tree_.each(when, [&](std::size_t node) { raise(within_[node], fresh); });
    tree_.each_over_ends(when, [&](std::size_t node) { return raise(within_[node], fresh), true; });
}

SUBLET_COLD_DECL skyline::skyline_top skyline::highest(live_range when) const
{
    skyline_top most;
    tree_.each(when, [&](std::size_t node) { raise(most, within_[node]); });
    tree_.each_over_ends(when, [&](std::size_t node) { return raise(most, over_[node]), true; });
    return most;
}

SUBLET_COLD_DECL clashing_pair clashing_pins(placement_shapes const& all)
{
    std::vector<sort_key> from_below; // {begin, , piece}
    std::vector<std::uint32_t> shape_of;
    for (std::uint32_t s = 0; s != all.size(); ++s)
        if (all.shapes[s].pinned != no_offset)
            for (std::uint32_t p = all.first_piece[s]; p != all.first_piece[s + 1]; ++p) {
                from_below.push_back({all.shapes[s].pinned + all.pieces[p].begin, p,
                                      static_cast<std::uint32_t>(shape_of.size())});
                shape_of.push_back(s);
            }
    if (from_below.empty()) return {};
    sort_by_key(from_below);
    skyline tops(all.positions.size());
    for (sort_key const& k : from_below) {
        std::uint32_t const s = shape_of[k.id];
        shape_piece const& piece = all.pieces[static_cast<std::size_t>(k.tie)];
        if (auto const skyline_top = tops.highest(piece.when); skyline_top.top > k.key)
            return {true, smaller(skyline_top.id, s), larger(skyline_top.id, s)};
        tops.paint(piece.when, {all.shapes[s].pinned + piece.end, s});
    }
    return {};
}

// --- subset ----------------------------------------------------------------------------------------------

SUBLET_COLD_DECL placement_shapes subset_of(placement_shapes const& all,
                                            std::vector<std::uint32_t> const& chosen)
{
    placement_shapes some;
    some.positions = all.positions;
    std::vector<std::uint32_t> number(all.size(), no_shape);
    for (std::uint32_t s : chosen) {
        number[s] = static_cast<std::uint32_t>(some.size());
        some.shapes.push_back(all.shapes[s]);
        for (shape_piece const& piece : all.pieces_of(s)) some.pieces.push_back(piece);
        some.first_piece.push_back(static_cast<std::uint32_t>(some.pieces.size()));
    }
    for (shape_part const& part : all.parts)
        if (number[part.shape] != no_shape)
            some.parts.push_back({number[part.shape], part.buffer, part.distance});
    return some;
}

// --- infeasible core -------------------------------------------------------------------------------------

/// The lowest origin of a shape from `from` on within the capacity; `no_offset` if there is none.
SUBLET_COLD_DECL byte_count lowest_place(placement_shape const& shape, byte_count from, byte_count capacity)
{
    byte_count at = align_up(from, shape);
    if (shape.pinned != no_offset) at = at <= shape.pinned ? shape.pinned : no_offset;
    return at <= capacity && shape.size <= capacity - at ? at : no_offset;
}

/// Whether `above` can be stacked on `below`, and both within the capacity.
SUBLET_COLD_DECL bool can_stack(placement_shapes const& all, std::uint32_t below, std::uint32_t above,
                                byte_count capacity)
{
    byte_count const at = lowest_place(all.shapes[below], 0, capacity);
    shape_separation const up = min_separation(all, below, above);
    if (at == no_offset || !up.meets) return at != no_offset;
    auto const from = larger(static_cast<std::int64_t>(at) + up.distance, std::int64_t{0});
    return lowest_place(all.shapes[above], static_cast<byte_count>(from), capacity) != no_offset;
}

/// The core of shapes that are live at one rank and cannot be stacked there, by least_stack(); or none. It is
/// minimal for rectangles, if the work suffices.
SUBLET_COLD_DECL std::optional<infeasible_core> minimize_stack(placement_shapes const& all,
                                                               byte_count capacity,
                                                               std::vector<std::uint32_t> core,
                                                               search_control& control)
{
    if (core.empty()) return std::nullopt;
    position_id rank = 0; // the last begin
    for (std::uint32_t s : core) rank = larger(rank, all.pieces_of(s).front().when.first);
    bool is_exact = true; // the shapes are rectangles
    for (std::uint32_t s : core) {
        bool is_live = false;
        for (shape_piece const& p : all.pieces_of(s)) is_live = is_live || contains(p.when, rank);
        if (!is_live) return std::nullopt;
        is_exact = is_exact && all.is_plain(s);
    }
    step_poll const poll(control);
    std::uint64_t work = 4 * max_stack_work;
    if (least_stack(all, core, rank, work, poll) <= capacity) return std::nullopt;
    infeasible_core result{core, is_exact};
    // The smallest first, as they are least likely to be needed.
    std::sort(core.begin(), core.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::pair{all.shapes[a].size, a} < std::pair{all.shapes[b].size, b};
    });
    for (std::uint32_t s : core) {
        if (control.stop(no_limit, 0, 0)) {
            result.is_minimal = false;
            break;
        }
        std::vector<std::uint32_t> rest;
        for (std::uint32_t other : result.shapes)
            if (other != s) rest.push_back(other);
        byte_count const least = least_stack(all, rest, rank, work, poll);
        result.is_minimal = result.is_minimal && (least != 0 || rest.empty());
        if (least > capacity) result.shapes = std::move(rest);
    }
    return result;
}

SUBLET_COLD_DECL infeasible_core minimize_core(placement_shapes const& all, byte_count capacity,
                                               std::vector<std::uint32_t> core, std::uint64_t nodes,
                                               search_control& control)
{
    step_poll const poll(control);
    for (std::uint32_t s : core)
        if (lowest_place(all.shapes[s], 0, capacity) == no_offset) return {{s}};
    for (std::uint32_t a : core) {
        if (control.stop(no_limit, 0, 0)) return {std::move(core), false};
        for (std::uint32_t b : core)
            if (poll.stops(8 + all.pieces_of(a).size() + all.pieces_of(b).size()))
                return {std::move(core), false};
            else if (a < b && !can_stack(all, a, b, capacity) && !can_stack(all, b, a, capacity))
                return {{a, b}};
    }

    // Rectangles of one alignment that are live together, perhaps with gaps in time, can be stacked up to
    // their bound. Without one of them it is lower by at least its size: so if they are too high by no more
    // than that, none can be left out.
    if (placement_shapes const some = subset_of(all, core); some.size() != 0)
        if (placement_bound const bound = lower_bound(some, poll);
            bound.bytes > capacity && bound.kind == placement::proof::reason::exhausted) {
            byte_count const unit = common_alignment(some);
            bool is_minimal = true;
            std::vector<std::uint32_t> stacked;
            for (std::uint32_t s : bound.stacked) {
                placement_shape const& shape = some.shapes[s];
                is_minimal = is_minimal && shape.pinned == no_offset && shape.alignment == unit &&
                             shape.phase == 0 && shape.size >= bound.bytes - capacity;
                for (shape_piece const& p : some.pieces_of(s))
                    is_minimal = is_minimal && p.begin == 0 && p.end == shape.size;
                stacked.push_back(core[s]);
            }
            core = std::move(stacked);
            if (is_minimal) return {std::move(core)};
        }

    if (std::optional<infeasible_core> few = minimize_stack(all, capacity, core, control)) {
        if (few->is_minimal) return *few;
        core = std::move(few->shapes);
    }

    infeasible_core result{std::move(core)};
    std::vector<unsigned char> is_needed(all.size(), 0);
    for (;;) {
        std::uint32_t smallest = no_shape; // of those that may be superfluous
        for (std::uint32_t s : result.shapes)
            if (is_needed[s] == 0 &&
                (smallest == no_shape || all.shapes[s].size < all.shapes[smallest].size))
                smallest = s;
        if (smallest == no_shape) return result;
        if (result.nodes >= nodes || control.stop(no_limit, 0, result.nodes)) {
            result.is_minimal = false;
            return result;
        }
        is_needed[smallest] = 1;
        std::vector<std::uint32_t> rest;
        for (std::uint32_t s : result.shapes)
            if (s != smallest) rest.push_back(s);
        search_result const found =
            decide(subset_of(all, rest), capacity, {.nodes = nodes - result.nodes}, control);
        result.nodes += found.nodes;
        if (found.outcome == search_outcome::exhausted) {
            result.shapes.clear();
            for (std::uint32_t i : found.core) result.shapes.push_back(rest[i]);
        }
        if (found.outcome == search_outcome::limit) result.is_minimal = false;
    }
}

} // namespace sublet::detail
