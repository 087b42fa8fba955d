// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_WORKFLOW_SCHEDULE_TASKS_HPP
#define SUBLET_EXAMPLES_WORKFLOW_SCHEDULE_TASKS_HPP

/// Schedules of the tasks for several workers, and the plan of one of them.
///
///     live bytes │ x                 a point for each schedule; taken is the shortest within a cap, or the
///            cap ┼╌╌╌╌╌╌╌╌╌╌╌        one of fewest bytes within a time, as far as offsets keep to the cap,
///                │   x               too
///                │      @     x
///                └───────────────── makespan

#include "task_graph.hpp"

#include <sublet/core/units.hpp>
#include <sublet/listing.hpp>
#include <sublet/schedules.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace workflow {

using list_of_files = sublet::listing<std::string_view>;

struct schedule_limits {
    std::size_t workers = 0; ///< 0: no schedule is asked for
    byte_count most_bytes = sublet::no_limit;
    std::uint64_t longest = 0; ///< 0: any
};

struct taken_schedule {
    sublet::schedule_curve curve; ///< without the limits
    std::size_t taken = 0;        ///< the point
    std::size_t passed_over = 0;  ///< shorter points of which offsets need more than the cap
    byte_count arena = 0;         ///< of the plan in this schedule
    std::uint64_t makespan = 0;   ///< the same
    std::size_t handoffs = 0;     ///< the same
};

/// The list is that of the tasks, in their order; of one without a duration it is 1.
/// Throws: input_error if no schedule that was found keeps the limits.
taken_schedule schedule_tasks(task_graph const& g, list_of_files const& list, schedule_limits const& limits);

/// A table: a row for each point.
void write_curve(std::ostream& out, sublet::schedule_curve const& curve);

} // namespace workflow

#endif
