// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IN_PLACE_HPP
#define SUBLET_SHARING_IN_PLACE_HPP

/// Let results be written over operands that nobody needs any more, where the program allows it.
///
///     y = relu(x)  may overwrite x              x  [=====)
///                                               y      [=======)
///     one buffer for both                       xy [===========)
///
/// Without this an output never shares with an input of its own step. Pairs of a step are taken greedily.
/// Only buffers of equal size are joined: that never raises the bytes alive at any position.

#include <sublet/analysis/buffers.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/sharing/in_place_pairs.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace sublet {

/// Join the buffers of declared in-place pairs; `steps` are the program's steps by position.
///
/// Ensures:    a pair is taken if and only if join_in_place allows it, nothing touches the input's buffer
///             after the step (a use at the end of the step's node counts), and the output's buffer begins
///             here.
/// Complexity: O(values + steps + touches + pairs) time, O(values + steps) memory.
template <std::same_as<snapshot> S>
[[nodiscard]] buffer_table take_in_place(S const& p, std::vector<step_id> const& steps, buffer_table table)
{
    if (p.overwrites().empty()) return table;

    // The first position whose step may write over a buffer. Its life does not say: it ends before an early
    // use, and what an edge carries out of a node is read after the node's last step has written.
    std::vector<step_id> position_of(steps.size()), free_from(table.buffers.size(), 0), first;
    for (step_id at = 0; at != steps.size(); ++at) {
        position_of[steps[at]] = at;
        for (touch t : p.touches(steps[at])) free_from[table.buffer_of[t.value]] = at;
    }
    for (edge_use u : p.edge_uses()) {
        step_id& free = free_from[table.buffer_of[u.value]];
        free = larger(free, position_of[p.steps_of(u.pred).last - 1] + 1);
    }
    for (buffer const& b : table.buffers) first.push_back(b.life.first);
    return join_in_place(
        p, std::move(table), [&](buffer_id b, step_id s) { return free_from[b] <= position_of[s]; },
        [&](buffer_id b, step_id s) { return first[b] == position_of[s]; });
}

} // namespace sublet

#endif
