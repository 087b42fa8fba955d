// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_SPILL_RUN_HPP
#define SUBLET_PLANNING_DETAIL_SPILL_RUN_HPP

/// A run of a program within limits: its steps, with copies and steps that run again between them.

#include <sublet/core/units.hpp>
#include <sublet/planning/spills.hpp>

#include <vector>

namespace sublet::detail {

/// A step of a run within a limit.
struct spill_event {
    spilled_program::kind kind = spilled_program::kind::original;
    position_id at = 0;     ///< of the step; of a copy: it follows or precedes the step there
    position_id before = 0; ///< the next position of the program; its own if it is a step of the program
    buffer_id buffer = no_buffer; ///< that is copied, or that the step runs again for
};

struct spill_run {
    std::vector<spill_event> events;
    /// For each step that runs again the buffers that it restores, and then `no_buffer`.
    std::vector<buffer_id> restored;
    byte_count cost = 0;
    byte_count excess = 0; ///< the most bytes above the limits, of all pools together

    [[nodiscard]] bool is_better_than(spill_run const& other) const
    {
        return excess != other.excess ? excess < other.excess : cost < other.cost;
    }
};

} // namespace sublet::detail

#endif
