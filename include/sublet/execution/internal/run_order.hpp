// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_INTERNAL_RUN_ORDER_HPP
#define SUBLET_EXECUTION_INTERNAL_RUN_ORDER_HPP

/// The order of a run, and the waits that a concurrent run keeps: that of a plan, that of the options, or,
/// for a plan for any schedule, one that data, edges and hand-offs allow.
///
///     program + options + plan ──► lowered_program, for one step after another
///                              └─► run_order: the same, and its step_waits

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/memory_mode.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <vector>

namespace sublet::detail {

/// A program lowered for a concurrent run. Run one by one in the order of `lowered`, the steps leave what
/// every concurrent run must leave.
struct run_order {
    lowered_program lowered;
    step_waits waits;
};

/// The steps of a program in an order that keeps data, edges and hand-offs, as close as possible to the
/// listed order; writes to shared storage keep the listed order.
table<position_id, step_id> concurrent_step_order(snapshot const& p, plan_options const& options,
                                                  std::vector<handoff> handoffs);

/// The hand-offs given, and those of the plan if it is one for any schedule; `plan` may be null.
/// Throws: precondition_error if a given one, unsound_plan if one of the plan does not name two steps.
std::vector<handoff> all_handoffs(snapshot const& p, memory_plan const* plan, std::vector<handoff> handoffs);

/// Checks a plan for its own reading.
/// Throws: unsound_plan with what check_plan() or check_concurrent_plan() finds.
void expect_sound(snapshot const& p, memory_plan const& plan, plan_options const& options);

/// The steps in the order of the plan, or in that of the options if there is no plan; for a plan for any
/// schedule in one that data, edges, its hand-offs and those given allow. `plan` may be null.
///
/// Requires:   as lower_program(); the options are those of the plan, as options_of_plan() returns them.
/// Complexity: that of lower_program(), and for a plan for any schedule of dependences().
/// Throws:     unsound_plan if there is no such order, or a hand-off of the plan does not name two steps;
///             precondition_error where a requirement is broken, or a given hand-off does not.
[[nodiscard]] lowered_program lower_planned(snapshot const& p, plan_options const& options,
                                            memory_plan const* plan, std::vector<handoff> handoffs = {});

/// Lowers a program for a concurrent run in a memory mode, and finds its waits.
///
/// For a plan for any schedule, the order is one that its hand-offs, data and edges allow; its offsets are
/// not checked. If the listed order in `options.order` can be run, the new order has the same results: a part
/// that is written through a view keeps its place among the readers. For a plan for one order, the order is
/// that of the plan, and hand-offs are found where bytes are reused. Without a plan it is `options.order`.
/// `handoffs` are kept too.
///
/// Requires:   as lower_program().
/// Ensures:    every run that keeps the waits leaves what the lowered program leaves step by step. No wait
///             can be left out.
/// Complexity: O(V + E + steps + touches + pairs log pairs), and has_indirect_path() for the pairs: one for
///             each read; for each write one for each reader since the last write; for each buffer placed one
///             for each reader of the buffers that it overlaps; without readers that a later one waits
///             for directly. With a plan for one order, also O(segments) for each buffer.
/// Throws:     unsound_plan if the order is invalid, an edge or a hand-off leads to a lower position,
///             hand-offs reorder a write with another touch of its storage, or the plan is of another program
///             or, for one order, has wrong addresses; precondition_error where a requirement is broken.
[[nodiscard]] run_order run_order_of(snapshot const& p, plan_options const& options, memory_plan const* plan,
                                     std::vector<handoff> const& handoffs);
template <memory_mode Mode>
[[nodiscard]] run_order run_order_of(snapshot const& p, plan_options const& options, Mode const& mode,
                                     std::vector<handoff> const& handoffs = {})
{
    return run_order_of(p, options, plan_in(mode), handoffs);
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/run_order.ipp>
#endif

#endif
