// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_IN_PLACE_IPP
#define SUBLET_SHARING_IMPL_IN_PLACE_IPP

#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/live_range.hpp>
#include <sublet/sharing/in_place.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL std::vector<in_place_pair> match_in_place(snapshot const& p, std::vector<step_id> const& steps,
                                                      buffer_table const& table, in_place_fit fit)
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

SUBLET_DECL buffer_table take_in_place(snapshot const& p, std::vector<step_id> const& steps,
                                       buffer_table table, in_place_fit fit)
{
    std::vector<in_place_pair> pairs = match_in_place(p, steps, table, fit);
    return join_in_place(std::move(table), std::move(pairs));
}

} // namespace sublet

#endif
