// SPDX-License-Identifier: BSL-1.0

/// Shapes become items, pairs become arcs, and the best packing of the items becomes the result of the pool.
/// Of a pool without a packing within its capacity, or with a bound above it, the buffers are inserted at any
/// height: the result shows that, and no bound on the costs.

#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/best_packing.hpp>
#include <sublet/placement/detail/pack_shapes.hpp>
#include <sublet/placement/detail/penalties.hpp>
#include <sublet/placement/detail/penalty_bound.hpp>
#include <sublet/placement/detail/penalty_search.hpp>
#include <sublet/placement/detail/pools.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sublet::detail {

// --- pairs -----------------------------------------------------------------------------------------------

/// A pool that penalties name has no rule that they would change.
SUBLET_COLD_DECL void expect_plain_pool(placement_problem const& problem, pool_id pool)
{
    pool_limits const limits = limits_of(problem, pool);
    SUBLET_EXPECTS(limits.largest_block == no_limit,
                   "sublet: pool % has penalties, and a largest block: place() does not combine them", pool);
    SUBLET_EXPECTS(limits.guard == 0,
                   "sublet: pool % has penalties, and a guard: place() does not combine them", pool);
    SUBLET_EXPECTS(limits.reserved.empty(),
                   "sublet: pool % has penalties, and reserved ranges: place() does not combine them", pool);
    SUBLET_EXPECTS(limits.page <= 1, "sublet: pool % has penalties, and pages: place() does not combine them",
                   pool);
}

/// Both have bytes, and pins that make them share some.
SUBLET_COLD_DECL bool do_pins_share(placement_problem::buffer const& a, placement_problem::buffer const& b)
{
    for (placement_problem::buffer const* its : {&a, &b})
        if (its->pinned == no_offset || its->size == 0 || is_empty(its->life)) return false;
    return a.pinned < checked_add(b.pinned, b.size) && b.pinned < checked_add(a.pinned, a.size);
}

SUBLET_COLD_DECL void expect_plain(placement_problem const& problem)
{
    SUBLET_EXPECTS(problem.clocks.threads == 0,
                   "sublet: a problem has penalties, and clocks: place() does not combine them");
    SUBLET_EXPECTS(problem.period == 0,
                   "sublet: a problem has penalties, and a period: place() does not combine them");
    SUBLET_EXPECTS(problem.choices.empty(),
                   "sublet: a problem has penalties, and choices of pools: place() does not combine them");
    SUBLET_EXPECTS(problem.colocated.empty(),
                   "sublet: a problem has penalties, and colocated buffers: place() does not combine them");
    SUBLET_EXPECTS(
        problem.apart.empty(),
        "sublet: a problem has penalties, and pairs apart in banks: place() does not combine them");
    std::size_t const buffers = problem.buffers.size();
    byte_count sum = 0;
    for (placement_problem::penalty const& p : problem.penalties) {
        for (buffer_id b : {p.buffer, p.other})
            SUBLET_EXPECTS(b < buffers, "sublet: a penalty names buffer %, but there are only % buffers", b,
                           buffers);
        SUBLET_EXPECTS(p.buffer != p.other, "sublet: a penalty names buffer % twice", p.buffer);
        placement_problem::buffer const &a = problem.buffers[p.buffer], &b = problem.buffers[p.other];
        SUBLET_EXPECTS(a.pool == b.pool,
                       "sublet: a penalty names buffers % and %, which are in pools % and %: they never "
                       "share a byte",
                       p.buffer, p.other, a.pool, b.pool);
        expect_plain_pool(problem, a.pool);
        if (p.cost != no_limit) sum = checked_add(sum, p.cost);
        SUBLET_EXPECTS(
            p.cost != no_limit || !do_pins_share(a, b),
            "sublet: buffers % and % are pinned so that they share bytes, and a penalty forbids that",
            p.buffer, p.other);
    }
    byte_count const most = (byte_count{1} << 62) / (buffers + 1); // so that sums of one for each buffer fit
    SUBLET_EXPECTS(sum <= most,
                   "sublet: the costs of penalties add up to %, and with % buffers they may to at most %",
                   sum, buffers, most);
    for (placement_problem::gap const& g : problem.gaps)
        SUBLET_EXPECTS(g.begin == g.end,
                       "sublet: a problem has penalties, and a window of buffer %: place() does not combine "
                       "them",
                       g.buffer);
}

/// Two shapes are live together.
SUBLET_COLD_DECL bool are_live_together(placement_shapes const& shapes, std::uint32_t a, std::uint32_t b)
{
    if (!overlaps(shapes.shapes[a].life, shapes.shapes[b].life)) return false;
    std::span<shape_piece const> const of_a = shapes.pieces_of(a), of_b = shapes.pieces_of(b);
    for (std::size_t i = 0, j = 0; i != of_a.size() && j != of_b.size();) {
        if (overlaps(of_a[i].when, of_b[j].when)) return true;
        if (of_a[i].when.last < of_b[j].when.last) ++i;
        else ++j;
    }
    return false;
}

/// The pairs of a pool: those that are live together, and those with a cost. Shapes ascend by the begin of
/// their lives.
SUBLET_COLD_DECL penalty_graph graph_of(placement_problem const& problem, pool_id pool,
                                        placement_shapes const& shapes)
{
    constexpr std::size_t most_pairs = 4'000'000;
    constexpr std::uint32_t no_item = ~std::uint32_t{0};
    auto const n = static_cast<std::uint32_t>(shapes.size());
    penalty_graph graph;
    for (placement_shape const& s : shapes.shapes) graph.items.push_back({s.size, s.alignment, s.pinned});
    table<buffer_id, std::uint32_t> item_of(problem.buffers.size(), no_item);
    for (shape_part const& p : shapes.parts) item_of[p.buffer] = p.shape;

    std::vector<sort_key> keys; // each pair twice, by the first of the two
    auto add = [&](std::uint32_t x, std::uint32_t y, byte_count cost) {
        SUBLET_EXPECTS(
            keys.size() < 2 * most_pairs,
            "sublet: pool % has penalties, and more than % pairs of buffers that are live together "
            "or have one",
            pool, most_pairs);
        keys.push_back({(std::uint64_t{x} << 32) + y, cost, static_cast<std::uint32_t>(keys.size())});
        keys.push_back({(std::uint64_t{y} << 32) + x, cost, static_cast<std::uint32_t>(keys.size())});
    };
    for (std::uint32_t x = 0; x != n; ++x)
        for (std::uint32_t y = x + 1; y != n && shapes.shapes[y].life.first < shapes.shapes[x].life.last; ++y)
            if (are_live_together(shapes, x, y)) add(x, y, no_limit);
    for (placement_problem::penalty const& p : problem.penalties) {
        std::uint32_t const x = item_of[p.buffer], y = item_of[p.other];
        if (problem.buffers[p.buffer].pool == pool && x != no_item && y != no_item && p.cost != 0)
            add(x, y, p.cost);
    }
    sort_by_key(keys);
    auto next = keys.begin();
    for (std::uint32_t x = 0; x != n; ++x) {
        std::size_t const first = graph.arcs.size();
        for (; next != keys.end() && next->key >> 32 == x; ++next) {
            auto const to = static_cast<std::uint32_t>(next->key & 0xffffffffu);
            if (graph.arcs.size() == first || graph.arcs.back().to != to)
                graph.arcs.push_back({to, next->tie});
            else if (next->tie == no_limit) graph.arcs.back().cost = no_limit; // it comes last
            else graph.arcs.back().cost += next->tie;
        }
        graph.first_arc.push_back(static_cast<std::uint32_t>(graph.arcs.size()));
    }
    return graph;
}

// --- pool ------------------------------------------------------------------------------------------------

/// Where nothing fits: items inserted at any height up to that of a stack of all.
SUBLET_COLD_DECL penalty_packing insert_above(penalty_graph graph, packing const& packed,
                                              packing const& stacked)
{
    graph.capacity = stacked.height;
    penalty_packing result = insert_in_orders(graph, {});
    if (result.cost != no_limit) lower_items(graph, result, {});
    for (packing const* other : {&packed, &stacked}) {
        if (other->origin.empty() || (result.cost != no_limit && other->height >= result.height)) continue;
        penalty_packing const now = priced(graph, other->origin);
        if (now.cost != no_limit) result = now;
    }
    return result;
}

/// Searches for packings that cost no more, and end lower.
SUBLET_COLD_DECL void lower_height(penalty_graph graph, byte_count bound, pack_options const& options,
                                   search_control& control, penalty_packing& best)
{
    constexpr int most_tries = 8;
    std::uint64_t const steps = smaller<std::uint64_t>(options.visits, 20'000 * graph.size());
    step_poll const poll(control, best.height, bound);
    lower_items(graph, best, poll);
    byte_count failed = bound == 0 ? 0 : bound - 1; // no attempt below it
    for (int attempt = 0; attempt != most_tries && best.height > failed + 1; ++attempt) {
        if (control.stop(best.height, bound, 0)) return;
        graph.capacity = attempt == 0 ? failed + 1 : failed + (best.height - failed) / 2;
        penalty_packing lower;
        penalty_search search(graph, options.seed, best.offset, steps / most_tries);
        search.run(steps / most_tries, best.cost, control, bound, lower);
        if (lower.cost > best.cost) {
            failed = graph.capacity;
            continue;
        }
        lower_items(graph, lower, poll);
        best = std::move(lower);
    }
}

/// A packing as if there were no penalties; it may prove that nothing fits.
SUBLET_COLD_DECL packing pack_unpenalised(opened_pool& pool, byte_count capacity, pack_options options,
                                          search_control& control)
{
    options.objective = placement::objective::fit;
    options.improve_visits = smaller(options.improve_visits, options.visits);
    options.nodes = smaller(options.nodes, options.visits / 400);
    return pack_shapes(pool.shapes, pool.bound, capacity, options, control, pool.result);
}

/// The best packing that is found within the capacity, or none: then `packed` is one without penalties. Three
/// searches and the attempts to lower it share the time as 4, 2, 1 and 1.
SUBLET_COLD_DECL penalty_packing search_pool(penalty_graph const& graph, opened_pool& pool, std::size_t left,
                                             pack_options const& options, search_control& control,
                                             packing& packed)
{
    placement::pool_result& out = pool.result;
    control.begin(2 * left);
    penalty_packing best = insert_in_orders(graph, step_poll(control, no_limit, out.lower_bound));
    if (best.cost == no_limit) {
        packed = pack_unpenalised(pool, graph.capacity, options, control);
        if (out.lower_bound > graph.capacity) return best;
        if (packed.height <= graph.capacity) best = priced(graph, packed.origin);
    }
    byte_count const height_bound = out.lower_bound;
    penalty_search search(graph, options.seed, best.offset, options.improve_visits);
    std::uint64_t const steps = options.improve_visits, first = smaller<std::uint64_t>(steps / 4, 2'000'000);
    std::uint64_t done = search.run(first, 0, control, height_bound, best);
    out.penalty_bound = 0;
    if (best.cost != 0) {
        std::uint64_t const nodes = smaller(options.nodes, options.visits / 40);
        penalty_prover prover(graph, nodes, control);
        out.penalty_bound = prover.prove(best);
        out.nodes += prover.nodes();
    }
    auto go_on = [&] {
        if (done < steps) done += search.run(steps - done, out.penalty_bound, control, height_bound, best);
    };
    go_on();
    control.begin(4 * left - 2);
    go_on();
    control.begin(8 * left - 6);
    go_on();
    control.begin(8 * left - 7);
    if (best.cost != no_limit && options.objective == placement::objective::minimize)
        lower_height(graph, height_bound, options, control, best);
    return best;
}

SUBLET_COLD_DECL byte_count paid_in(placement_problem const& problem, pool_id pool,
                                    table<buffer_id, byte_count> const& offset)
{
    byte_count paid = 0;
    for (placement_problem::penalty const& p : problem.penalties) {
        placement_problem::buffer const &a = problem.buffers[p.buffer], &b = problem.buffers[p.other];
        byte_count const at = offset[p.buffer], other = offset[p.other];
        if (a.pool == pool && at != no_offset && other != no_offset && at < other + b.size &&
            other < at + a.size)
            paid += p.cost;
    }
    return paid;
}

SUBLET_COLD_DECL placement::pool_result place_pool(placement_problem const& problem,
                                                   std::vector<buffer_id> const& members, pool_id pool,
                                                   std::size_t left, pack_options const& options,
                                                   search_control& control,
                                                   table<buffer_id, byte_count>& offset)
{
    pool_limits const limits = limits_of(problem, pool);
    opened_pool opened = open_pool(problem, members, limits, options.objective, offset, control, left, 1);
    placement::pool_result& out = opened.result;
    if (!opened.is_done) {
        packing const stacked = stack_all(opened.shapes);
        SUBLET_EXPECTS(stacked.height < byte_count{1} << 63,
                       "sublet: the buffers of pool %, which has penalties, need more than 63 bits", pool);
        penalty_graph graph = graph_of(problem, pool, opened.shapes);
        graph.capacity = smaller(limits.capacity, stacked.height);
        penalty_packing best;
        packing packed;
        if (out.lower_bound <= limits.capacity)
            best = search_pool(graph, opened, left, options, control, packed);
        else packed = pack_unpenalised(opened, limits.capacity, options, control);
        if (best.cost == no_limit) best = insert_above(graph, packed, stacked);
        out.height = best.height;
        ++out.packings;
        for (shape_part const& p : opened.shapes.parts) offset[p.buffer] = best.offset[p.shape];
    }
    out.penalty = paid_in(problem, pool, offset);
    if (opened.is_done && out.status == placement::outcome::infeasible) return std::move(out);
    out.status = status_of(out.height, out.lower_bound, limits.capacity, options.objective);
    if (out.status > placement::outcome::feasible) out.penalty_bound = 0;
    else
        out.status =
            out.penalty == out.penalty_bound ? placement::outcome::optimal : placement::outcome::feasible;
    return std::move(out);
}

SUBLET_COLD_DECL void penalised_pools::enter(placement& result) const
{
    for (std::size_t i = 0; i != pools.size(); ++i) {
        result.pools[pools[i]] = results[i];
        result.penalty += results[i].penalty;
        result.penalty_bound += results[i].penalty_bound;
    }
    for (buffer_id b = 0; b != offset.size(); ++b)
        if (offset[b] != no_offset) result.offset[b] = offset[b];
    set_overall_status(result);
}

SUBLET_COLD_DECL penalised_pools place_penalised(placement_problem const& problem,
                                                 pack_options const& options, search_control& control)
{
    pool_members const members = members_by_pool(problem);
    std::size_t const pools = members.first.size() - 1;
    table<pool_id, unsigned char> is_named(pools, 0);
    for (placement_problem::penalty const& p : problem.penalties)
        is_named[problem.buffers[p.buffer].pool] = 1;
    std::size_t left = 0;
    for (pool_id pool = 0; pool != pools; ++pool) left += !members.span_of(pool).empty();

    penalised_pools result{problem};
    result.others.penalties.clear();
    result.offset.assign(problem.buffers.size(), no_offset);
    for (pool_id pool = 0; pool != pools; ++pool) {
        if (is_named[pool] == 0) continue;
        result.pools.push_back(pool);
        result.results.push_back(
            place_pool(problem, members.of(pool), pool, left--, options, control, result.offset));
        for (buffer_id b : members.span_of(pool)) result.others.buffers[b].size = 0;
    }
    for (placement_problem::gap& gap : result.others.gaps)
        if (result.others.buffers[gap.buffer].size == 0) gap.begin = gap.end = 0;
    return result;
}

} // namespace sublet::detail
