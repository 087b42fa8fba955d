// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_NODE_ENDS_HPP
#define SUBLET_CHECKING_NODE_ENDS_HPP

/// What is read where the nodes of a control-flow graph end: by edges, and by whoever takes the outputs.
///
///     0 ──► 1 ──► 2        2 has no successor: the program ends, and its outputs are read
///     └──► 3 ◄──► 4        3 and 4 go round for ever: stopped where either ends, what is there of the
///                          outputs has to be right
///
/// It is the checker's own derivation, on purpose a second one.

#include <sublet/checking/demands.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace sublet {

struct node_ends {
    csr_rows read_by_edges;                ///< by node: values
    std::vector<value_id> outputs;         ///< ascending
    std::vector<unsigned char> is_endless; ///< by node: no path leads to one without successors
};

/// Requires:   `asked` are the demands of the program.
/// Complexity: O(values + V + E + touches).
[[nodiscard]] inline node_ends ends_of_nodes(snapshot const& p, plan_demands const& asked)
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
