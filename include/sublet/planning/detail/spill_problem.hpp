// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_SPILL_PROBLEM_HPP
#define SUBLET_PLANNING_DETAIL_SPILL_PROBLEM_HPP

/// The spills of a program as a problem for advise(): idle intervals of buffers on positions that leave room
/// for reloads.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/detail/advise.hpp>
#include <sublet/planning/detail/spill_candidates.hpp>
#include <sublet/planning/spills.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Positions of steps, spaced to leave positions for reloads.
///
///     step 0 | copies back | step 0 again | step 1 | copies back | step 2 ...
struct spaced_positions {
    table<position_id, position_id> of_step; ///< of the step at a position
    std::vector<position_id> reload_at;      ///< by candidate: the position at which it is restored

    spaced_positions(std::size_t positions, std::vector<spill_candidate> const& candidates);

    /// The live range of a buffer, without holes, and extended over the gap before a final early use.
    [[nodiscard]] live_range life(buffer const& b, position_id last_touch) const;
};

struct spill_problem {
    table<position_id, step_id> steps;
    std::vector<memory_plan::in_place_pair> in_place;
    std::vector<spill_candidate> candidates;
    table<pool_id, lowest_load> least;
    spaced_positions spaced{0, {}};
    placement_problem problem;
    idle_times times;

    spill_problem(snapshot const& p, plan_options const& options, advice_options const& how);

private:
    /// Whether storage is free before its last reader writes: after an early read, without a copy.
    bool is_freed_early(snapshot const& p, buffer_table const& joined,
                        std::vector<sort_key> const& at_node_ends, spill_candidate const& a) const;

    /// Adds the needs and loads of a recomputed step, and returns the bytes that it touches.
    byte_count list_remat(snapshot const& p, buffer_table const& unjoined, buffer_table const& joined,
                          csr_rows<buffer_id, std::uint32_t> const& of_buffer, std::uint32_t i);
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/spill_problem.ipp>
#endif

#endif
