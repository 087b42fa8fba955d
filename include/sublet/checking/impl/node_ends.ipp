// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_NODE_ENDS_IPP
#define SUBLET_CHECKING_IMPL_NODE_ENDS_IPP

#include <sublet/checking/node_ends.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/value_role.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL node_ends ends_of_nodes(snapshot const& p, plan_demands const& asked)
{
    node_ends ends;
    std::vector<node_id> open;
    ends.is_endless.assign(p.nodes(), 1);
    for (node_id n = 0; n != p.nodes(); ++n)
        if (p.successors(n).empty()) {
            ends.is_endless[n] = 0;
            open.push_back(n);
        }
    while (!open.empty()) {
        node_id const n = open.back();
        open.pop_back();
        for (node_id before : p.predecessors(n))
            if (std::exchange(ends.is_endless[before], 0)) open.push_back(before);
    }
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(asked.role[v], value_role::output)) ends.outputs.push_back(v);
    ends.read_by_edges = csr_rows::gathered(p.nodes(), [&p](auto add) {
        for (edge_use u : p.edge_uses()) add(u.pred, u.value);
    });
    return ends;
}

} // namespace sublet

#endif
