// SPDX-License-Identifier: BSL-1.0
#include "schedule_tasks.hpp"

#include <sublet/core/counterexample.hpp>
#include <sublet/plan_handoffs.hpp>

#include <algorithm>
#include <optional>
#include <ostream>
#include <sstream>
#include <vector>

namespace workflow {
namespace {

input_error refusal(sublet::counterexample const& error)
{
    std::ostringstream why;
    why << error;
    return input_error(why.str());
}

/// The point that the limits ask for; one outside of them if there is none, so that its plan says why.
std::size_t point_within(sublet::schedule_curve const& curve, schedule_limits const& limits)
{
    auto const* const first = curve.points.data();
    if (limits.most_bytes != sublet::no_limit) {
        auto const* const point = curve.within_bytes(limits.most_bytes);
        return static_cast<std::size_t>((point != nullptr ? point : &curve.points.back()) - first);
    }
    auto const* const point = limits.longest != 0 ? curve.within_time(limits.longest) : nullptr;
    return static_cast<std::size_t>((point != nullptr ? point : first) - first);
}

} // namespace

taken_schedule schedule_tasks(task_graph const& g, list_of_files const& list, schedule_limits const& limits)
{
    std::vector<std::uint64_t> duration;
    for (task const& t : g.tasks) duration.push_back(std::max<std::uint64_t>(t.duration, 1));
    taken_schedule result;
    result.curve = sublet::schedules(list, {.duration = duration, .workers = limits.workers});
    if (!result.curve) throw refusal(result.curve.error());

    std::size_t const first = point_within(result.curve, limits);
    std::optional<sublet::counterexample> least; // the plan above the cap that has the fewest bytes
    for (std::size_t at = first; at != result.curve.points.size(); ++at) {
        sublet::step_schedule const& point = result.curve.points[at];
        if (at != first && limits.longest != 0 && point.makespan > limits.longest) break;
        auto const planned = sublet::plan_with_handoffs(list, {.duration = duration,
                                                               .workers = limits.workers,
                                                               .longest = limits.longest,
                                                               .most_bytes = limits.most_bytes,
                                                               .schedule = point.steps});
        if (planned) {
            result.taken = at;
            result.passed_over = at - first;
            result.arena = planned.bytes();
            result.makespan = planned.makespan;
            result.handoffs = planned.plan.handoffs.size();
            return result;
        }
        sublet::counterexample const& error = planned.error();
        if (error.what != sublet::fault::over_budget) throw refusal(error);
        using place = sublet::counterexample::place;
        if (!least || error.as<place>()->end < least->as<place>()->end) least = error;
    }
    throw refusal(*least);
}

void write_curve(std::ostream& out, sublet::schedule_curve const& curve)
{
    out << "makespan,live_bytes\n";
    for (sublet::step_schedule const& point : curve.points)
        out << point.makespan << ',' << point.live_bytes << '\n';
}

} // namespace workflow
