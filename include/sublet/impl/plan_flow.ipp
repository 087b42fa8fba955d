// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/liveness.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/detail/planned_buffers.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/pack.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/sharing/in_place.hpp>

#include <cstddef>
#include <ctime>
#include <utility>

namespace sublet {

SUBLET_DECL memory_plan planned_flow::by_range() const
{
    memory_plan spread = plan;
    spread.buffers.clear();
    std::vector<buffer_id> first;
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        first.push_back(static_cast<buffer_id>(spread.buffers.size()));
        for (live_range r : lives[b]) {
            spread.buffers.push_back(plan.buffers[b]);
            spread.buffers.back().life = r;
        }
    }
    for (buffer_id& b : spread.buffer_of)
        if (b != no_buffer) b = first[b];
    return spread;
}

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL live_ranges hulls(snapshot const& p, live_range_lists const& lives)
{
    live_ranges hulls;
    hulls.positions = lives.positions();
    for (value_id v = 0; v != p.values(); ++v) hulls.of.push_back(lives.hull(v));
    return hulls;
}

/// Buffers that are neither written nor given need no storage.
SUBLET_DECL void drop_unwritten(snapshot const& p, buffer_table& table)
{
    std::vector<unsigned char> is_written(table.buffers.size(), 0);
    for (touch t : p.touches({0, static_cast<step_id>(p.steps())}))
        if (t.defines() || t.writes()) is_written[table.buffer_of[t.value]] = 1;
    for (std::size_t b = 0; b != table.buffers.size(); ++b)
        if (!is_written[b] && !has_role(table.buffers[b].role, value_role::input)) table.buffers[b].life = {};
}

/// The ranges of the plan's buffers, united over their values; sets the hulls and the gaps.
SUBLET_DECL live_range_lists set_live_ranges(live_range_lists const& of_values, memory_plan& plan,
                                             placement_problem& problem)
{
    unsorted_ranges all;
    for (value_id v = 0; v != plan.buffer_of.size(); ++v)
        if (plan.buffer_of[v] != no_buffer)
            for (live_range r : of_values[v]) all.add(plan.buffer_of[v], r);
    live_range_lists lives = all.lists(plan.buffers.size(), of_values.method(), of_values.positions());
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        plan.buffers[b].life = problem.buffers[b].life = lives.hull(b);
        for (std::size_t i = 1; i < lives[b].size(); ++i)
            problem.gaps.push_back({b, {lives[b][i - 1].last, lives[b][i].first}});
    }
    return lives;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL planned_flow plan_flow(snapshot const& as_made, plan_options const& given,
                                   flow_options const& flow)
{
    detail::expect_listed_order(as_made, given.order);
    snapshot as_listed;
    snapshot const& listed = detail::as_control_flow(as_made, as_listed);
    auto const asked = detail::tabulated_options(given, listed.values());
    plan_options const& options = *asked;
    snapshot viewed;
    if (listed.has_views()) viewed = detail::with_view_uses(listed, options);
    snapshot const& p = listed.has_views() ? viewed : listed;
    std::clock_t const begin = std::clock();
    planned_flow result;
    memory_plan& plan = result.plan;
    plan.valid_for = result.figures.reading = program_reading::control_flow;
    plan.order = options.order.empty() ? detail::loop_contiguous_order(p.graph()) : options.order;
    plan.buffer_of.assign(p.values(), no_buffer);
    result.figures.steps = p.steps();
    result.figures.values = p.values();

    result.figures.refuted = detail::refuse_unclear_view(p, options);
    if (result.figures.refuted) return result;
    std::vector<value_role> const role = options.role.tabulate(p.values(), "role");
    std::vector<step_id> const steps = detail::steps_in_order(p, plan.order);
    std::vector<step_id> position(steps.size(), 0); // by step
    for (step_id at = 0; at != steps.size(); ++at) position[steps[at]] = at + 1;
    live_range_lists const augmented = cfg_live_ranges(p, role, plan.order, detail::operand_end::held);
    if (auto const read = detail::undefined_read(p, augmented, role, flow.allows_undefined)) {
        step_id const at = read->position == steps.size() ? read->position : position[read->position] - 1;
        bool const is_written = read->what == live_ranges::order_violation::kind::defined_later;
        result.figures.refuted = witness{.what = fault::used_undefined,
                                         .value = read->value,
                                         .other = is_written ? read->value : no_value,
                                         .position = at};
        return result;
    }
    live_range_lists const lives = detail::to_program_positions(p, augmented, plan.order);
    buffer_table table = gather_buffers(detail::hulls(p, lives), options);
    result.figures.refuted = detail::oversized_view(table); // of classes before they are joined
    detail::drop_unwritten(p, table);
    detail::set_chosen_pools(table, options, options.pools);
    if (options.in_place && !p.overwrites().empty())
        table = take_in_place(p, cfg_live_ranges(p, role, plan.order, detail::operand_end::read_early),
                              position, std::move(table));

    placement_problem problem{{}, options.pools};
    if (auto const fact = detail::list_planned(table, plan, problem); !result.figures.refuted)
        result.figures.refuted = fact;
    result.lives = detail::set_live_ranges(lives, plan, problem);
    placement const placed = pack(problem, detail::pack_budgets(options.effort));
    detail::set_offsets(placed, plan);
    detail::fill_report(result.figures, placed, plan);
    for (overwrite o : p.overwrites())
        if (plan.buffer_of[o.in] != no_buffer && plan.buffer_of[o.in] == plan.buffer_of[o.out])
            result.joined.push_back(o);

    if (!result.figures.refuted) result.figures.refuted = detail::placement_witness(placed, problem, plan);
    if (options.check && !result.figures.refuted) {
        result.figures.refuted = check_flow_plan(listed, plan, options, flow);
        result.figures.is_checked = true;
    }
    result.figures.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return result;
}

} // namespace sublet
