// SPDX-License-Identifier: BSL-1.0

/// One antichain a pool: buffers of other pools have weight 0. For pairs, the program is copied with early
/// reads of the operands, and the buffers are those before any pair is taken.

#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/antichain.hpp>
#include <sublet/planning/detail/concurrent_bounds.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>

#include <algorithm>
#include <cstddef>
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

SUBLET_DECL concurrent_bounds antichains_of_pools(dependence_graph const& g,
                                                  concurrent_live_ranges const& lives,
                                                  conflict_ranges const& conflicts,
                                                  placement_problem const& problem, effort work)
{
    concurrent_bounds result;
    std::uint64_t const usual = antichain_visits(g, problem.buffers.size());
    for (pool_id pool = 0; pool != pool_count(problem); ++pool) {
        byte_count const guard = limits_of(problem, pool).guard; // behind all but the highest
        table<buffer_id, byte_count> weights;
        weights.reserve(problem.buffers.size());
        for (placement_problem::buffer const& b : problem.buffers)
            weights.push_back(b.pool == pool && b.size != 0 ? checked_add(b.size, guard) : 0);
        antichain const heaviest =
            heaviest_antichain(g, lives, conflicts, weights, larger(work.of(usual), usual / 64));
        result.bytes.push_back(heaviest.bytes - smaller(heaviest.bytes, guard));
        result.is_exact = result.is_exact && heaviest.is_exact;
        for (buffer_id b : heaviest.members) result.members.push_back(b);
    }
    return result;
}

SUBLET_DECL concurrent_bounds bounds_with_pairs(snapshot const& p, plan_options const& options,
                                                std::vector<handoff> const& handoffs,
                                                table<value_id, value_role> const& role,
                                                buffer_table const& buffers, std::vector<value_id>& roots)
{
    snapshot const early = with_early_operands(p, buffers);
    dependence_graph const g = dependences(early, dependences_of(options, handoffs));
    memory_plan apart;
    placement_problem problem{{}, options.pools};
    list_planned(buffers, apart, problem);
    concurrent_live_ranges const lives =
        concurrent_lifetimes(early, g, apart.buffers.size(), apart.buffer_of, role);
    conflict_ranges const conflicts = find_conflict_ranges(g, lives, most_conflict_ranges);
    concurrent_bounds result = antichains_of_pools(g, lives, conflicts, problem, options.effort);
    for (placement_problem::buffer const& b : problem.buffers)
        if (b.pinned != no_offset)
            result.bytes[b.pool] = larger(result.bytes[b.pool], checked_add(b.pinned, b.size));
    roots.clear();
    for (buffer_id b : result.members) roots.push_back(apart.buffers[b].root);
    return result;
}

} // namespace sublet::detail
