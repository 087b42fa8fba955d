// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_CLOCK_LIVES_HPP
#define SUBLET_ORDERING_CLOCK_LIVES_HPP

/// From when to when each buffer needs its storage, if steps run when a clock says.
///
///     starts     0   0   10   10   12   40        a: begins with a step at 0, ends with one at 30
///     number     0   1   2    3    4    5         a: [0, 5)      who begins at 40 may lie where a was
///
/// Ticks may be nanoseconds, and live ranges have 32 bits. But storage is taken only where a step begins: it
/// is enough to count how many positions start before.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/live_range.hpp>
#include <sublet/ordering/parallel_clock.hpp>

#include <vector>

namespace sublet {

/// The live ranges of buffers, counted in positions by the order in which they start.
///
/// Requires:   `clock` and `lives` are of one graph.
/// Ensures:    two ranges do not overlap if and only if the steps that touch the one buffer have ended in
///             the clock when the first that touches the other begins. An early read holds its buffer to the
///             end of its step. An input lives from 0, an output to the end; no range is empty.
/// Complexity: O((positions + buffers) log positions + begins + ends) time, O(positions + buffers) memory.
[[nodiscard]] std::vector<live_range> clock_lives(concurrent_lives const& lives, clock_times const& clock);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/clock_lives.ipp>
#endif

#endif
