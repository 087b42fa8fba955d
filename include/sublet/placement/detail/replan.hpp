// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_REPLAN_HPP
#define SUBLET_PLACEMENT_DETAIL_REPLAN_HPP

/// Placement that moves few bytes of a previous one. No guaranteed factor.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/internal/pack_options.hpp>

#include <vector>

// --- replan ----------------------------------------------------------------------------------------------

namespace sublet::detail {

///     previous    a b c d e              f is new, c is live longer than before, b must not move
///     fixed       a b . d e              c and d conflict now: the lighter one is unfixed
///     packed      a b c d e f            the others are placed around the fixed ones; if that is too high,
///                                        fixed shapes live near the excess are unfixed, the lightest first,
///                                        in the end all that may move
///
/// The limit is the height with only the kept buffers fixed, so that stability costs no height; with
/// placement::objective::fit it is the capacity. Greedy: fewer moved bytes may be possible. (Even for one
/// position and equal sizes it is a knapsack problem.)
///
/// Requires:   `previous` has the old offset of each buffer, `no_offset` for one that is new or may be
///             anywhere; `keep` is 0 or 1 for each, 1 only for those that have an old offset and no other
///             pin.
/// Ensures:    what pack() ensures; kept buffers have their old offsets. `moved_bytes` is the size of those
///             with another offset than before.
/// Complexity: pack(), and a number of smaller ones that is logarithmic in the number of buffers, or fixed.
[[nodiscard]] placement replan(placement_problem const& problem, table<buffer_id, byte_count> const& previous,
                               table<buffer_id, unsigned char> const& keep, pack_options const& options,
                               search_control& control);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/replan.ipp>
#endif

#endif
