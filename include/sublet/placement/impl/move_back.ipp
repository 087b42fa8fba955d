// SPDX-License-Identifier: BSL-1.0

/// Shapes are fixed where they were, of two that overlap the lighter is not, and the rest is placed around
/// them; while that is above the limit, more are unfixed, twice as many each time. At the end single shapes
/// are moved back, the heaviest first, by placing the others again, and then all
/// shapes of which the old bytes are free.

#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/infeasible_core.hpp>
#include <sublet/placement/detail/move_back.hpp>
#include <sublet/placement/detail/pack_shapes.hpp>

namespace sublet::detail {

/// Limit of trials to move single shapes back, the heaviest first.
inline constexpr std::size_t max_return_trials = 32;

SUBLET_DECL old_placement old_placement_of(placement_shapes const& all, placement_problem const& problem,
                                           table<buffer_id, byte_count> const& previous)
{
    old_placement former{std::vector<byte_count>(all.size(), no_offset),
                         std::vector<byte_count>(all.size(), 0)};
    std::vector<unsigned char> is_split(all.size(), 0);
    for (shape_part const& p : all.parts) {
        byte_count const before = previous[p.buffer];
        if (before == no_offset) continue;
        former.weight[p.shape] += problem.buffers[p.buffer].size;
        byte_count& old_origin = former.old_origin[p.shape];
        if (before < p.distance || (old_origin != no_offset && old_origin != before - p.distance))
            is_split[p.shape] = 1;
        else old_origin = before - p.distance;
    }
    for (std::size_t s = 0; s != all.size(); ++s) {
        byte_count& old_origin = former.old_origin[s];
        if (old_origin == no_offset) continue;
        bool const is_allowed =
            align_up(old_origin, all.shapes[s]) == old_origin && old_origin < byte_count{1} << 62;
        if (is_split[s] != 0 || !is_allowed) old_origin = no_offset;
    }
    return former;
}

/// Of two fixed shapes that overlap, unfixes the lighter, unless it is pinned. Pieces are painted from below
/// as in clashing_pins(); a shape may be hidden by one that is unfixed, so another round follows. Once `poll`
/// has stopped, some may still overlap.
SUBLET_DECL void unfix_conflicting(placement_shapes const& all, old_placement const& former,
                                   std::vector<unsigned char>& is_fixed, step_poll const& poll)
{
    auto is_present = [&](std::uint32_t s) { return is_fixed[s] != 0 || all.shapes[s].pinned != no_offset; };
    std::vector<sort_key> from_below; // {begin, piece, shape}
    for (std::uint32_t s = 0; s != all.size(); ++s)
        for (std::uint32_t p = all.first_piece[s]; is_present(s) && p != all.first_piece[s + 1]; ++p)
            from_below.push_back(
                {(is_fixed[s] != 0 ? former.old_origin[s] : all.shapes[s].pinned) + all.pieces[p].begin, p,
                 s});
    sort_in_parts(from_below, poll);
    for (bool again = true; again;) {
        again = false;
        skyline tops(all.positions.size());
        for (sort_key const& k : from_below) {
            if (poll.stops(32)) return;
            if (!is_present(k.id)) continue;
            shape_piece const& piece = all.pieces[static_cast<std::size_t>(k.tie)];
            auto const skyline_top = tops.highest(piece.when);
            if (skyline_top.top > k.key) {
                again = true;
                bool const unfixes_lower =
                    is_fixed[k.id] == 0 ||
                    (is_fixed[skyline_top.id] != 0 && former.weight[skyline_top.id] < former.weight[k.id]);
                if (is_present(skyline_top.id)) is_fixed[unfixes_lower ? skyline_top.id : k.id] = 0;
                if (!is_present(k.id)) continue;
            }
            tops.paint(piece.when, {k.key + (piece.end - piece.begin), k.id});
        }
    }
}

/// Unfixes the lightest fixed shapes, at most `count`, that are live together with a shape that ends above
/// `limit`. Returns whether there were any.
SUBLET_DECL bool unfix_neighbours(placement_shapes const& all, old_placement const& former,
                                  packing const& high, byte_count limit, std::size_t count,
                                  std::vector<unsigned char>& is_fixed)
{
    std::vector<live_range> too_high;
    for (std::uint32_t s = 0; s != all.size(); ++s)
        if (high.origin[s] + all.shapes[s].size > limit) too_high.push_back(all.shapes[s].life);
    std::vector<std::uint32_t> const below = covered_below(too_high, all.positions.size());
    std::vector<sort_key> neighbours;
    for (std::uint32_t s = 0; s != all.size(); ++s)
        if (live_range const life = all.shapes[s].life;
            is_fixed[s] != 0 && below[life.last] != below[life.first])
            neighbours.push_back({former.weight[s], 0, s});
    sort_by_key(neighbours);
    for (std::size_t i = 0; i != neighbours.size() && i != count; ++i) is_fixed[neighbours[i].id] = 0;
    return !neighbours.empty();
}

/// Moves shapes back that have nothing in their way, the heaviest first.
SUBLET_DECL void move_back_where_free(placement_shapes const& all, old_placement const& former,
                                      byte_count limit, std::vector<sort_key> const& displaced,
                                      packing& placed, step_poll const& poll)
{
    auto is_free = [&](std::uint32_t s, byte_count origin) {
        live_range const life = all.shapes[s].life;
        for (std::uint32_t other = 0; other != all.size(); ++other) {
            live_range const its = all.shapes[other].life;
            if (other == s || its.last <= life.first || life.last <= its.first) continue;
            for (shape_piece const& a : all.pieces_of(s))
                for (shape_piece const& b : all.pieces_of(other))
                    if (a.when.first < b.when.last && b.when.first < a.when.last &&
                        origin + a.begin < placed.origin[other] + b.end &&
                        placed.origin[other] + b.begin < origin + a.end)
                        return false;
        }
        return true;
    };
    for (bool again = true; again;) { // what moves back may free the place of another
        again = false;
        for (sort_key const& k : displaced) {
            byte_count const before = former.old_origin[k.id];
            if (placed.origin[k.id] == before || before > limit || all.shapes[k.id].size > limit - before)
                continue;
            if (poll.stops(all.pieces.size())) return;
            if (!is_free(k.id, before)) continue;
            placed.origin[k.id] = before;
            again = true;
        }
    }
    placed.height = 0;
    for (std::uint32_t s = 0; s != all.size(); ++s)
        placed.height = larger(placed.height, placed.origin[s] + all.shapes[s].size);
}

SUBLET_DECL packing move_back(placement_shapes const& all, old_placement const& former, packing best,
                              byte_count limit, pack_options const& options, search_control& control,
                              placement::pool_result& out)
{
    pool_control for_pool(control, best.height, out);
    step_poll const poll(for_pool);
    if (for_pool.stop(no_limit, 0, 0)) return best;
    auto moved = [&](packing const& now) {
        byte_count bytes = 0;
        for (std::size_t s = 0; s != all.size(); ++s)
            if (former.old_origin[s] != no_offset && now.origin[s] != former.old_origin[s])
                bytes += former.weight[s];
        return bytes;
    };
    bool is_within = best.height <= limit;
    byte_count least = is_within ? moved(best) : no_limit;
    std::vector<unsigned char> is_fixed(all.size(), 0);
    for (std::size_t s = 0; s != all.size(); ++s)
        is_fixed[s] = all.shapes[s].pinned == no_offset && former.old_origin[s] <= limit &&
                      all.shapes[s].size <= limit - former.old_origin[s];

    pack_options quick = options;
    quick.objective = placement::objective::fit;
    quick.visits /= 16, quick.improve_visits /= 16, quick.nodes /= 16;
    packing found;
    auto fits_with_fixed = [&](std::vector<unsigned char> const& fixed) {
        if (poll.stops(2 * all.size())) return false;
        placement_shapes now = all;
        for (std::size_t s = 0; s != now.size(); ++s)
            if (fixed[s] != 0) now.shapes[s].pinned = former.old_origin[s];
        placement::pool_result ignored;
        placement_bound const least_height = lower_bound(now, poll);
        if (poll.has_stopped()) return false;
        found = pack_shapes(now, least_height, limit, quick, for_pool, ignored);
        out.nodes += ignored.nodes;
        out.packings += ignored.packings;
        if (found.height > limit) return false;
        if (byte_count const bytes = moved(found); bytes < least) {
            least = bytes;
            best = found;
            is_within = true;
        }
        return true;
    };
    unfix_conflicting(all, former, is_fixed, poll);
    for (std::size_t count = 1; least != 0 && !fits_with_fixed(is_fixed); count *= 2)
        if (for_pool.stop(no_limit, 0, 0) || found.height == no_limit ||
            !unfix_neighbours(all, former, found, limit, count, is_fixed))
            break;

    if (!is_within) return best;

    // Some of the moved shapes may fit at their old origins after all.
    std::vector<sort_key> displaced;
    for (std::uint32_t s = 0; s != all.size(); ++s)
        if (former.old_origin[s] != no_offset && best.origin[s] != former.old_origin[s] &&
            all.shapes[s].pinned == no_offset)
            displaced.push_back({descending(former.weight[s]), 0, s});
    sort_by_key(displaced);
    std::vector<sort_key> const all_displaced = displaced;
    if (displaced.size() > max_return_trials) displaced.resize(max_return_trials);
    for (sort_key const& k : displaced) {
        if (poll.stops(all.size())) break;
        for (std::size_t s = 0; s != all.size(); ++s)
            is_fixed[s] = all.shapes[s].pinned == no_offset && best.origin[s] == former.old_origin[s];
        bool const fits =
            former.old_origin[k.id] <= limit && all.shapes[k.id].size <= limit - former.old_origin[k.id];
        if (!fits || is_fixed[k.id] != 0) continue;
        is_fixed[k.id] = 1;
        std::vector<unsigned char> without_conflicts = is_fixed;
        unfix_conflicting(all, former, without_conflicts, poll);
        if (without_conflicts == is_fixed && control.stop(best.height, out.lower_bound, out.nodes) == false)
            fits_with_fixed(is_fixed);
    }
    move_back_where_free(all, former, limit, all_displaced, best, poll);
    return best;
}

} // namespace sublet::detail
