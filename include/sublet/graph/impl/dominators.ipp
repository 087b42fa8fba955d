// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_IMPL_DOMINATORS_IPP
#define SUBLET_GRAPH_IMPL_DOMINATORS_IPP

#include <sublet/graph/dominators.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>

namespace sublet {

SUBLET_DECL dominator_tree dominators(csr_graph const& g, csr_rows const& predecessors,
                                      depth_first_forest const& search)
{
    std::size_t const nodes = g.rows();
    std::vector<node_id> const& left = search.left;
    std::vector<node_id> const order = reverse_postorder(search);
    dominator_tree tree;
    std::vector<node_id>& parent = tree.parent;
    parent.assign(nodes, no_node);

    auto meet = [&](node_id a, node_id b) {
        while (a != b) {
            while (left[a] < left[b]) a = parent[a];
            while (left[b] < left[a]) b = parent[b];
        }
        return a;
    };
    // Tree by tree: while one is treated, the nodes of later ones have no parent and are passed over.
    for (std::size_t begin = 0, end = 0; begin != nodes; begin = end) {
        node_id const root = order[begin];
        end = left[root] + std::size_t{1};
        parent[root] = root;
        for (bool moved = true, may_move_again = true; moved && may_move_again;) {
            moved = may_move_again = false;
            for (std::size_t i = begin + 1; i != end; ++i) {
                node_id const n = order[i];
                node_id closest = no_node;
                for (node_id p : predecessors[n]) {
                    if (parent[p] == no_node) may_move_again = true;
                    else closest = closest == no_node ? p : meet(closest, p);
                }
                if (parent[n] == closest) continue;
                may_move_again = may_move_again || parent[n] != no_node;
                parent[n] = closest;
                moved = true;
            }
        }
        parent[root] = no_node;
    }
    static_cast<nesting&>(tree) = nest(parent, order);
    return tree;
}

} // namespace sublet

#endif
