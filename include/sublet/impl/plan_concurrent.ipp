// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_plan.hpp>
#include <sublet/detail/planned_buffers.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/pack.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/sharing/in_place.hpp>
#include <sublet/sharing/share_slots.hpp>

#include <cstddef>
#include <ctime>
#include <optional>
#include <utility>

namespace sublet::detail {

SUBLET_DECL live_ranges touch_ranges(snapshot const& p, std::vector<value_role> const& role)
{
    auto const steps = static_cast<step_id>(p.steps());
    live_ranges lives{std::vector<live_range>(p.values()), steps, std::nullopt};
    auto touched = [&lives](value_id v, step_id s) { lives.of[v] = hull(lives.of[v], {s, s + 1}); };
    for (step_id s = 0; s != steps; ++s)
        for (touch t : p.touches(s)) touched(t.value, s);
    for (edge_use u : p.edge_uses()) touched(u.value, p.steps_of(u.pred).last - 1);
    for (value_id v = 0; v != p.values(); ++v) {
        if (has_role(role[v], value_role::input)) touched(v, 0);
        if (has_role(role[v], value_role::output) && steps != 0) touched(v, steps - 1);
    }
    return lives;
}

SUBLET_DECL witness as_witness(dependence_violation const& v)
{
    step_id const last = v.steps.empty() ? no_step : v.steps.back();
    switch (v.what) {
    case dependence_violation::kind::several_defs:
        return {.what = fault::several_defs, .value = v.value, .step = last};
    case dependence_violation::kind::cycle: return {.what = fault::cycle, .step = last, .schedule = v.steps};
    case dependence_violation::kind::never_defined: break;
    }
    return {.what = fault::used_undefined, .value = v.value, .step = last};
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL planned_concurrently plan_concurrent(snapshot const& p, plan_options const& options,
                                                 concurrent_options const& wanted)
{
    std::clock_t const begin = std::clock();
    planned_concurrently result;
    memory_plan& plan = result.plan;
    plan.valid_for = program_reading::concurrent;
    plan.handoffs = wanted.handoffs;
    plan.buffer_of.assign(p.values(), no_buffer);
    result.figures.reading = program_reading::concurrent;
    result.figures.steps = p.steps();
    result.figures.values = p.values();

    result.figures.refuted = detail::refuse_unclear_view(p, options);
    if (result.figures.refuted) return result;
    auto const role = options.role.tabulate(p.values());
    dependence_graph const g = dependences(p, detail::dependences_of(options, wanted.handoffs));
    if (g.violation) {
        result.figures.refuted = detail::as_witness(*g.violation);
        return result;
    }
    buffer_table table = gather_buffers(detail::touch_ranges(p, role), options);
    result.figures.refuted = detail::oversized_view(table); // of classes before they are joined
    if (options.in_place) table = take_in_place(p, g, std::move(table));

    placement_problem problem{{}, options.pools};
    if (auto const fact = detail::list_planned(table, plan, problem); !result.figures.refuted)
        result.figures.refuted = fact;
    detail::concurrent_live_ranges const lives =
        detail::concurrent_lifetimes(p, g, plan.buffers.size(), plan.buffer_of, role);
    detail::conflict_ranges const conflicts = find_conflict_ranges(g, lives, detail::most_conflict_ranges);
    result.undecided = conflicts.undecided;

    std::size_t const pools = detail::pool_count(problem);
    detail::place_concurrently_options how{.visits = detail::offset_visits(options.effort)};
    result.is_bound_exact = true;
    std::uint64_t const usual = detail::antichain_visits(g, problem.buffers.size());
    std::uint64_t const flow_visits = detail::larger(options.effort.of(usual), usual / 64);
    for (pool_id pool = 0; pool != pools; ++pool) {
        std::vector<byte_count> weights;
        weights.reserve(problem.buffers.size());
        for (placement_problem::buffer const& b : problem.buffers)
            weights.push_back(b.pool == pool ? b.size : 0);
        detail::antichain const heaviest = heaviest_antichain(g, lives, conflicts, weights, flow_visits);
        how.bounds.push_back(heaviest.bytes);
        result.is_bound_exact = result.is_bound_exact && heaviest.is_exact;
        for (buffer_id b : heaviest.members)
            how.antichain.push_back(b), result.antichain.push_back(plan.buffers[b].root);
    }

    result.slots = detail::share_slots(lives, conflicts, [&](buffer_id b) { return problem.buffers[b].size; },
                                       {.strategy = slot_options::strategy_kind::chains,
                                        .pool = [&](buffer_id b) { return problem.buffers[b].pool; }});
    placement placed = detail::stack_slots(problem, result.slots, how.bounds);
    if (wanted.strategy == concurrent_options::strategy_kind::offsets) {
        bool is_pinned = false;
        for (placement_problem::buffer const& b : problem.buffers)
            is_pinned = is_pinned || b.pinned != no_offset;
        if (!is_pinned) how.fallback = std::move(placed.offset);
        placed = place_concurrently(problem, lives, conflicts.of, how);
    }
    detail::set_offsets(placed, plan);
    detail::fill_report(result.figures, placed, plan);
    result.figures.is_cut_short = placed.is_cut_short || !result.is_bound_exact || result.undecided != 0;

    if (!result.figures.refuted) result.figures.refuted = detail::placement_witness(placed, problem, plan);
    if (options.check && !result.figures.refuted) {
        result.figures.refuted = check_concurrent_plan(p, plan, options);
        result.figures.is_checked = true;
    }
    result.figures.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return result;
}

} // namespace sublet
