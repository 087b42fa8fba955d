// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_STAGES_HPP
#define SUBLET_PLANNING_DETAIL_STAGES_HPP

/// What every planner begins and ends with.
///
///     begin_plan ─► what the reading asks for ─► enter_buffers ─► offsets ─► enter_placement ─► finish_plan
///                   (lifetimes, dependences, liveness)               (pack, place_concurrently)

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/planned_memory.hpp>

#include <ctime>

namespace sublet::detail {

/// A report on a plan of the program in which nothing is planned yet.
plan_report begun_report(snapshot const& p, program_reading reading);

/// Nothing is planned yet. Returns the processor time, for finish_plan().
std::clock_t begin_plan(planned_memory& result, snapshot const& p, program_reading reading);

/// Chooses the pools of buffers with choices, before any are joined in place, so that the capacities in
/// `room` hold. The report gets the storage that is not planned, or that a view is larger than its root.
///
/// Throws: as set_chosen_pools() and expect_apart().
void enter_buffers(buffer_table& buffers, plan_options const& options,
                   table<pool_id, pool_limits> const& room, planned_memory& result);

/// Throws: precondition_error for values that are kept apart and are one, share storage, are in two pools
///         without a choice, have storage of their own or of unknown size, are carried, are pinned into one
///         bank, or have more bytes in whole banks than 62 bits hold.
void expect_apart(buffer_table const& table, plan_options const& options);

/// Throws: precondition_error if a pool has reserved bytes, which `planner` does not keep free.
void expect_no_reserved(plan_options const& options, char const* planner);

/// Throws: precondition_error if a pool has pages, which `planner` does not keep.
void expect_no_pages(plan_options const& options, char const* planner);

/// Enters the offsets into the plan, and the sizes and bounds into the report. A sum that exceeds 64 bits
/// saturates.
void enter_offsets(placement const& placed, planned_memory& result);

/// The same, and why the placement is no plan, if it is none.
void enter_placement(placement const& placed, placement_problem const& problem, planned_memory& result);

/// Proves the plan, if that is asked for and there is one, and notes the time since it was begun.
template <class Planned, class Check>
void finish_plan(Planned& result, std::clock_t begun, bool is_asked_for, Check check)
{
    if (is_asked_for && result) {
        result.figures.refute(check());
        result.figures.is_checked = true;
    }
    result.figures.seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/stages.ipp>
#endif

#endif
