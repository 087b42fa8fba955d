// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IN_PLACE_FLOW_HPP
#define SUBLET_SHARING_IN_PLACE_FLOW_HPP

/// Let results be written over operands where control flow branches and goes round.
///
///     0: def x                   x  [====)  the value that a loop carries is x in its header, and y, which
///     1: use x, def y  <--.      y     [=)  its end moves there: x = y. The two are never both needed: they
///     2: x = y, over y  --'      x     [==  get one storage, and the move moves nothing.
///     3: use x
///
/// There is no first and last here: a buffer may die at several steps, and be born at several. But whether
/// two buffers may be one is only a question of where they meet. They may if they meet at no position, or
/// only at steps that read the one, for the last time on every path, and may write the other over it.
///
/// A join may stand in the way of another. They are taken greedily, first what moves the most bytes, counted
/// eightfold for each loop around the step. (That is the coalescing of Chaitin, "Register allocation and
/// spilling via graph coloring", SIGPLAN 1982, on buffers. To choose best is NP-hard.)

#include <sublet/analysis/buffers.hpp>
#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// Join the buffers of declared in-place pairs in the control-flow reading.
///
/// Requires:   `lives` are the framed lives of the program with operands handed over, and `position` says of
///             each step at which of their positions it stands.
/// Ensures:    all values of a joined buffer have one size and one pool, and none of them is pinned; two of
///             different buffers of `table` occupy no position together, unless each step there reads the
///             one, after it on no path any more, and declares that it may overwrite that with all that it
///             writes of the other. Joined buffers keep the lowest root.
/// Complexity: O((values + touches + pairs) log), and for each pair the ranges of its two buffers.
[[nodiscard]] buffer_table take_in_place_in_flow(snapshot const& p, live_range_lists const& lives,
                                                 std::vector<step_id> const& position, buffer_table table);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/in_place_flow.ipp>
#endif

#endif
