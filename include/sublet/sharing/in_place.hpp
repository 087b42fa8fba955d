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
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/live_range.hpp>
#include <sublet/sharing/in_place_pairs.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace sublet {

/// The in-place pairs to take; `steps` are the program's steps by position.
///
/// Ensures:    match_in_place() says which. A buffer is free if nothing touches it after the step (a use at
///             the end of the step's node counts) and it is alive at the step: whose last touch is an early
///             one has gone before the step writes, and others may use its bytes without any pair.
/// Complexity: O(values + steps + touches + pairs) time, and match_overwrites() for each step; O(values +
///             steps) memory.
[[nodiscard]] inline std::vector<in_place_pair> match_in_place(snapshot const& p,
                                                               std::vector<step_id> const& steps,
                                                               buffer_table const& table,
                                                               in_place_fit fit = in_place_fit::at_least)
{
    if (p.overwrites().empty()) return {};

    // The first position whose step may write over a buffer. Its life does not say: it ends before an early
    // use, and what an edge carries out of a node is read after the node's last step has written.
    std::vector<step_id> position_of(steps.size()), free_from(table.buffers.size(), 0);
    for (step_id at = 0; at != steps.size(); ++at) {
        position_of[steps[at]] = at;
        for (touch t : p.touches(steps[at])) free_from[table.buffer_of[t.value]] = at;
    }
    for (edge_use u : p.edge_uses()) {
        step_id& free = free_from[table.buffer_of[u.value]];
        free = larger(free, position_of[p.steps_of(u.pred).last - 1] + 1);
    }
    return match_in_place(
        p, table,
        [&](buffer_id b, step_id s) {
            return free_from[b] <= position_of[s] && contains(table.buffers[b].life, position_of[s]);
        },
        [&](buffer_id b, step_id s) { return table.buffers[b].life.first == position_of[s]; }, fit);
}

/// Join the buffers of declared in-place pairs; `steps` are the program's steps by position. For slots take
/// operands of equal size, or lives from buffer::slot_life().
[[nodiscard]] inline buffer_table take_in_place(snapshot const& p, std::vector<step_id> const& steps,
                                                buffer_table table, in_place_fit fit = in_place_fit::at_least)
{
    std::vector<in_place_pair> pairs = match_in_place(p, steps, table, fit);
    return join_in_place(std::move(table), std::move(pairs));
}

} // namespace sublet

#endif
