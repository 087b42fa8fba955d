// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_FLOW_PLANNER_HPP
#define SUBLET_FLOW_PLANNER_HPP

/// The front door for programs that branch and go round: successors are alternatives.
///
///     auto planned = sublet::plan_flow(cfg, {.bytes = sizes});
///     std::cout << planned.report << '\n';
///
///     program ─► flow_lives ─► buffers ─► in place ─► pack, with holes ─► check_flow_plan ─► plan + report
///
/// Any control flow will do, loops with several entries too, and values may be written more than once: a
/// value occupies its bytes wherever some path still reads it. Laid out in a line its life has holes, for
/// what one branch needs the other need not, and others lie in these. A declared in-place pair becomes one
/// buffer where that is possible, so the move that ends a loop's body by making the next value the current
/// one moves nothing.

#include <sublet/analysis/buffers.hpp>
#include <sublet/analysis/flow_lives.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/live_intervals.hpp>
#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/pack.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/planned_buffers.hpp>
#include <sublet/planned_memory.hpp>
#include <sublet/sharing/in_place_flow.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

namespace sublet {

struct planned_flow : planned_memory {
    /// By buffer of the plan, over the positions of the plan's order. The `life` of a buffer is the hull.
    live_range_lists lives;
    /// The declared pairs whose result lies where its operand lies, as they stand in the program.
    std::vector<overwrite> joined;

    /// For tables and pictures, which know one life a buffer: the plan with a row for each range, all rows of
    /// a buffer at its offset. `buffer_of` names the first of them.
    [[nodiscard]] memory_plan by_range() const
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
};

namespace detail {

/// By value, one range around all of `lives`.
inline live_ranges hulls(snapshot const& p, live_range_lists const& lives)
{
    live_ranges hulls;
    hulls.positions = lives.positions();
    for (value_id v = 0; v != p.values(); ++v) hulls.of.push_back(lives.hull(v));
    return hulls;
}

/// Buffers that nothing writes, and nobody fills from outside, need no storage.
inline void drop_unwritten(snapshot const& p, buffer_table& table)
{
    std::vector<unsigned char> is_written(table.buffers.size(), 0);
    for (touch t : p.touches({0, static_cast<step_id>(p.steps())}))
        if (t.kind == touch_kind::def) is_written[table.buffer_of[t.value]] = 1;
    for (std::size_t b = 0; b != table.buffers.size(); ++b)
        if (!is_written[b] && !has_role(table.buffers[b].role, value_role::input)) table.buffers[b].life = {};
}

/// The ranges of the plan's buffers, each with all of its values; sets the hulls, and what lies between.
inline live_range_lists spread_lives(live_range_lists const& of_values, memory_plan& plan,
                                     placement_problem& problem)
{
    range_heap all;
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

} // namespace detail

/// Plan where every value lives, whichever way the program takes.
///
/// An input lies in the arena from the start, an output to the end: where a node has no successor, and in
/// loops that cannot be left, where any node ends. A step that makes a view of a value has to read that, or
/// the bytes are taken to be written anew.
///
/// Requires:   `options.order`, if given, names every node once. It only says in which order positions are
///             counted; none: one that keeps loops together.
/// Ensures:    the plan is valid for the control-flow reading, and proved to be unless `options.check` is
///             off. `refuted` says, with a witness, what stands against a plan: a value that is read before
///             it is written on some path, pins that clash or are misaligned, a view of more bytes than its
///             root, a capacity that the plan exceeds. (`flow.allows_undefined`: such reads find anything,
///             and only a value that nothing ever writes is refused.) The lower bound is the most bytes
///             needed at one position, or more.
/// Complexity: live_intervals(), twice if there are in-place pairs, and pack() and check_flow_plan().
/// Throws:     precondition_error where a precondition of a stage is broken.
[[nodiscard]] inline planned_flow plan_flow(snapshot const& p, plan_options const& options,
                                            flow_options const& flow = {})
{
    std::clock_t const begin = std::clock();
    planned_flow result;
    memory_plan& plan = result.plan;
    plan.valid_for = result.report.reading = program_reading::control_flow;
    plan.order = options.order.empty() ? loop_contiguous_order(p.graph()) : options.order;
    plan.buffer_of.assign(p.values(), no_buffer);
    result.report.steps = p.steps();
    result.report.values = p.values();

    std::vector<value_role> const role = options.role.tabulate(p.values());
    std::vector<step_id> const steps = steps_in_order(p, plan.order);
    std::vector<step_id> position(steps.size(), 0); // in the frame
    for (step_id at = 0; at != steps.size(); ++at) position[steps[at]] = at + 1;
    live_range_lists const framed = framed_lives(p, role, plan.order, operand_end::held);
    if (auto const read = undefined_read(p, framed, role, flow.allows_undefined)) {
        step_id const at = read->position == steps.size() ? read->position : position[read->position] - 1;
        bool const is_written = read->what == order_fault::defined_later;
        result.refuted = witness{.what = fault::used_undefined,
                                 .value = read->value,
                                 .other = is_written ? read->value : no_value,
                                 .position = at};
        return result;
    }
    live_range_lists const lives = without_frame(p, framed, plan.order);
    buffer_table table = gather_buffers(detail::hulls(p, lives), options);
    result.refuted = detail::oversized_view(table); // of classes as they are before they are joined
    detail::drop_unwritten(p, table);
    if (options.in_place && !p.overwrites().empty())
        table = take_in_place_in_flow(p, framed_lives(p, role, plan.order, operand_end::handed_over),
                                      position, std::move(table));

    placement_problem problem{{}, options.pools};
    if (auto const fact = detail::list_planned(table, plan, problem); !result.refuted) result.refuted = fact;
    result.lives = detail::spread_lives(lives, plan, problem);
    placement const placed = pack(problem);
    detail::put(placed, plan);
    detail::account(result.report, placed, plan);
    for (overwrite o : p.overwrites())
        if (plan.buffer_of[o.in] != no_buffer && plan.buffer_of[o.in] == plan.buffer_of[o.out])
            result.joined.push_back(o);

    if (!result.refuted) result.refuted = detail::objection(placed, problem, plan);
    if (options.check && !result.refuted) {
        result.refuted = check_flow_plan(p, plan, options, flow);
        result.report.is_checked = true;
    }
    result.report.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return result;
}

template <program P>
    requires(!std::same_as<P, snapshot>)
[[nodiscard]] planned_flow plan_flow(P const& p, plan_options const& options, flow_options const& flow = {})
{
    return plan_flow(as_snapshot(p), options, flow);
}

} // namespace sublet

#endif
