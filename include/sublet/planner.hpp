// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNER_HPP
#define SUBLET_PLANNER_HPP

/// The front door: a program and the sizes of its values in, a proven plan out.
///
///     auto planned = sublet::plan_memory(program, {.bytes = sizes, .alignment = 64});
///     std::cout << planned.report << '\n';
///     for (auto v : planned.values()) ir[v].offset = planned.plan.offset_of(v);
///
///     program ─► lifetimes ─► buffers ─► in place ◄─► pack ─► check_plan ─► plan + report
///
/// Each stage is a public function of its own; whoever wants another one of them calls them in this order,
/// as plan_memory does.

#include <sublet/analysis/buffers.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/placed_in_place.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/planned_buffers.hpp>
#include <sublet/planned_memory.hpp>
#include <sublet/sharing/in_place.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

namespace sublet {

/// Plan where every value lives, the steps running one after the other, each once: plan_flow() is for
/// programs with loops.
///
/// Requires:   `options.order`, if given, names every node once.
/// Ensures:    the plan is valid for the sequential reading in that order, and proved to be unless
///             `options.check` is off. `refuted` says, with a witness, what stands against a plan: an order
///             against an edge, or in which a value is used before it is defined or overwritten too early,
///             pins that clash or are misaligned, a view of more bytes than its root, a capacity that the
///             plan exceeds (no claim that another could not keep it).
/// Complexity: O(nodes + edges + touches + values), and pack() and check_plan() for the planned buffers.
/// Throws:     precondition_error where a precondition of a stage is broken.
[[nodiscard]] inline planned_memory plan_memory(snapshot const& p, plan_options const& options)
{
    std::clock_t const begin = std::clock();
    planned_memory result;
    memory_plan& plan = result.plan;
    plan.order = options.order;
    plan.buffer_of.assign(p.values(), no_buffer);
    result.report.steps = p.steps();
    result.report.values = p.values();

    live_ranges const lives = lifetimes(p, {.role = options.role, .order = options.order});
    if (lives.violation) {
        auto const [value, position, what] = *lives.violation;
        bool const is_moved = what == order_fault::write_moved;
        result.refuted = witness{.what = is_moved ? fault::write_moved : fault::used_undefined,
                                 .value = value,
                                 .other = what == order_fault::defined_later ? value : no_value,
                                 .position = position};
        return result;
    }
    if (auto const position = detail::first_edge_back(p, options.order)) {
        result.refuted = witness{.what = fault::leads_back, .position = *position};
        return result;
    }
    buffer_table const table = gather_buffers(lives, options);
    std::vector<step_id> const steps = steps_in_order(p, options.order);
    std::vector<in_place_pair> pairs;
    if (options.in_place) pairs = match_in_place(p, steps, table);

    placed_in_place found = place_in_place(table, pairs, steps, options.pools);
    found.plan.order = options.order;
    plan = std::move(found.plan);
    result.in_place = std::move(found.gains);
    result.refuted = detail::oversized_view(table); // of classes as they are before they are joined
    if (!result.refuted) result.refuted = found.refuted;
    detail::put(found.placed, plan);
    detail::account(result.report, found.placed, plan);

    if (!result.refuted) result.refuted = detail::objection(found.placed, found.problem, plan);
    if (options.check && !result.refuted) {
        result.refuted = check_plan(p, plan, options);
        result.report.is_checked = true;
    }
    result.report.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return result;
}

template <program P>
    requires(!std::same_as<P, snapshot>)
[[nodiscard]] planned_memory plan_memory(P const& p, plan_options const& options)
{
    return plan_memory(as_snapshot(p), options);
}

} // namespace sublet

#endif
