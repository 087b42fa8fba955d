// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_PLACE_IN_SCHEDULE_HPP
#define SUBLET_PLANNING_DETAIL_PLACE_IN_SCHEDULE_HPP

/// Placement under a schedule that waits can enforce: the lowest of the schedules of least makespan, bounds
/// of every plan in it, and few waits within a limit on bytes.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/schedule.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/detail/capped_schedule.hpp>
#include <sublet/planning/detail/schedule.hpp>
#include <sublet/planning/detail/schedule_search.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

struct plan_in_schedule {
    capped_schedule chosen;
    table<step_id, std::uint32_t> worker;
    scheduled_graph timed;
    concurrent_live_ranges lives;
    table<buffer_id, live_range> in_schedule;
    placement placed;
    byte_count bytes = no_limit;
};

/// What a schedule has to keep.
struct schedule_request {
    per_value<std::uint64_t, step_id> const& duration;
    std::size_t workers;   ///< 0: one for each step
    std::uint64_t longest; ///< 0: the shortest makespan that is found
    byte_count most;       ///< live at any time, of all pools together
    byte_count least;      ///< bytes that every schedule needs
    /// Orders in which little is live, of which those nearest are taken that `g` allows. None: only list
    /// schedules by the longest path.
    std::vector<std::vector<node_id>> orders;
    bool is_curve = false;                                ///< all that no other beats
    bool is_capped = true;                                ///< live bytes, by the capacities of pools
    std::vector<step_group> groups = {};                  ///< that are in the problem
    table<step_id, std::uint64_t> const* given = nullptr; ///< starts: the schedule is not searched
};

/// Sequences to run the steps of `problem` one after the other: one for each order, the same once.
[[nodiscard]] std::vector<std::vector<step_id>>
reference_sequences(snapshot const& p, schedule_problem const& problem, schedule_request const& request);

/// Schedules within the limits: those of the longest paths, which `by_path` gets, also if they are not within
/// them, and those that the search finds.
[[nodiscard]] capped_curve find_schedules(snapshot const& p, dependence_graph const& g,
                                          schedule_problem const& steps, placement_problem const& problem,
                                          schedule_request const& request, effort work,
                                          std::vector<capped_schedule>& by_path);

/// The placement in the schedule of fewest bytes within the makespan, or of the shortest within the bytes.
///
/// Ensures: without a limit on bytes, never a longer makespan than that of list schedules by the longest path,
///          nor within it more bytes live at any time.
[[nodiscard]] plan_in_schedule place_in_schedule(snapshot const& p, dependence_graph const& g,
                                                 placement_problem& problem,
                                                 table<value_id, buffer_id> const& buffer_of,
                                                 table<value_id, value_role> const& role,
                                                 schedule_request const& request, effort work);

/// For each pool, the most bytes at one position of the schedule that no plan in it goes below, whichever
/// pairs it takes: a result needs no bytes of its own while its step runs, if nothing touches the operand
/// afterwards.
[[nodiscard]] table<pool_id, byte_count> bounds_in_schedule(snapshot const& p, plan_options const& options,
                                                            memory_plan const& plan,
                                                            placement_problem const& problem,
                                                            plan_in_schedule const& schedule);

/// The waits that make a placement in the schedule valid for every execution.
[[nodiscard]] handoff_set waits_of(plan_in_schedule const& schedule, placement_problem const& problem,
                                   placement const& placed);

/// Replaces a placement in the schedule by one that needs fewer of its waits, with no pool above its limit.
/// `conflicts` are those that `placed` keeps.
///
/// Source: leaving out halves, then quarters, as in Zeller and Hildebrandt, "Simplifying and isolating
/// failure-inducing input", IEEE Transactions on Software Engineering 2002.
/// Complexity: for w waits at most 2 w trials, each find_conflict_ranges() and a placement of 64 to 256
///             visits for each buffer, and as many as the effort allows: 64 to 256.
void drop_waits(plan_in_schedule const& schedule, placement_problem const& problem,
                table<pool_id, byte_count> const& limits, effort work, placement& placed,
                buffer_range_lists& conflicts);

/// Bounds of the placement that are above these become these.
void lower_bounds_to(table<pool_id, byte_count> const& bounds, placement& placed);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/place_in_schedule.ipp>
#endif

#endif
