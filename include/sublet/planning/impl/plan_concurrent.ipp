// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/analysis/internal/unclear.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>
#include <sublet/placement/internal/stack_slots.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/sharing/in_place.hpp>
#include <sublet/sharing/share_slots.hpp>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <optional>
#include <utility>

namespace sublet::detail {

SUBLET_DECL live_ranges touch_ranges(snapshot const& p, table<value_id, value_role> const& role)
{
    auto const steps = static_cast<std::uint32_t>(p.steps());
    live_ranges lives{{}, table<value_id, live_range>(p.values()), steps};
    auto touched = [&lives](value_id v, step_id s) { // in the listed order
        auto const at = position_id::of(+s);
        lives.of[v] = hull(lives.of[v], {at, at + 1});
    };
    for (step_id s = 0; s != steps; ++s)
        for (touch t : p.touches(s)) touched(t.value, s);
    for (edge_use u : p.edge_uses()) touched(u.value, p.steps_of(u.pred).last - 1);
    for (value_id v = 0; v != p.values(); ++v) {
        if (has_role(role[v], value_role::input)) touched(v, 0);
        if (has_role(role[v], value_role::output) && steps != 0) touched(v, steps - 1);
    }
    return lives;
}

/// Divides each pool that does not fit a block: the buffers that end within a block are placed again without
/// the others, which go to the blocks after it. Greedy, with no guaranteed factor.
///
/// Complexity: two placements a block, each with a sixteenth of the visits.
SUBLET_DECL void split_concurrently(placement_problem const& problem, concurrent_live_ranges const& lives,
                                    conflict_ranges const& conflicts, std::uint64_t visits, placement& placed)
{
    auto first_over = [&problem](pool_id pool) {
        byte_count const largest = problem.pools[pool].largest_block;
        buffer_id b = 0;
        for (; b != problem.buffers.size(); ++b) {
            placement_problem::buffer const& it = problem.buffers[b];
            byte_count const begin = it.pinned != no_offset ? it.pinned : 0;
            if (it.pool == pool && it.size != 0 && (it.size > largest || begin > largest - it.size)) break;
        }
        return b;
    };
    for (pool_id pool = 0; pool < problem.pools.size() && pool < placed.pools.size(); ++pool) {
        byte_count const largest = problem.pools[pool].largest_block;
        placement::pool_result& out = placed.pools[pool];
        if (out.status == placement::outcome::infeasible || out.height <= largest) continue;
        if (buffer_id const over = first_over(pool); over != problem.buffers.size()) {
            out.proof = {placement::proof::reason::over_block, no_limit, 0, {over}};
            out.status = placement::outcome::infeasible;
            continue;
        }
        placement_problem left = problem; // buffers of 0 bytes are not placed
        byte_count unit = problem.pools[pool].alignment;
        std::size_t count = 0;
        for (placement_problem::buffer& b : left.buffers) {
            if (b.pool != pool) b.size = 0;
            if (b.size == 0) continue;
            unit = combine_alignment(unit, b.alignment);
            ++count;
        }
        out.height = 0;
        while (count != 0) {
            place_concurrently_options how{.visits = visits / 16};
            how.fallback = place_concurrently(left, lives, conflicts.of, how).offset;
            placement_problem block = left;
            for (buffer_id b = 0; b != left.buffers.size(); ++b) {
                if (left.buffers[b].size == 0) continue;
                bool const is_here = how.fallback[b] <= largest - left.buffers[b].size;
                (is_here ? left : block).buffers[b].size = 0;
                count -= is_here;
            }
            placement const alone = place_concurrently(block, lives, conflicts.of, how);
            byte_count const begin = align_up(out.height, unit);
            for (buffer_id b = 0; b != block.buffers.size(); ++b)
                if (block.buffers[b].size != 0) placed.offset[b] = begin + alone.offset[b];
            out.blocks.push_back({pool, begin, alone.pools[pool].height});
            out.height = checked_add(begin, alone.pools[pool].height);
        }
        out.status = status_of(out.height, out.lower_bound, problem.pools[pool].capacity);
    }
    set_overall_status(placed);
}

/// The program in which a step reads early what it may overwrite: with a result that is no larger.
SUBLET_DECL snapshot with_early_operands(snapshot const& p, buffer_table const& table)
{
    auto its = [&table](value_id v) -> buffer const& { return table.buffers[table.buffer_of[v]]; };
    return with_effects(p, p.values(), [&](node_id n, effect_sink& sink) {
        step_range const steps = p.steps_of(n);
        std::vector<value_id> operands; // of the pairs of the step
        for (step_id s = steps.first; s != steps.last; ++s) {
            if (s != steps.first) sink.next_step();
            operands.clear();
            for (overwrite o : p.overwrites(s))
                if (its(o.out).size <= its(o.in).size) operands.push_back(o.in);
            sort_ascending(operands);
            for (touch t : p.touches(s)) {
                bool const is_early = t.kind == touch::access::use &&
                                      std::binary_search(operands.begin(), operands.end(), t.value);
                sink.add(is_early ? touch::access::use_early : t.kind, t.value);
            }
        }
        for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
    });
}

/// Bytes of each pool that no plan goes below, whichever of the declared pairs it takes, and buffers that prove
/// it.
struct bounds_with_pairs {
    table<pool_id, byte_count> bytes;
    std::vector<value_id> members; ///< roots
    bool is_exact = true;
};

/// A result that is written over an operand reuses bytes that the same step reads last. So buffers of which none may
/// reuse another, if each operand of a pair were read early, are apart in every plan.
///
/// Requires: no buffers are joined in place.
SUBLET_DECL bounds_with_pairs bound_with_pairs(snapshot const& p, plan_options const& options,
                                               std::vector<handoff> const& handoffs,
                                               table<value_id, value_role> const& role,
                                               buffer_table const& buffers)
{
    bounds_with_pairs result;
    snapshot const early = with_early_operands(p, buffers);
    dependence_graph const g = dependences(early, dependences_of(options, handoffs));
    memory_plan apart;
    placement_problem problem{{}, options.pools};
    list_planned(buffers, apart, problem);
    concurrent_live_ranges const lives =
        concurrent_lifetimes(early, g, apart.buffers.size(), apart.buffer_of, role);
    conflict_ranges const conflicts = find_conflict_ranges(g, lives, most_conflict_ranges);
    std::uint64_t const usual = antichain_visits(g, problem.buffers.size());
    for (pool_id pool = 0; pool != pool_count(problem); ++pool) {
        table<buffer_id, byte_count> weights;
        byte_count pins = 0;
        for (placement_problem::buffer const& b : problem.buffers) {
            weights.push_back(b.pool == pool ? b.size : 0);
            if (b.pool == pool && b.pinned != no_offset) pins = larger(pins, checked_add(b.pinned, b.size));
        }
        antichain const heaviest = heaviest_antichain(g, lives, conflicts, weights,
                                                      larger(options.effort.of(usual), usual / 64));
        result.bytes.push_back(larger(heaviest.bytes, pins));
        result.is_exact = result.is_exact && heaviest.is_exact;
        for (buffer_id b : heaviest.members) result.members.push_back(apart.buffers[b].root);
    }
    return result;
}

/// Pools are chosen for the capacities in `room`.
SUBLET_DECL planned_concurrently plan_concurrent(snapshot const& p, plan_options const& options,
                                                 concurrent_options const& wanted,
                                                 table<pool_id, pool_limits> const& room)
{
    planned_concurrently result;
    memory_plan& plan = result.plan;
    plan.valid_for = program_reading::concurrent;
    plan.handoffs = wanted.handoffs;
    plan.buffer_of.assign(p.values(), no_buffer);
    result.figures.reading = program_reading::concurrent;
    result.figures.steps = p.steps();
    result.figures.values = p.values();

    if (!result.figures.refute(find_unclear(p, options))) return result;
    auto const role = options.role.tabulate(p.values(), "role");
    dependence_graph const g = dependences(p, dependences_of(options, wanted.handoffs));
    if (!result.figures.refute(g)) return result;
    buffer_table table = gather_buffers(touch_ranges(p, role), options);
    result.figures.refute(oversized_view(table)); // of classes before they are joined
    result.figures.external = external_roots(table);
    set_chosen_pools(table, options, room);
    bool const has_pairs = options.in_place && !p.overwrites().empty();
    bounds_with_pairs bounds;
    if (has_pairs) {
        bounds = bound_with_pairs(p, options, wanted.handoffs, role, table);
        table = take_in_place(p, g, std::move(table));
    }
    for (memory_plan::in_place_pair const& pair : table.in_place)
        result.in_place.push_back({pair, no_size, no_size});

    placement_problem problem{{}, options.pools};
    if (auto fact = list_planned(table, plan, problem); result) result.figures.refute(std::move(fact));
    concurrent_live_ranges const lives =
        concurrent_lifetimes(p, g, plan.buffers.size(), plan.buffer_of, role);
    conflict_ranges const conflicts = find_conflict_ranges(g, lives, most_conflict_ranges);
    result.undecided = conflicts.undecided;

    std::size_t const pools = pool_count(problem);
    place_concurrently_options how{.visits = offset_visits(options.effort)};
    result.is_bound_exact = true;
    std::uint64_t const usual = antichain_visits(g, problem.buffers.size());
    std::uint64_t const flow_visits = larger(options.effort.of(usual), usual / 64);
    for (pool_id pool = 0; pool != pools; ++pool) {
        sublet::table<buffer_id, byte_count> weights;
        weights.reserve(problem.buffers.size());
        for (placement_problem::buffer const& b : problem.buffers)
            weights.push_back(b.pool == pool ? b.size : 0);
        antichain const heaviest = heaviest_antichain(g, lives, conflicts, weights, flow_visits);
        how.bounds.push_back(heaviest.bytes);
        result.is_bound_exact = result.is_bound_exact && heaviest.is_exact;
        for (buffer_id b : heaviest.members)
            how.antichain.push_back(b), result.antichain.push_back(plan.buffers[b].root);
    }

    result.slots = share_slots(lives, conflicts, [&](buffer_id b) { return problem.buffers[b].size; },
                               {.strategy = slot_options::strategy_kind::chains,
                                .pool = [&](buffer_id b) { return problem.buffers[b].pool; },
                                .visits = options.effort.of(4'000'000)});
    placement placed = stack_slots(problem, result.slots, how.bounds);
    if (wanted.strategy == concurrent_options::strategy_kind::offsets) {
        bool is_pinned = false;
        for (placement_problem::buffer const& b : problem.buffers)
            is_pinned = is_pinned || b.pinned != no_offset;
        if (!is_pinned) how.fallback = std::move(placed.offset);
        placed = place_concurrently(problem, lives, conflicts.of, how);
        split_concurrently(problem, lives, conflicts, how.visits, placed);
    }
    if (has_pairs) { // those above hold for the pairs that are taken
        for (pool_id pool = 0; pool != bounds.bytes.size(); ++pool)
            placed.pools[pool].lower_bound = bounds.bytes[pool];
        result.antichain = std::move(bounds.members);
        result.is_bound_exact = result.is_bound_exact && bounds.is_exact;
    }
    set_offsets(placed, plan);
    fill_report(result.figures, placed, plan);
    result.figures.is_cut_short = placed.is_cut_short || !result.is_bound_exact || result.undecided != 0;

    if (result) result.figures.refute(why_not_placed(placed, problem, plan));
    if (options.check && result) {
        result.figures.refute(check_concurrent_plan(p, plan, options));
        result.figures.is_checked = true;
    }
    return result;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL planned_concurrently plan_concurrent(snapshot const& p, plan_options const& given,
                                                 concurrent_options const& wanted)
{
    std::clock_t const begin = std::clock();
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    table<pool_id, pool_limits> room = options.pools;
    planned_concurrently result = detail::plan_concurrent(p, options, wanted, room);
    for (int i = 0; i != 8 && !options.pool_choices.empty() && !result; ++i) { // pools for every schedule
        if (result.error().what != fault::over_capacity) break;
        counterexample::place const over = *result.error().as<counterexample::place>();
        byte_count& capacity = room[over.pool].capacity;
        capacity -= detail::smaller(capacity, over.end - over.needed);
        result = detail::plan_concurrent(p, options, wanted, room);
    }
    result.figures.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return result;
}

} // namespace sublet
