// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_SCHEDULE_SEARCH_HPP
#define SUBLET_PLANNING_DETAIL_SCHEDULE_SEARCH_HPP

/// Searches schedules that need few bytes and little time: by list scheduling under caps, for several
/// reference orders, ranks and numbers of workers. What it found is a curve, of which a plan takes one point.

#include <sublet/core/units.hpp>
#include <sublet/planning/detail/capped_schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- schedule search -------------------------------------------------------------------------------------

///     bytes │ x                 each point is a schedule that no other beats in both. A lower cap makes the
///           │   x               schedule longer, mostly; which cap a makespan needs is found by bisection
///           │      x     x
///           └───────────────── makespan
///
/// Lemma. No schedule needs fewer bytes than the least peak of an order: the steps of a schedule in the order
/// of their starts have at no step more live bytes than the schedule when that step starts. No schedule for
/// w workers is shorter than the critical path, nor than all durations divided by w.

namespace sublet::detail {

/// Schedules that no other beats in both: the makespan ascends, and the bytes descend.
class capped_curve {
public:
    void offer(capped_schedule schedule);
    [[nodiscard]] std::vector<capped_schedule> const& points() const { return points_; }
    /// The one of fewest bytes within `longest`, or none.
    [[nodiscard]] capped_schedule const* within_time(std::uint64_t longest) const;
    /// The shortest within `most` bytes, or none.
    [[nodiscard]] capped_schedule const* within_bytes(byte_count most) const;

private:
    std::vector<capped_schedule> points_;
};

/// What is asked for.
struct schedule_wish {
    enum class goal : std::uint8_t {
        time,  ///< the fewest bytes within `longest`, or if that is 0 within the shortest makespan found
        bytes, ///< the shortest within the caps
        curve  ///< both ends and points between
    };
    goal wanted = goal::time;
    std::size_t workers = 1;
    std::uint64_t longest = 0;
    schedule_caps caps = {};
    byte_count floor = 0;           ///< no schedule needs fewer bytes: the search ends there
    std::uint64_t work = 1'000'000; ///< steps of all schedules together, about; some are always made
};

/// Whether its live bytes are within the caps.
[[nodiscard]] bool is_within(capped_schedule const& schedule, schedule_caps const& caps);

/// The next number of workers to look at; 0 after 1.
[[nodiscard]] constexpr std::size_t fewer_workers(std::size_t workers)
{
    return workers > 8 ? workers / 2 : workers - 1;
}

/// Offers schedules for at most the workers that are wished for, all within the caps. Schedules for fewer
/// workers are candidates, too, so that more workers never need more bytes within the same time, as far as
/// the work allows.
///
/// Requires:   as schedule_within(), for each of the reference orders; there is one.
/// Complexity: that of schedule_within() for each schedule.
void search_schedules(schedule_problem const& problem, std::vector<std::vector<step_id>> const& references,
                      schedule_wish const& wish, capped_curve& curve);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/schedule_search.ipp>
#endif

#endif
