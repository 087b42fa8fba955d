// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_IMPL_TRAVERSAL_IPP
#define SUBLET_GRAPH_IMPL_TRAVERSAL_IPP

#include <sublet/graph/traversal.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL depth_first_forest depth_first(csr_graph const& g)
{
    std::size_t const nodes = g.rows();
    depth_first_forest forest;
    forest.preorder.reserve(nodes);
    forest.postorder.reserve(nodes);
    forest.parent.assign(nodes, no_node);
    forest.entered.assign(nodes, no_node);
    forest.left.assign(nodes, no_node);

    struct visit {
        node_id node;
        std::size_t edges_followed;
    };
    std::vector<visit> path;
    auto enter = [&](node_id n) {
        forest.entered[n] = static_cast<node_id>(forest.preorder.size());
        forest.preorder.push_back(n);
        path.push_back({n, 0});
    };
    for (std::size_t root = 0; root != nodes; ++root) {
        if (forest.entered[root] == no_node) enter(static_cast<node_id>(root));
        while (!path.empty()) {
            visit& top = path.back();
            node_id const here = top.node;
            auto const successors = g[here];
            if (top.edges_followed == successors.size()) {
                forest.left[here] = static_cast<node_id>(forest.postorder.size());
                forest.postorder.push_back(here);
                path.pop_back();
                continue;
            }
            node_id const next = successors[top.edges_followed++];
            if (forest.entered[next] != no_node) continue;
            forest.parent[next] = here;
            enter(next);
        }
        if (root == 0) forest.reachable = forest.preorder.size();
    }
    return forest;
}

SUBLET_DECL std::vector<node_id> reverse_postorder(depth_first_forest const& forest)
{
    std::vector<node_id> order;
    order.reserve(forest.preorder.size());
    while (order.size() != forest.preorder.size()) {
        std::size_t const begin = order.size(); // of a tree; there its root was entered
        for (std::size_t i = forest.left[forest.preorder[begin]] + std::size_t{1}; i-- != begin;)
            order.push_back(forest.postorder[i]);
    }
    return order;
}

} // namespace sublet

#endif
