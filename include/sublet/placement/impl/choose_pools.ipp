// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/choose_pools.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/infeasible_core.hpp>

#include <bit>

// --- pool candidates -------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL pool_candidates candidates_of(placement_problem const& problem)
{
    std::size_t const n = problem.buffers.size();
    std::vector<buffer_id> leader(n); // the lowest of the colocated buffers
    for (buffer_id b = 0; b != n; ++b) leader[b] = b;
    auto find = [&leader](buffer_id b) {
        while (leader[b] != b) b = leader[b] = leader[leader[b]];
        return b;
    };
    std::vector<unsigned char> is_anchored(n, 0), has_choice(n, 0), has_chooser(n, 0);
    for (placement_problem::colocation const& c : problem.colocated) {
        SUBLET_EXPECTS(c.buffer < n && c.anchor < n, "sublet: a colocated buffer does not exist");
        is_anchored[c.buffer] = 1;
        buffer_id const a = find(c.buffer), b = find(c.anchor);
        leader[larger(a, b)] = smaller(a, b);
    }
    for (placement_problem::choice const& c : problem.choices) {
        SUBLET_EXPECTS(c.buffer < n, "sublet: a choice names a buffer that does not exist");
        has_choice[c.buffer] = 1;
    }
    for (buffer_id b = 0; b != n; ++b)
        if (is_anchored[b] == 0) has_chooser[find(b)] = 1;
    auto is_chooser = [&](buffer_id b) { return is_anchored[b] == 0 || has_chooser[find(b)] == 0; };

    std::vector<sort_key> cost_entries; // {storage and pool, chooser, cost's index}
    std::vector<byte_count> cost;
    std::vector<std::uint32_t> choosers(n, 0); // by leader
    auto add_cost = [&](buffer_id b, pool_id pool, byte_count pool_cost) {
        cost_entries.push_back(
            {byte_count{find(b)} << 32 | pool, b, static_cast<std::uint32_t>(cost.size())});
        cost.push_back(pool_cost);
    };
    for (buffer_id b = 0; b != n; ++b) {
        if (!is_chooser(b)) continue;
        ++choosers[find(b)];
        if (has_choice[b] == 0) add_cost(b, problem.buffers[b].pool, 0);
    }
    for (placement_problem::choice const& c : problem.choices)
        if (is_chooser(c.buffer)) add_cost(c.buffer, c.pool, c.cost);
    sort_by_key(cost_entries);

    pool_candidates result;
    std::vector<sort_key> common_pools; // {cost, , pool}
    std::size_t next = 0;
    for (buffer_id b = 0; b != n; ++b) {
        buffer_id const l = find(b);
        result.storage_of.push_back(l == b ? static_cast<std::uint32_t>(result.size())
                                           : result.storage_of[l]);
        if (l != b) continue;
        common_pools.clear();
        while (next != cost_entries.size() && cost_entries[next].key >> 32 == b) {
            std::uint64_t const storage_and_pool = cost_entries[next].key;
            std::uint32_t chooser_count = 0;
            byte_count sum = 0;
            while (next != cost_entries.size() && cost_entries[next].key == storage_and_pool) {
                std::uint64_t const id = cost_entries[next].tie;
                byte_count cheapest = cost[cost_entries[next].id];
                for (; next != cost_entries.size() && cost_entries[next].key == storage_and_pool &&
                       cost_entries[next].tie == id;
                     ++next)
                    cheapest = smaller(cheapest, cost[cost_entries[next].id]);
                sum = checked_add(sum, cheapest);
                ++chooser_count;
            }
            if (chooser_count == choosers[b])
                common_pools.push_back({sum, 0, static_cast<pool_id>(storage_and_pool)});
        }
        SUBLET_EXPECTS(!common_pools.empty(), "sublet: colocated buffers have no pool in common");
        sort_by_key(common_pools);
        for (sort_key const& a : common_pools) result.of.push_back({a.id, a.key});
        result.first.push_back(static_cast<std::uint32_t>(result.of.size()));
    }
    return result;
}

// --- choose pools ----------------------------------------------------------------------------------------

/// Limit of trial packings of pools with one more buffer.
inline constexpr std::size_t max_trial_packings = 64;

SUBLET_DECL pool_assignment_state::pool_assignment_state(placement_problem const& together,
                                                         pool_candidates const& where)
    : candidates(where)
{
    std::vector<buffer_id> all_buffers;
    for (buffer_id b = 0; b != together.buffers.size(); ++b) all_buffers.push_back(b);
    shapes = shapes_of(together, all_buffers);
    choice.assign(candidates.size(), 0);
    shape_of.assign(candidates.size(), no_buffer);
    storage_of.assign(shapes.size(), no_buffer);
    for (shape_part const& p : shapes.parts) {
        storage_of[p.shape] = candidates.storage_of[p.buffer];
        shape_of[storage_of[p.shape]] = p.shape;
    }
    for (pool_candidate const& c : candidates.of) {
        SUBLET_EXPECTS(c.pool < 65536, "sublet: a pool id is out of range (pools are numbered from 0)");
        while (capacity.size() <= c.pool) capacity.push_back(limits_of(together, capacity.size()).capacity);
    }
    load.assign(capacity.size(), segment_tree(shapes.positions.size()));
    for (std::uint32_t s = 0; s != shapes.size(); ++s)
        for (shape_piece const& p : shapes.pieces_of(s))
            load[pool(storage_of[s])].add(p.when, p.end - p.begin);
}

SUBLET_DECL void pool_assignment_state::move(std::uint32_t k, std::uint32_t to)
{
    std::uint32_t const s = shape_of[k];
    pool_id const from = pool(k);
    choice[k] = to;
    if (s == no_buffer) return;
    for (shape_piece const& p : shapes.pieces_of(s)) {
        load[from].remove(p.when, p.end - p.begin);
        load[pool(k)].add(p.when, p.end - p.begin);
    }
}

SUBLET_DECL bool pool_assignment_state::is_overloaded(std::uint32_t k, pool_id where, bool including_it) const
{
    for (shape_piece const& p : shapes.pieces_of(shape_of[k])) {
        byte_count const more = including_it ? p.end - p.begin : 0, most = load[where].most(p.when);
        if (most > capacity[where] || more > capacity[where] - most) return true;
    }
    return false;
}

SUBLET_DECL std::uint64_t cost_ratio(byte_count extra_cost, double relief)
{
    return std::bit_cast<std::uint64_t>(static_cast<double>(extra_cost) / relief);
}

/// Moves storage to its next pool until no load exceeds a capacity or no candidate is left.
SUBLET_DECL void lower_loads(pool_assignment_state& all)
{
    auto const positions = static_cast<step_id>(all.shapes.positions.size());
    for (bool moved = true; moved;) {
        moved = false;
        for (pool_id pool = 0; pool != all.capacity.size(); ++pool) {
            std::vector<std::uint32_t> overloaded{0}; // by rank: number of lower positions with excess load
            std::vector<byte_count> excess{0};        // by rank: sum of the excess below
            for (step_id at = 0; at != positions; ++at) {
                byte_count const bytes = all.load[pool].most({at, at + 1}), most = all.capacity[pool];
                overloaded.push_back(overloaded.back() + (bytes > most));
                excess.push_back(checked_add(excess.back(), bytes > most ? bytes - most : 0));
            }
            if (overloaded.back() == 0) continue;
            std::vector<sort_key> cheapest;
            for (std::uint32_t s = 0; s != all.shapes.size(); ++s) {
                std::uint32_t const k = all.storage_of[s];
                if (all.pool(k) != pool || !all.has_next_pool(k)) continue;
                double relief = 0; // over positions with excess, at most the excess
                for (shape_piece const& p : all.shapes.pieces_of(s)) {
                    auto const own = static_cast<double>(p.end - p.begin) *
                                     (overloaded[p.when.last] - overloaded[p.when.first]);
                    auto const total_excess = static_cast<double>(excess[p.when.last] - excess[p.when.first]);
                    relief += own < total_excess ? own : total_excess;
                }
                if (relief > 0)
                    cheapest.push_back(
                        {cost_ratio(all.extra_cost(k), relief), descending(all.shapes.shapes[s].size), k});
            }
            sort_by_key(cheapest);
            for (sort_key const& c : cheapest)
                if (all.is_overloaded(c.id, pool, false)) {
                    all.move(c.id, all.choice[c.id] + 1);
                    moved = true;
                }
        }
    }
}

SUBLET_DECL placement::pool_result try_pool(placement_problem const& problem,
                                            pool_assignment_state const& all, pool_id pool,
                                            pack_options options, search_control& control,
                                            std::vector<byte_count>& offset)
{
    std::vector<buffer_id> members;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        if (all.pool(all.candidates.storage_of[b]) == pool) members.push_back(b);
    options.objective = placement::objective::fit;
    options.visits /= 16, options.improve_visits /= 16, options.nodes /= 16;
    pool_limits const limits = limits_of(problem, pool);
    return pack_pool(
        problem, members, limits, options.objective, offset,
        [&](placement_shapes const& shapes, placement_bound const& bound, placement::pool_result& out) {
            return pack_shapes(shapes, bound, limits.capacity, options, control, out);
        });
}

SUBLET_DECL bool fit_capacities(placement_problem const& problem, pool_assignment_state& all,
                                pack_options const& options, search_control& control)
{
    std::size_t const pools = all.capacity.size();
    std::vector<unsigned char> is_packed(pools, 0);
    std::vector<unsigned> rounds(pools, 0);
    std::vector<byte_count> offset(problem.buffers.size(), no_offset);
    bool fits = true;
    for (pool_id pool = 0; pool != pools;) {
        bool const has_limit =
            all.capacity[pool] != no_limit || limits_of(problem, pool).largest_block != no_limit;
        if (is_packed[pool] != 0 || !has_limit) {
            ++pool;
            continue;
        }
        is_packed[pool] = 1;
        placement::pool_result const tried = try_pool(problem, all, pool, options, control, offset);
        if (tried.status <= placement::outcome::feasible) continue;
        bool const is_fault = tried.proof.bytes == no_limit;
        std::vector<unsigned char> is_in_core(all.choice.size(), 0);
        for (buffer_id b : tried.proof.buffers) is_in_core[all.candidates.storage_of[b]] = is_fault;
        std::vector<live_range> too_high;
        for (shape_part const& p : all.shapes.parts)
            if (all.pool(all.storage_of[p.shape]) == pool && !is_fault &&
                offset[p.buffer] + problem.buffers[p.buffer].size > all.capacity[pool])
                too_high.push_back(all.shapes.shapes[p.shape].life);
        std::vector<std::uint32_t> const below = covered_below(too_high, all.shapes.positions.size());
        std::vector<sort_key> cheapest;
        for (std::uint32_t s = 0; s != all.shapes.size(); ++s) {
            std::uint32_t const k = all.storage_of[s];
            live_range const life = all.shapes.shapes[s].life;
            bool const is_movable = is_fault ? is_in_core[k] != 0 : below[life.first] != below[life.last];
            if (all.pool(k) != pool || !all.has_next_pool(k) || !is_movable) continue;
            byte_count const size = all.shapes.shapes[s].size;
            cheapest.push_back(
                {cost_ratio(all.extra_cost(k), static_cast<double>(size)), descending(size), k});
        }
        sort_by_key(cheapest);
        if (cheapest.empty() || control.stop(no_limit, 0, 0)) {
            fits = false;
            continue;
        }
        // Doubles in each round, so that there are few rounds.
        byte_count bytes_to_move = is_fault ? 1 : tried.height - all.capacity[pool];
        bytes_to_move = bytes_to_move << rounds[pool] >> rounds[pool] == bytes_to_move
                            ? bytes_to_move << rounds[pool]
                            : no_limit;
        if (rounds[pool] < 40) ++rounds[pool];
        for (std::size_t i = 0; i != cheapest.size() && bytes_to_move != 0; ++i) {
            std::uint32_t const k = cheapest[i].id;
            all.move(k, all.choice[k] + 1);
            is_packed[all.pool(k)] = 0;
            bytes_to_move -= smaller(bytes_to_move, all.shapes.shapes[all.shape_of[k]].size);
        }
        is_packed[pool] = 0;
        pool = 0;
    }
    return fits;
}

SUBLET_DECL bool place_greedily(placement_problem const& problem, pool_assignment_state& all)
{
    std::vector<buffer_id> all_buffers;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) all_buffers.push_back(b);
    std::vector<placement_shapes> shapes; // by pool: alignments differ
    std::vector<placed_pieces> placed;
    for (std::size_t pool = 0; pool != all.capacity.size(); ++pool) {
        shapes.push_back(shapes_of(problem, all_buffers, limits_of(problem, pool)));
        placed.push_back(placed_pieces(shapes.back()));
        if (shapes.back().fault != shape_fault::none) return false;
    }
    std::vector<sort_key> order; // pinned ones first
    for (std::uint32_t s = 0; s != all.shapes.size(); ++s) {
        placement_shape const& shape = all.shapes.shapes[s];
        order.push_back({byte_count{shape.pinned == no_offset}, descending(shape.size), s});
    }
    sort_by_key(order);
    for (sort_key const& o : order) {
        std::uint32_t const k = all.storage_of[o.id];
        byte_count at = no_offset;
        for (std::uint32_t c = 0; c != all.candidates.count(k) && at == no_offset; ++c) {
            pool_id const pool = all.candidates.at(k, c).pool;
            placement_shape const& shape = shapes[pool].shapes[o.id];
            byte_count const capacity = smaller(all.capacity[pool], no_limit - 1);
            byte_count const pinned = shape.pinned;
            if (shape.size > capacity || (pinned != no_offset && pinned > capacity - shape.size)) continue;
            at = placed[pool].free_origin(shapes[pool], o.id, pinned == no_offset ? 0 : pinned,
                                          pinned == no_offset ? capacity - shape.size : pinned);
            if (at == no_offset) continue;
            placed[pool].insert(shapes[pool], o.id, at);
            all.move(k, c);
        }
        if (at == no_offset) return false;
    }
    return true;
}

/// Moves storage to cheaper pools that have room and for which `fits` holds, the greatest saving first.
template <class Fits>
void move_to_cheaper(pool_assignment_state& all, Fits fits)
{
    std::vector<sort_key> displaced;
    for (std::uint32_t k = 0; k != all.choice.size(); ++k)
        if (all.saving(k) != 0) displaced.push_back({descending(all.saving(k)), 0, k});
    sort_by_key(displaced);
    for (sort_key const& a : displaced) {
        std::uint32_t const k = a.id, before = all.choice[k];
        for (std::uint32_t c = 0; c != before; ++c) {
            pool_id const pool = all.candidates.at(k, c).pool;
            if (all.shape_of[k] != no_buffer && all.is_overloaded(k, pool, true)) continue;
            all.move(k, c);
            if (fits(pool)) break;
            all.move(k, before);
        }
    }
}

SUBLET_DECL pool_assignment choose_pools(placement_problem const& problem, pack_options const& options,
                                         search_control& control)
{
    placement_problem together = problem;
    for (placement_problem::buffer& b : together.buffers) b.pool = 0;
    pool_assignment_state all(together, candidates_of(problem));
    pool_assignment result;
    for (std::uint32_t k = 0; k != all.choice.size(); ++k)
        result.cost_bound = checked_add(result.cost_bound, all.now(k).cost);
    if (all.shapes.fault == shape_fault::none) { // otherwise no choice helps
        lower_loads(all);
        move_to_cheaper(all, [](pool_id) { return true; });
        if (!fit_capacities(together, all, options, control)) {
            std::vector<std::uint32_t> const before = all.choice;
            if (!place_greedily(together, all))
                for (std::uint32_t k = 0; k != all.choice.size(); ++k) all.move(k, before[k]);
        }
        std::size_t attempts = 0;
        std::vector<byte_count> offset(problem.buffers.size(), no_offset);
        move_to_cheaper(all, [&](pool_id pool) {
            if (all.capacity[pool] == no_limit) return true;
            if (++attempts > max_trial_packings || control.stop(no_limit, 0, 0)) return false;
            return try_pool(together, all, pool, options, control, offset).status <=
                   placement::outcome::feasible;
        });
    }
    for (std::uint32_t k : all.candidates.storage_of) result.pool_of.push_back(all.pool(k));
    for (std::uint32_t k = 0; k != all.choice.size(); ++k)
        result.cost = checked_add(result.cost, all.now(k).cost);
    return result;
}

// --- replan ----------------------------------------------------------------------------------------------

/// Limit of trials to move single shapes back, the heaviest first.
inline constexpr std::size_t max_return_trials = 32;

/// The old origins of a pool's shapes, and the bytes that move with each.
struct old_placement {
    std::vector<byte_count> old_origin; ///< by shape; `no_offset`: none, or its parts moved apart
    std::vector<byte_count> weight;     ///< by shape
};

SUBLET_DECL old_placement old_placement_of(placement_shapes const& all, placement_problem const& problem,
                                           std::vector<byte_count> const& previous)
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
/// as in clashing_pins(); a shape may be hidden by one that is unfixed, so another round follows.
SUBLET_DECL void unfix_conflicting(placement_shapes const& all, old_placement const& former,
                                   std::vector<unsigned char>& is_fixed)
{
    auto is_present = [&](std::uint32_t s) { return is_fixed[s] != 0 || all.shapes[s].pinned != no_offset; };
    std::vector<sort_key> from_below; // {begin, piece, shape}
    for (std::uint32_t s = 0; s != all.size(); ++s)
        for (std::uint32_t p = all.first_piece[s]; is_present(s) && p != all.first_piece[s + 1]; ++p)
            from_below.push_back(
                {(is_fixed[s] != 0 ? former.old_origin[s] : all.shapes[s].pinned) + all.pieces[p].begin, p,
                 s});
    sort_by_key(from_below);
    for (bool again = true; again;) {
        again = false;
        skyline tops(all.positions.size());
        for (sort_key const& k : from_below) {
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
                              placement::pool_result& out)
{
    for (std::size_t s = 0; s != all.size(); ++s)
        if (former.old_origin[s] != no_offset) all.shapes[s].preferred = former.old_origin[s];
    packing best = pack_shapes(all, bound, capacity, options, control, out);
    if (best.height > capacity) return best;
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
        placement_shapes now = all;
        for (std::size_t s = 0; s != now.size(); ++s)
            if (fixed[s] != 0) now.shapes[s].pinned = former.old_origin[s];
        placement::pool_result ignored;
        found = pack_shapes(now, lower_bound(now), limit, quick, control, ignored);
        out.nodes += ignored.nodes;
        out.packings += ignored.packings;
        if (found.height > limit) return false;
        if (byte_count const bytes = moved(found); bytes < least) {
            least = bytes;
            best = found;
        }
        return true;
    };
    unfix_conflicting(all, former, is_fixed);
    for (std::size_t count = 1; least != 0 && !fits_with_fixed(is_fixed); count *= 2)
        if (found.height == no_limit || !unfix_neighbours(all, former, found, limit, count, is_fixed)) break;

    // Some of the moved shapes may fit at their old origins after all.
    std::vector<sort_key> displaced;
    for (std::uint32_t s = 0; s != all.size(); ++s)
        if (former.old_origin[s] != no_offset && best.origin[s] != former.old_origin[s] &&
            all.shapes[s].pinned == no_offset)
            displaced.push_back({descending(former.weight[s]), 0, s});
    sort_by_key(displaced);
    if (displaced.size() > max_return_trials) displaced.resize(max_return_trials);
    for (sort_key const& k : displaced) {
        for (std::size_t s = 0; s != all.size(); ++s)
            is_fixed[s] = all.shapes[s].pinned == no_offset && best.origin[s] == former.old_origin[s];
        bool const fits =
            former.old_origin[k.id] <= limit && all.shapes[k.id].size <= limit - former.old_origin[k.id];
        if (!fits || is_fixed[k.id] != 0) continue;
        is_fixed[k.id] = 1;
        std::vector<unsigned char> without_conflicts = is_fixed;
        unfix_conflicting(all, former, without_conflicts);
        if (without_conflicts == is_fixed && control.stop(best.height, out.lower_bound, out.nodes) == false)
            fits_with_fixed(is_fixed);
    }
    return best;
}

SUBLET_DECL placement replan(placement_problem const& problem, std::vector<byte_count> const& previous,
                             std::vector<unsigned char> const& keep, pack_options const& options,
                             search_control& control)
{
    std::size_t const buffers = problem.buffers.size();
    SUBLET_EXPECTS(previous.size() == buffers && keep.size() == buffers,
                   "sublet: a table needs one entry for each buffer");
    placement_problem kept = problem;
    for (std::size_t b = 0; b != buffers; ++b) {
        if (keep[b] == 0) continue;
        byte_count& pinned = kept.buffers[b].pinned;
        SUBLET_EXPECTS(previous[b] != no_offset && (pinned == no_offset || pinned == previous[b]),
                       "sublet: a kept buffer has no previous offset, or is pinned elsewhere");
        pinned = previous[b];
    }
    placement result = pack_pools(
        kept, options, control,
        [&](auto const& shapes, auto const& bound, byte_count capacity, placement::pool_result& out) {
            return pack_near(shapes, old_placement_of(shapes, kept, previous), bound, capacity, options,
                             control, out);
        });
    for (std::size_t b = 0; b != buffers; ++b)
        if (previous[b] != no_offset && result.offset[b] != no_offset && result.offset[b] != previous[b])
            result.moved_bytes = checked_add(result.moved_bytes, problem.buffers[b].size);
    return result;
}

} // namespace sublet::detail
