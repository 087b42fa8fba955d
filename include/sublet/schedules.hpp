// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SCHEDULES_HPP
#define SUBLET_SCHEDULES_HPP

/// Schedules for several workers between the shortest and the one of fewest live bytes.
///
///     auto curve = sublet::schedules(list, {.workers = 4});
///     std::cout << curve;                                        // a line for each schedule
///     if (auto const* point = curve.within_bytes(6'000'000'000))
///         std::cout << sublet::plan_with_handoffs(list, {.workers = 4, .schedule = point->steps});
///
///     live bytes │ x              no schedule that was found beats another in both: more time, fewer bytes.
///                │   x            The bounds are the axes: no schedule for the workers is shorter than
///                │      x     x   `least_makespan`, and none has fewer live bytes than `least_bytes`
///                └──────────────── makespan

#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/schedule.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// Schedules of one program; false, with the reason, if there are none.
struct schedule_curve : verdict {
    std::vector<step_schedule> points; ///< the makespan ascends, and the live bytes descend
    std::uint64_t least_makespan = 0;  ///< no schedule for the workers is shorter, also without groups
    byte_count least_bytes = 0;        ///< no schedule has fewer live bytes at its peak
    char const* unit = nullptr;        ///< as in plan_report

    /// The one of fewest live bytes that takes no longer, or null.
    [[nodiscard]] step_schedule const* within_time(std::uint64_t longest) const;
    /// The shortest that has no more live bytes, or null.
    [[nodiscard]] step_schedule const* within_bytes(byte_count most) const;
};

/// Searches schedules of a program in which steps run concurrently.
///
/// Of `wanted` it keeps the durations, workers, hand-offs and groups; schedules above `longest` and
/// `most_bytes`, or above the capacity of a pool, are left out. `options.order` is the priority of steps
/// under a cap; without it, that is the listed order and one of low peak.
///
/// Requires:   as plan_concurrent; every duration is at least 1; a section names steps, each once in a group,
///             and `at_once` is at least 1.
/// Ensures:    every point is proved by check_schedule(), unless `options.check` is off; none can end in
///             deadlock. There is one if no limit is given, or if the given order (without one, the listed
///             order or one of low peak) keeps the limits when steps run one after the other.
///             Errors: those of plan_concurrent before it places; over_group if neither order keeps the
///             groups with each section run through; over_budget, over_time or over_capacity if what is found
///             exceeds these limits.
/// Complexity: order() with a sixteenth of its work, and list schedules of 10^6 steps together (at least
///             four), in O(edges + touches log steps + groups steps) each; `options.effort` scales both.
/// Throws:     precondition_error if a precondition of a stage is violated.
[[nodiscard]] schedule_curve schedules(snapshot const& p, plan_options const& options,
                                       handoff_options const& wanted = {});
/// The same for a listing, with its names.
template <detail::listed L>
[[nodiscard]] schedule_curve schedules(L const& list, handoff_options const& wanted = {})
{
    list.expect_no_carry("schedules");
    return list.named(schedules(list.program(), list.sized_options(), wanted));
}

/// Writes a line for each schedule and one with the bounds to any text stream, with rounded sizes (the
/// members are exact); or why there is none.
///
/// Complexity: O(points).
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, schedule_curve const& curve)
{
    detail::plain_text<Stream> text{out, curve.unit};
    if (!curve) {
        text << "no schedule: " << curve.error();
        return out;
    }
    for (step_schedule const& point : curve.points) {
        text << "makespan " << point.makespan << ": ";
        detail::write_bytes(text, point.live_bytes);
        text << " live\n";
    }
    text << "no schedule is shorter than " << curve.least_makespan << " or has fewer than ";
    detail::write_bytes(text, curve.least_bytes);
    text << " live\n";
    return out;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/schedules.ipp>
#endif

#endif
