// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IN_PLACE_HPP
#define SUBLET_SHARING_IN_PLACE_HPP

/// Let results be written over operands that nobody needs any more, where the program allows it.
///
///     y = relu(x)  may overwrite x              x  [=====)
///                                               y      [=======)
///     one buffer for both                       xy [===========)
///
/// Without this an output never shares with an input of its own step. The pairs taken leave the fewest bytes
/// alive, at every position at once: no other choice has fewer anywhere. That says nothing about where
/// buffers can be placed: what is joined has a longer life, and may be in the way of others.

#include <sublet/analysis/buffers.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/sharing/in_place_pairs.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// The in-place pairs to take; `steps` are the program's steps by position.
///
/// Ensures:    match_in_place() says which. A buffer is free if nothing touches it after the step (a use at
///             the end of the step's node counts) and it is alive at the step: whose last touch is an early
///             one has gone before the step writes, and others may use its bytes without any pair.
/// Complexity: O(values + steps + touches + pairs) time, and match_overwrites() for each step; O(values +
///             steps) memory.
[[nodiscard]] std::vector<in_place_pair> match_in_place(snapshot const& p, std::vector<step_id> const& steps,
                                                        buffer_table const& table,
                                                        in_place_fit fit = in_place_fit::at_least);

/// Join the buffers of declared in-place pairs; `steps` are the program's steps by position. For slots take
/// operands of equal size, or lives from buffer::slot_life().
[[nodiscard]] buffer_table take_in_place(snapshot const& p, std::vector<step_id> const& steps,
                                         buffer_table table, in_place_fit fit = in_place_fit::at_least);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/in_place.ipp>
#endif

#endif
