// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_CLOCK_CONFLICTS_HPP
#define SUBLET_ORDERING_CLOCK_CONFLICTS_HPP

/// Which buffers conflict if some of them may be waited for, as far as a clock does so too.
///
///     position, as the clock starts them     0   1   2   3   4   5   6     a: ends before 2 begins
///     a, under every schedule                [=======)   [===)   [===)
///     a, if who begins at 5 may wait         [=======)   [===)
///     a, if everybody may                    [=======)
///
/// Under every schedule a buffer conflicts with what begins until it ends in the clock, and with some behind:
/// the branches beside it. Whoever begins there could be made to wait, and the clock would not take longer.
/// So ranges behind the end can be taken out for some buffers only, as few as memory asks for.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/live_range.hpp>

#include <vector>

namespace sublet {

/// The positions that conflict with each buffer if those that `may_wait` give and take bytes by hand-offs.
///
/// Requires:   positions are numbered as the clock starts them (ordering/clock_order.hpp); `exact` are the
///             conflicts under every schedule (analysis/later_conflicts.hpp), `in_clock` those in the clock
///             (ordering/clock_lives.hpp).
/// Ensures:    of two buffers that conflict in `exact` the same is said here if they overlap in the clock, or
///             if neither may wait and nobody who may begins where the later one does. No others conflict. A
///             buffer whose ranges would fall into very many pieces counts as one that may wait.
/// Complexity: O(positions + buffers + ranges of `exact` + ranges of the result).
[[nodiscard]] live_range_lists clock_conflicts(live_range_lists const& exact, concurrent_lives const& lives,
                                               std::vector<live_range> const& in_clock,
                                               std::vector<unsigned char> const& may_wait);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/clock_conflicts.ipp>
#endif

#endif
