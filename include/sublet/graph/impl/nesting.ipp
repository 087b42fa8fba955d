// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_IMPL_NESTING_IPP
#define SUBLET_GRAPH_IMPL_NESTING_IPP

#include <sublet/graph/nesting.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>

namespace sublet {

SUBLET_DECL nesting nest(std::vector<node_id> const& parent, std::vector<node_id> const& order)
{
    std::size_t const nodes = parent.size();
    nesting result;
    result.preorder = std::vector<node_id>(nodes);
    result.entered = std::vector<node_id>(nodes);
    result.end.assign(nodes, 1); // how many nodes the subtree has; from the second loop on, where it ends
    for (std::size_t i = nodes; i-- != 0;)
        if (node_id const n = order[i]; parent[n] != no_node) result.end[parent[n]] += result.end[n];

    node_id next_root = 0;
    std::vector<node_id> next_child(nodes); // by node: where in preorder its next child goes
    for (node_id n : order) {
        node_id& next = parent[n] == no_node ? next_root : next_child[parent[n]];
        result.entered[n] = next;
        result.preorder[next] = n;
        next_child[n] = next + 1;
        next += result.end[n];
        result.end[n] = next;
    }
    return result;
}

} // namespace sublet

#endif
