// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_CARRIED_PLACES_HPP
#define SUBLET_PLANNING_DETAIL_CARRIED_PLACES_HPP

/// Where values lie that are carried from each round to the next (plan_options::carried).
///
///     before [====)                     no read of `before` follows the first write of `now`: one place
///     now            [=========
///
///     before [=========)                otherwise two, and each is held for the whole round, since the
///     now         [============         other value lies there in the next one
///
/// A step that may write `now` over `before` gives them one place, too.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <vector>

namespace sublet::detail {

/// What has one place.
struct carried_places {
    std::vector<plan_options::carry> together; ///< with buffers of their own
    std::vector<memory_plan::in_place_pair> in_place =
        {}; ///< joined, since a step writes the one over the other
};

/// Sets lives, roles and alignments of the buffers of carried values, and joins two that a step writes in
/// place. Neither takes part in other in-place pairs.
///
/// Requires:   `lives` in the buffers are by position, and `steps` the steps by position.
/// Complexity: O(values + pairs), if any is carried; up to 64 times if matches of several groups compete.
/// Throws:     as carried_groups().
[[nodiscard]] carried_places place_carried(snapshot const& p, plan_options const& options,
                                           table<position_id, step_id> const& steps, buffer_table& buffers);

/// The same for every schedule: two that are to have one place are joined. Those that change places get the
/// roles of inputs and outputs in `role`. Returns the pairs in place.
///
/// Requires:   `g` is the graph of `p`, without an error.
/// Complexity: that of find_conflict_ranges() for the carried buffers.
[[nodiscard]] std::vector<memory_plan::in_place_pair>
place_carried(snapshot const& p, plan_options const& options, dependence_graph const& g,
              buffer_table& buffers, table<value_id, value_role>& role);

/// The roles by which the values of a plan live: those that change places are there before the first step and
/// after the last.
///
/// Requires: `options` have the roles of what is carried.
[[nodiscard]] table<value_id, value_role> roles_in_rounds(plan_options const& options,
                                                          memory_plan const& plan);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/carried_places.ipp>
#endif

#endif
