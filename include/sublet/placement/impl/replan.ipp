// SPDX-License-Identifier: BSL-1.0

/// The limit is the height that pack_shapes() reaches with kept buffers fixed only. Shapes are fixed where
/// they were, of two that overlap the lighter is not, and the rest is placed around them; while that is above
/// the limit, more are unfixed, twice as many each time. At the end single shapes are moved back, the
/// heaviest first.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/infeasible_core.hpp>
#include <sublet/placement/detail/pack_shapes.hpp>
#include <sublet/placement/detail/pools.hpp>
#include <sublet/placement/detail/replan.hpp>

// --- replan ----------------------------------------------------------------------------------------------

namespace sublet::detail {

/// Limit of trials to move single shapes back, the heaviest first.
inline constexpr std::size_t max_return_trials = 32;

/// The old origins of a pool's shapes, and the bytes that move with each.
struct old_placement {
    std::vector<byte_count> old_origin; ///< by shape; `no_offset`: none, or its parts moved apart
    std::vector<byte_count> weight;     ///< by shape
};

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

/// As pack_shapes(), moving few bytes of the shapes that have an old origin.
SUBLET_DECL packing pack_near(placement_shapes all, old_placement const& former, placement_bound const& bound,
                              byte_count capacity, pack_options const& options, search_control& control,
                              placement::pool_result& out, std::size_t parts)
{
    for (std::size_t s = 0; s != all.size(); ++s)
        if (former.old_origin[s] != no_offset) all.shapes[s].preferred = former.old_origin[s];
    packing best = pack_shapes(all, bound, capacity, options, control, out);
    if (parts != 0) control.begin(parts - 1);
    pool_control for_pool(control, best.height, out);
    step_poll const poll(for_pool);
    if (best.height > capacity || for_pool.stop(no_limit, 0, 0)) return best;
    byte_count const limit = options.objective == placement::objective::fit ? capacity : best.height;
    auto moved = [&](packing const& now) {
        byte_count bytes = 0;
        for (std::size_t s = 0; s != all.size(); ++s)
            if (former.old_origin[s] != no_offset && now.origin[s] != former.old_origin[s])
                bytes += former.weight[s];
        return bytes;
    };
    byte_count least = moved(best);
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
        }
        return true;
    };
    unfix_conflicting(all, former, is_fixed, poll);
    for (std::size_t count = 1; least != 0 && !fits_with_fixed(is_fixed); count *= 2)
        if (for_pool.stop(no_limit, 0, 0) || found.height == no_limit ||
            !unfix_neighbours(all, former, found, limit, count, is_fixed))
            break;

    // Some of the moved shapes may fit at their old origins after all.
    std::vector<sort_key> displaced;
    for (std::uint32_t s = 0; s != all.size(); ++s)
        if (former.old_origin[s] != no_offset && best.origin[s] != former.old_origin[s] &&
            all.shapes[s].pinned == no_offset)
            displaced.push_back({descending(former.weight[s]), 0, s});
    sort_by_key(displaced);
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
    return best;
}

SUBLET_DECL placement replan(placement_problem const& problem, table<buffer_id, byte_count> const& previous,
                             table<buffer_id, unsigned char> const& keep, pack_options const& options,
                             search_control& control)
{
    std::size_t const buffers = problem.buffers.size();
    SUBLET_EXPECTS(previous.size() == buffers && keep.size() == buffers,
                   "sublet: a table needs one entry for each buffer");
    placement_problem kept = problem;
    for (buffer_id b = 0; b != buffers; ++b) {
        if (keep[b] == 0) continue;
        byte_count& pinned = kept.buffers[b].pinned;
        SUBLET_EXPECTS(previous[b] != no_offset && (pinned == no_offset || pinned == previous[b]),
                       "sublet: buffer % is kept, but has no previous offset or is pinned elsewhere", b);
        pinned = previous[b];
    }
    placement result = pack_pools(kept, options.objective, control, 2,
                                  [&](auto const& shapes, auto const& bound, byte_count capacity,
                                      placement::pool_result& out, std::size_t parts) {
                                      return pack_near(shapes, old_placement_of(shapes, kept, previous),
                                                       bound, capacity, options, control, out, parts);
                                  });
    for (buffer_id b = 0; b != buffers; ++b)
        if (previous[b] != no_offset && result.offset[b] != no_offset && result.offset[b] != previous[b])
            result.moved_bytes = checked_add(result.moved_bytes, problem.buffers[b].size);
    return result;
}

} // namespace sublet::detail
