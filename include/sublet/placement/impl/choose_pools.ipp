// SPDX-License-Identifier: BSL-1.0

/// Pools chosen by loads: all storage begins in its cheapest pool; while the bytes live at some position
/// exceed a capacity, or a trial placement does, the storage that costs least for each byte of relief moves
/// on.

#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/pack_shapes.hpp>
#include <sublet/placement/detail/pools.hpp>
#include <sublet/placement/detail/proofs.hpp>
#include <sublet/placement/internal/choose_pools.hpp>
#include <sublet/placement/internal/spacing.hpp>

#include <bit>
#include <span>

namespace sublet::detail {

SUBLET_COLD_DECL pool_candidates candidates_of(placement_problem const& problem)
{
    std::size_t const n = problem.buffers.size();
    table<buffer_id, buffer_id> leader(n); // the lowest of the colocated buffers
    for (buffer_id b = 0; b != n; ++b) leader[b] = b;
    auto find = [&leader](buffer_id b) {
        while (leader[b] != b) b = leader[b] = leader[leader[b]];
        return b;
    };
    table<buffer_id, unsigned char> is_anchored(n, 0), has_choice(n, 0), has_chooser(n, 0);
    for (placement_problem::colocation const& c : problem.colocated) {
        SUBLET_EXPECTS(c.buffer < n && c.anchor < n,
                       "sublet: buffer % is colocated with buffer %, but there are only % buffers", c.buffer,
                       c.anchor, n);
        is_anchored[c.buffer] = 1;
        buffer_id const a = find(c.buffer), b = find(c.anchor);
        leader[larger(a, b)] = smaller(a, b);
    }
    for (placement_problem::choice const& c : problem.choices) {
        SUBLET_EXPECTS(c.buffer < n, "sublet: a choice names buffer %, but there are only % buffers",
                       c.buffer, n);
        has_choice[c.buffer] = 1;
    }
    for (buffer_id b = 0; b != n; ++b)
        if (is_anchored[b] == 0) has_chooser[find(b)] = 1;
    auto is_chooser = [&](buffer_id b) { return is_anchored[b] == 0 || has_chooser[find(b)] == 0; };

    std::vector<sort_key> cost_entries; // {storage and pool, chooser, cost's index}
    std::vector<byte_count> cost;
    table<buffer_id, std::uint32_t> choosers(n, 0); // of a leader
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
            if (chooser_count == choosers[b]) common_pools.push_back({sum, 0, pool_id::of(storage_and_pool)});
        }
        SUBLET_EXPECTS(!common_pools.empty(), "sublet: colocated buffers have no pool in common");
        sort_by_key(common_pools);
        for (sort_key const& a : common_pools) result.of.push_back({a.id, a.key});
        result.first.push_back(static_cast<std::uint32_t>(result.of.size()));
    }
    return result;
}

/// Whether colocated parts have an origin in a pool with these limits if nothing else is there.
SUBLET_COLD_DECL bool can_lie_alone(placement_problem const& problem, std::span<shape_part const> parts,
                                    pool_limits const& limits)
{
    residue_class origins;
    byte_count size = 0, pinned = no_offset;
    for (shape_part const& p : parts) {
        placement_problem::buffer const& its = problem.buffers[p.buffer];
        byte_count const alignment = combine_alignment(its.alignment, limits.alignment);
        if (!restrict_to(origins, aligned_origins(p.distance, alignment))) return false;
        size = larger(size, checked_add(p.distance, its.size));
        if (its.pinned == no_offset) continue;
        if (its.pinned < p.distance) return false;
        byte_count const origin = its.pinned - p.distance;
        if (pinned != no_offset && pinned != origin) return false;
        pinned = origin;
    }
    byte_count const origin = pinned == no_offset ? origins.phase : pinned;
    byte_count const most = smaller(limits.capacity, limits.largest_block);
    return align_up(origin, origins) == origin && sum_fits(origin, size) && origin + size <= most;
}

SUBLET_COLD_DECL std::vector<buffer_id> all_buffers(placement_problem const& problem)
{
    std::vector<buffer_id> all(problem.buffers.size());
    for (buffer_id b = 0; b != all.size(); ++b) all[b] = b;
    return all;
}

SUBLET_COLD_DECL pool_candidates possible_pools(placement_problem const& problem, pool_candidates const& all,
                                                step_poll const& poll)
{
    colocated_groups const groups = group_colocated(problem, all_buffers(problem), poll);
    if (poll.has_stopped()) return all;
    constexpr std::uint32_t none = ~std::uint32_t{0};
    std::vector<std::uint32_t> group_of(all.size(), none); // by storage; none: it needs no bytes
    for (std::uint32_t g = 0; g + 1 != groups.first.size(); ++g)
        if (groups.first[g] != groups.first[g + 1])
            group_of[all.storage_of[groups.parts[groups.first[g]].buffer]] = g;
    pool_candidates possible;
    possible.storage_of = all.storage_of;
    for (std::uint32_t k = 0; k != all.size(); ++k) {
        std::uint32_t const g = group_of[k], before = possible.first.back();
        for (std::uint32_t c = 0; c != all.count(k); ++c) {
            auto const parts = [&] {
                return std::span(groups.parts.data() + groups.first[g],
                                 groups.parts.data() + groups.first[g + std::size_t{1}]);
            };
            if (g == none || can_lie_alone(problem, parts(), limits_of(problem, all.at(k, c).pool)))
                possible.of.push_back(all.at(k, c));
        }
        if (possible.of.size() == before) possible.of.push_back(all.at(k, 0));
        possible.first.push_back(static_cast<std::uint32_t>(possible.of.size()));
    }
    return possible;
}

/// Limit of trial packings of pools with one more buffer.
inline constexpr std::size_t max_trial_packings = 64;

SUBLET_COLD_DECL pool_assignment_state::pool_assignment_state(placement_problem const& together,
                                                              pool_candidates const& where,
                                                              step_poll const& poll)
    : candidates(where)
{
    choice.assign(candidates.size(), 0);
    shapes = shapes_of(together, all_buffers(together), {}, poll);
    if (poll.has_stopped()) return;
    shape_of.assign(candidates.size(), none);
    storage_of.assign(shapes.size(), none);
    for (shape_part const& p : shapes.parts) {
        storage_of[p.shape] = candidates.storage_of[p.buffer];
        shape_of[storage_of[p.shape]] = p.shape;
    }
    for (pool_candidate const& c : candidates.of) {
        SUBLET_EXPECTS(c.pool < 65536,
                       "sublet: a choice names pool %, which is out of range (pools are numbered from 0)",
                       c.pool);
        while (capacity.size() <= c.pool)
            capacity.push_back(limits_of(together, pool_id::of(capacity.size())).capacity);
    }
    for (placement_shape const& s : shapes.shapes) has_pins = has_pins || s.pinned != no_offset;
    load.assign(capacity.size(), segment_tree(shapes.positions.size()));
    for (std::uint32_t s = 0; s != shapes.size(); ++s)
        for (shape_piece const& p : shapes.pieces_of(s))
            if (poll.stops(32)) return;
            else load[pool(storage_of[s])].add(p.when, p.end - p.begin);
}

SUBLET_COLD_DECL void pool_assignment_state::move(std::uint32_t k, std::uint32_t to)
{
    std::uint32_t const s = shape_of[k];
    pool_id const from = pool(k);
    choice[k] = to;
    if (s == none) return;
    for (shape_piece const& p : shapes.pieces_of(s)) {
        load[from].remove(p.when, p.end - p.begin);
        load[pool(k)].add(p.when, p.end - p.begin);
    }
}

SUBLET_COLD_DECL bool pool_assignment_state::is_overloaded(std::uint32_t k, pool_id where,
                                                           bool including_it) const
{
    for (shape_piece const& p : shapes.pieces_of(shape_of[k])) {
        byte_count const more = including_it ? p.end - p.begin : 0, most = load[where].most(p.when);
        if (most > capacity[where] || more > capacity[where] - most) return true;
    }
    return false;
}

SUBLET_COLD_DECL std::uint64_t cost_ratio(byte_count extra_cost, double relief)
{
    return std::bit_cast<std::uint64_t>(static_cast<double>(extra_cost) / relief);
}

/// Moves storage to its next pool until no load exceeds a capacity or no candidate is left.
SUBLET_COLD_DECL void lower_loads(pool_assignment_state& all, step_poll const& poll)
{
    std::size_t const positions = all.shapes.positions.size();
    for (bool moved = true; moved;) {
        moved = false;
        for (pool_id pool = 0; pool != all.capacity.size(); ++pool) {
            if (all.capacity[pool] == no_limit) continue;    // no load exceeds it
            table<position_id, std::uint32_t> overloaded{0}; // number of lower positions with excess load
            table<position_id, byte_count> excess{0};        // sum of the excess below
            for (position_id at = 0; at != positions; ++at) {
                if (poll.stops(16)) return;
                byte_count const bytes = all.load[pool].most({at, at + 1}), most = all.capacity[pool];
                overloaded.push_back(overloaded.back() + (bytes > most));
                excess.push_back(checked_add(excess.back(), bytes > most ? bytes - most : 0));
            }
            if (overloaded.back() == 0) continue;
            std::vector<sort_key> cheapest;
            for (std::uint32_t s = 0; s != all.shapes.size(); ++s) {
                std::uint32_t const k = all.storage_of[s];
                if (poll.stops(2 + all.shapes.pieces_of(s).size())) return;
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
                if (poll.stops(32 * all.shapes.pieces_of(all.shape_of[c.id]).size())) return;
                else if (all.is_overloaded(c.id, pool, false)) {
                    all.move(c.id, all.choice[c.id] + 1);
                    moved = true;
                }
        }
    }
}

/// As spaced(), with every buffer in the pool.
SUBLET_COLD_DECL placement_problem spaced_in(placement_problem problem, pool_id pool)
{
    for (placement_problem::buffer& b : problem.buffers) b.pool = pool;
    return spaced(problem);
}

SUBLET_COLD_DECL placement::pool_result try_pool(placement_problem const& problem,
                                                 pool_assignment_state const& all, pool_id pool,
                                                 pack_options options, search_control& control,
                                                 table<buffer_id, byte_count>& offset)
{
    std::vector<buffer_id> members;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        if (all.pool(all.candidates.storage_of[b]) == pool) members.push_back(b);
    options.objective = placement::objective::fit;
    options.visits /= 16, options.improve_visits /= 16, options.nodes /= 16;
    bool const has_reserved = !limits_of(problem, pool).reserved.empty();
    placement_problem apart;
    if (has_spacing(problem) || has_reserved) apart = spaced_in(problem, pool);
    if (has_reserved) {
        byte_count const capacity = apart.pools[pool].capacity;
        apart = around_reserved(std::move(apart), pool, capacity);
        members = with_reserved(std::move(members), problem.buffers.size(), apart);
        offset.resize(apart.buffers.size(), no_offset);
    }
    placement_problem const& own = apart.pools.empty() ? problem : apart;
    pool_limits const limits = limits_of(own, pool);
    placement::pool_result result = pack_pool(
        own, members, limits, options.objective, offset, control, 0, 1,
        [&](placement_shapes const& shapes, placement_bound const& bound, placement::pool_result& out,
            std::size_t) { return pack_shapes(shapes, bound, limits.capacity, options, control, out); });
    result.proof.buffers = without_reserved(result.proof.buffers, problem.buffers.size());
    remove_guard(limits_of(problem, pool).guard, result);
    return result;
}

SUBLET_COLD_DECL bool fit_capacities(placement_problem const& problem, pool_assignment_state& all,
                                     pack_options const& options, search_control& control)
{
    std::size_t const pools = all.capacity.size();
    table<pool_id, unsigned char> is_packed(pools, 0);
    table<pool_id, unsigned> rounds(pools, 0);
    table<buffer_id, byte_count> offset(problem.buffers.size(), no_offset);
    bool fits = true;
    for (pool_id pool = 0; pool != pools;) {
        bool const has_limit = all.has_pins || all.capacity[pool] != no_limit ||
                               limits_of(problem, pool).largest_block != no_limit;
        if (control.stop(no_limit, 0, 0)) return false;
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

SUBLET_COLD_DECL bool place_greedily(placement_problem const& problem, pool_assignment_state& all,
                                     step_poll const& poll)
{
    std::vector<buffer_id> const members = all_buffers(problem);
    table<pool_id, placement_shapes> shapes; // alignments and guards differ
    table<pool_id, byte_count> capacity;
    table<pool_id, placed_pieces> placed;
    for (pool_id pool = 0; pool != all.capacity.size(); ++pool) {
        placement_problem const apart = has_spacing(problem) ? spaced_in(problem, pool) : placement_problem{};
        placement_problem const& own = has_spacing(problem) ? apart : problem;
        shapes.push_back(shapes_of(own, members, limits_of(own, pool), poll));
        capacity.push_back(
            smaller(with_guard(all.capacity[pool], limits_of(problem, pool).guard), no_limit - 1));
        if (poll.has_stopped()) return false;
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
        if (poll.stops(256)) return false;
        byte_count at = no_offset;
        for (std::uint32_t c = 0; c != all.candidates.count(k) && at == no_offset; ++c) {
            pool_id const pool = all.candidates.at(k, c).pool;
            placement_shape const& shape = shapes[pool].shapes[o.id];
            byte_count const most = capacity[pool], pinned = shape.pinned;
            if (shape.size > most || (pinned != no_offset && pinned > most - shape.size)) continue;
            at = placed[pool].free_origin(shapes[pool], o.id, pinned == no_offset ? 0 : pinned,
                                          pinned == no_offset ? most - shape.size : pinned);
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
void move_to_cheaper(pool_assignment_state& all, step_poll const& poll, Fits fits)
{
    std::vector<sort_key> displaced;
    for (std::uint32_t k = 0; k != all.choice.size(); ++k)
        if (all.saving(k) != 0) displaced.push_back({descending(all.saving(k)), 0, k});
    sort_by_key(displaced);
    for (sort_key const& a : displaced) {
        std::uint32_t const k = a.id, before = all.choice[k];
        if (poll.stops(64)) return;
        for (std::uint32_t c = 0; c != before; ++c) {
            pool_id const pool = all.candidates.at(k, c).pool;
            if (all.shape_of[k] != pool_assignment_state::none && all.is_overloaded(k, pool, true)) continue;
            all.move(k, c);
            if (fits(pool)) break;
            all.move(k, before);
        }
    }
}

SUBLET_COLD_DECL pool_assignment choose_pools(placement_problem const& problem, pack_options const& options,
                                              search_control& control)
{
    step_poll const poll(control);
    placement_problem together{problem.buffers, problem.pools, problem.gaps, problem.colocated};
    for (placement_problem::buffer& b : together.buffers) b.pool = 0;
    pool_candidates const allowed = candidates_of(problem);
    pool_assignment_state all(together, possible_pools(together, allowed, poll), poll);
    pool_assignment result;
    for (std::uint32_t k = 0; k != all.choice.size(); ++k)
        result.cost_bound = checked_add(result.cost_bound, allowed.at(k, 0).cost);
    if (all.shapes.fault != shape_fault::parts_clash && !poll.has_stopped()) { // then no choice helps
        lower_loads(all, poll);
        std::size_t attempts = 0;
        table<buffer_id, byte_count> offset(problem.buffers.size(), no_offset);
        bool is_packed = false;
        auto fits = [&](pool_id pool) {
            if (!is_packed || (all.capacity[pool] == no_limit && !all.has_pins)) return true;
            if (++attempts > max_trial_packings || control.stop(no_limit, 0, 0)) return false;
            return try_pool(together, all, pool, options, control, offset).status <=
                   placement::outcome::feasible;
        };
        move_to_cheaper(all, poll, fits);
        if (!fit_capacities(together, all, options, control)) {
            std::vector<std::uint32_t> const before = all.choice;
            if (!place_greedily(together, all, poll))
                for (std::uint32_t k = 0; k != all.choice.size(); ++k) all.move(k, before[k]);
        }
        is_packed = true;
        move_to_cheaper(all, poll, fits);
    }
    for (std::uint32_t k : all.candidates.storage_of) result.pool_of.push_back(all.pool(k));
    for (std::uint32_t k = 0; k != all.choice.size(); ++k)
        result.cost = checked_add(result.cost, all.now(k).cost);
    return result;
}

} // namespace sublet::detail
