// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_REPLAN_IPP
#define SUBLET_PLACEMENT_IMPL_REPLAN_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/bound.hpp>
#include <sublet/placement/clashing_pins.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/load_tree.hpp>
#include <sublet/placement/replan.hpp>
#include <sublet/placement/shapes.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet::detail {

/// So many of those that were moved are asked once more, one after the other, the heaviest first.
inline constexpr std::size_t most_returns = 32;

/// Where the shapes of a pool were, and how much is moved if one of them is not there again.
struct former_places {
    std::vector<byte_count> home;   ///< by shape; `no_offset`: it was nowhere, or its parts were apart
    std::vector<byte_count> weight; ///< by shape
};

SUBLET_DECL former_places homes_of(placement_shapes const& all, placement_problem const& problem,
                                   std::vector<byte_count> const& previous)
{
    former_places former{std::vector<byte_count>(all.size(), no_offset),
                         std::vector<byte_count>(all.size(), 0)};
    std::vector<unsigned char> is_torn(all.size(), 0);
    for (shape_part const& p : all.parts) {
        byte_count const before = previous[p.buffer];
        if (before == no_offset) continue;
        former.weight[p.shape] += problem.buffers[p.buffer].size;
        byte_count& home = former.home[p.shape];
        if (before < p.distance || (home != no_offset && home != before - p.distance)) is_torn[p.shape] = 1;
        else home = before - p.distance;
    }
    for (std::size_t s = 0; s != all.size(); ++s) {
        byte_count& home = former.home[s];
        if (home == no_offset) continue;
        bool const is_ours = align_up(home, all.shapes[s]) == home && home < byte_count{1} << 62;
        if (is_torn[s] != 0 || !is_ours) home = no_offset;
    }
    return former;
}

/// Of two that are in each other's way at home the lighter goes, unless it is pinned.
///
/// Pieces are painted from below as in clashing_pins(). What lies under one that has gone is not to be seen
/// then, so that there is another round whenever somebody went.
SUBLET_DECL void part_clashing(placement_shapes const& all, former_places const& former,
                               std::vector<unsigned char>& stays)
{
    auto is_there = [&](std::uint32_t s) { return stays[s] != 0 || all.shapes[s].pinned != no_offset; };
    std::vector<keyed> from_below; // {begin, piece, shape}
    for (std::uint32_t s = 0; s != all.size(); ++s)
        for (std::uint32_t p = all.first_piece[s]; is_there(s) && p != all.first_piece[s + 1]; ++p)
            from_below.push_back(
                {(stays[s] != 0 ? former.home[s] : all.shapes[s].pinned) + all.pieces[p].begin, p, s});
    sort_keyed(from_below);
    for (bool again = true; again;) {
        again = false;
        skyline sky(all.positions.size());
        for (keyed const& k : from_below) {
            if (!is_there(k.who)) continue;
            shape_piece const& piece = all.pieces[static_cast<std::size_t>(k.tie)];
            auto const roof = sky.highest(piece.when);
            if (roof.top > k.key) {
                again = true;
                bool const roof_goes = stays[k.who] == 0 || (stays[roof.who] != 0 &&
                                                             former.weight[roof.who] < former.weight[k.who]);
                if (is_there(roof.who)) stays[roof_goes ? roof.who : k.who] = 0;
                if (!is_there(k.who)) continue;
            }
            sky.paint(piece.when, {k.key + (piece.end - piece.begin), k.who});
        }
    }
}

/// The lightest of those that stay go, up to `count` of them, if they live beside a shape that ends above
/// `limit`. Returns whether any did.
SUBLET_DECL bool release_beside(placement_shapes const& all, former_places const& former, packing const& high,
                                byte_count limit, std::size_t count, std::vector<unsigned char>& stays)
{
    std::vector<live_range> too_high;
    for (std::uint32_t s = 0; s != all.size(); ++s)
        if (high.origin[s] + all.shapes[s].size > limit) too_high.push_back(all.shapes[s].life);
    std::vector<std::uint32_t> const below = covered_below(too_high, all.positions.size());
    std::vector<keyed> beside;
    for (std::uint32_t s = 0; s != all.size(); ++s)
        if (live_range const life = all.shapes[s].life;
            stays[s] != 0 && below[life.last] != below[life.first])
            beside.push_back({former.weight[s], 0, s});
    sort_keyed(beside);
    for (std::size_t i = 0; i != beside.size() && i != count; ++i) stays[beside[i].who] = 0;
    return !beside.empty();
}

/// As pack_shapes(), and of the shapes that have a home as few bytes away from it as are quickly found.
SUBLET_DECL packing pack_near(placement_shapes all, former_places const& former, placement_bound const& bound,
                              byte_count capacity, pack_options const& options, search_driver& driver,
                              placed_pool& out)
{
    for (std::size_t s = 0; s != all.size(); ++s)
        if (former.home[s] != no_offset) all.shapes[s].preferred = former.home[s];
    packing best = pack_shapes(all, bound, capacity, options, driver, out);
    if (best.height > capacity) return best;
    byte_count const limit = options.objective == placement_objective::fit ? capacity : best.height;
    auto moved = [&](packing const& now) {
        byte_count bytes = 0;
        for (std::size_t s = 0; s != all.size(); ++s)
            if (former.home[s] != no_offset && now.origin[s] != former.home[s]) bytes += former.weight[s];
        return bytes;
    };
    byte_count least = moved(best);
    std::vector<unsigned char> stays(all.size(), 0);
    for (std::size_t s = 0; s != all.size(); ++s)
        stays[s] = all.shapes[s].pinned == no_offset && former.home[s] <= limit &&
                   all.shapes[s].size <= limit - former.home[s];

    pack_options quick = options;
    quick.objective = placement_objective::fit;
    quick.visits /= 16, quick.improve_visits /= 16, quick.nodes /= 16;
    packing found;
    auto is_low_with = [&](std::vector<unsigned char> const& at_home) {
        placement_shapes now = all;
        for (std::size_t s = 0; s != now.size(); ++s)
            if (at_home[s] != 0) now.shapes[s].pinned = former.home[s];
        placed_pool ignored;
        found = pack_shapes(now, lower_bound(now), limit, quick, driver, ignored);
        out.nodes += ignored.nodes;
        out.packings += ignored.packings;
        if (found.height > limit) return false;
        if (byte_count const bytes = moved(found); bytes < least) {
            least = bytes;
            best = found;
        }
        return true;
    };
    part_clashing(all, former, stays);
    for (std::size_t count = 1; least != 0 && !is_low_with(stays); count *= 2)
        if (found.height == no_limit || !release_beside(all, former, found, limit, count, stays)) break;

    // Perhaps not all that went had to.
    std::vector<keyed> away;
    for (std::uint32_t s = 0; s != all.size(); ++s)
        if (former.home[s] != no_offset && best.origin[s] != former.home[s] &&
            all.shapes[s].pinned == no_offset)
            away.push_back({falling(former.weight[s]), 0, s});
    sort_keyed(away);
    if (away.size() > most_returns) away.resize(most_returns);
    for (keyed const& k : away) {
        for (std::size_t s = 0; s != all.size(); ++s)
            stays[s] = all.shapes[s].pinned == no_offset && best.origin[s] == former.home[s];
        bool const fits = former.home[k.who] <= limit && all.shapes[k.who].size <= limit - former.home[k.who];
        if (!fits || stays[k.who] != 0) continue;
        stays[k.who] = 1;
        std::vector<unsigned char> apart = stays;
        part_clashing(all, former, apart);
        if (apart == stays && driver.stop(best.height, out.lower_bound, out.nodes) == false)
            is_low_with(stays);
    }
    return best;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL placement replan(placement_problem const& problem, std::vector<byte_count> const& previous,
                             std::vector<unsigned char> const& keep, pack_options const& options,
                             search_driver& driver)
{
    std::size_t const buffers = problem.buffers.size();
    SUBLET_EXPECTS(previous.size() == buffers && keep.size() == buffers,
                   "sublet: a table has not one entry for each buffer");
    placement_problem kept = problem;
    for (std::size_t b = 0; b != buffers; ++b) {
        if (keep[b] == 0) continue;
        byte_count& pinned = kept.buffers[b].pinned;
        SUBLET_EXPECTS(previous[b] != no_offset && (pinned == no_offset || pinned == previous[b]),
                       "sublet: a buffer that is kept has no place, or is pinned elsewhere");
        pinned = previous[b];
    }
    placement result =
        detail::pack_pools(kept, options, driver,
                           [&](auto const& shapes, auto const& bound, byte_count capacity, placed_pool& out) {
                               return detail::pack_near(shapes, detail::homes_of(shapes, kept, previous),
                                                        bound, capacity, options, driver, out);
                           });
    for (std::size_t b = 0; b != buffers; ++b)
        if (previous[b] != no_offset && result.offset[b] != no_offset && result.offset[b] != previous[b])
            result.moved_bytes = checked_add(result.moved_bytes, problem.buffers[b].size);
    return result;
}

} // namespace sublet

#endif
