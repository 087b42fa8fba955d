// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_HANDOFFS_HPP
#define SUBLET_PLAN_HANDOFFS_HPP

/// Offsets for concurrent steps, made smaller by hand-offs: added waits of one step for another.
///
///     auto planned = sublet::plan_with_handoffs(program, {.bytes = sizes});
///     for (auto h : planned.plan.handoffs) std::cout << h.to << " waits for " << h.from << '\n';
///
///     plan for every schedule ──┬─► within the limit: that plan, no waits
///     plan for one schedule ────┘   otherwise: find_handoffs ─► leave out what the limit does not need ─►
///                                   check_concurrent_plan
///
/// The limit of a pool is the height in one schedule and `minimum_gain`, or its capacity; with `most_bytes`
/// all pools have one together.
///
/// A plan for every schedule separates all buffers that are live together in any of them. Often it is as low
/// as a plan for one order. Where it is not, some steps wait for others. All hand-offs agree with one
/// schedule, so the critical path never exceeds the makespan of that schedule, which the caller has accepted.
///
///     bytes │ x                 the schedule is found by list scheduling under caps on live bytes: that
///           │   x               of fewest bytes within the makespan, or the shortest within the bytes.
///           │      x     x      None can end in deadlock (planning/detail/capped_schedule.hpp)
///           └───────────────── makespan

#include <sublet/core/plan.hpp>
#include <sublet/core/schedule.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/planned_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// A plan with hand-offs; `plan.handoffs` has them.
struct planned_with_handoffs : planned_memory {
    table<step_id, step_time> schedule;    ///< the accepted one, also if its plan exceeds a limit
    std::vector<byte_count> handoff_bytes; ///< by hand-off of the plan: bytes passed on
    byte_count bytes_without = 0;          ///< of the plan for every schedule that keeps groups and workers
    std::uint64_t makespan = 0;            ///< the accepted one
    std::uint64_t least_makespan = 0;      ///< no schedule for the workers is shorter
    byte_count least_bytes = 0;            ///< no schedule has fewer live bytes at its peak
    std::uint64_t critical_path = 0;       ///< without hand-offs
    std::uint64_t critical_path_with = 0;  ///< never longer than `makespan`
};

/// Plans storage and hand-offs; steps may run in any order, and concurrently, that respects both.
///
/// Requires:   as plan_concurrent; every duration is at least 1.
/// Ensures:    the plan is valid for the concurrent reading together with its hand-offs (given ones first),
///             and proved unless `options.check` is off. No added hand-off is redundant, but for those past
///             optional steps and between steps of one worker; the critical path stays within `makespan`.
///             A pool keeps the plan for every schedule if that is within its limit. Otherwise few steps
///             wait: those that are left were needed in a trial, as far as the effort allows, so that the
///             pool is within its limit. With hand-offs, the lower bound is that of plans under the schedule.
///             `options.order` is the priority of steps under a cap; without it, that is an order of low
///             peak. For one worker never more bytes than plan_memory() in the same order, unless it may have
///             more. Schedules by the longest path, and for fewer workers, are candidates, so more workers do
///             not need more bytes within the same `longest`, up to the minimum gain, what offsets need above
///             the live bytes, and the work that `options.effort` allows.
///             A given `schedule` is accepted as it is, for the durations, workers and groups that are given
///             with it. With groups the given hand-offs are followed by those of an accepted schedule between
///             sections, so every execution that keeps all hand-offs keeps the groups; hand-offs for storage
///             may imply some of these. The bounds are those without groups.
///             With `keeps_workers` the hand-offs from each step to the next on its worker follow the given
///             ones, and then those for storage, which lead between workers only. The schedule is the one
///             that is accepted without.
///             With `options.previous` buffers return to their places where that needs no bytes, and no wait
///             of a buffer without any; with `most_bytes`, `keep_within` has no effect.
///             Error: over_time if the shortest schedule that is found is longer than `longest`, over_budget
///             if the arenas exceed `most_bytes`; `least_makespan` and `least_bytes` are bounds, and what is
///             between is not found. Those of check_schedule(), if a schedule is given, and those of
///             schedules(), if groups are.
/// Complexity: plan_concurrent(), order() with a sixteenth of its work, list schedules of 10^6 steps together
///             (at least four) in O(edges + touches log steps) each, pack() for up to nine schedules, and
///             drop_waits(): up to 256 placements. None of the schedules, if the plan for every schedule is
///             within the minimum gain of the bytes that every order needs.
/// Throws:     precondition_error if a precondition of a stage is violated.
[[nodiscard]] planned_with_handoffs plan_with_handoffs(snapshot const& p, plan_options const& options,
                                                       handoff_options const& wanted = {});

/// The same for a listing: the result is asked with handles.
template <detail::listed L>
[[nodiscard]] auto plan_with_handoffs(L const& list, handoff_options const& wanted = {})
{
    return list.named(plan_with_handoffs(list.program(), list.sized_options(), wanted));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/plan_handoffs.ipp>
#endif

#endif
