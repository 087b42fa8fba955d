// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACED_IN_PLACE_HPP
#define SUBLET_PLACED_IN_PLACE_HPP

/// Which in-place pairs are worth taking once buffers have to be placed.
///
///     bytes          y over x: 64 fewer at position 1       nobody is over anybody
///       128 |     +-----+
///           |-----+ b   |                                   +-----+-----+
///        64 | x+--y-----+                                   |  x  |  y  |
///         0 +--0--1--2--+                                   +--0--1--2--+
///
/// Pairs only ever lower the bytes alive, but who is joined lives longer and cannot move apart. So where a
/// pool ends above the bytes that are alive at once, two other placements are tried, and the lowest stays:
/// with those pairs alone without which the peak would be higher, and with none, if none could be lower.

#include <sublet/analysis/buffers.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/placement/result.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <optional>
#include <vector>

namespace sublet {

struct placed_in_place {
    memory_plan plan;
    placement_problem problem;
    placement placed;
    std::vector<in_place_gain> gains; ///< of the pairs that are taken
    std::optional<witness> refuted;   ///< what speaks against any plan
};

/// Place the buffers of `table`, joined by some of the `pairs`; `steps` are the steps by position.
///
/// Requires:   what join_in_place() requires; no pair could be added or exchanged so that fewer bytes would
///             be alive anywhere, as match_in_place() has it.
/// Ensures:    no pool ends higher than with all pairs, and none higher than without any. The lower bounds
///             hold for every choice of pairs.
/// Complexity: that of pack(), called up to five times; once if all pools come down to the bytes alive.
[[nodiscard]] placed_in_place place_in_place(buffer_table const& table,
                                             std::vector<in_place_pair> const& pairs,
                                             std::vector<step_id> const& steps,
                                             std::vector<pool_limits> const& pools);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/placed_in_place.ipp>
#endif

#endif
