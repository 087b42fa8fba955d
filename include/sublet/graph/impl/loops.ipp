// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_IMPL_LOOPS_IPP
#define SUBLET_GRAPH_IMPL_LOOPS_IPP

#include <sublet/graph/loops.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL node_id loop_forest::outermost_excluding(node_id n, node_id avoided) const
{
    node_id result = n;
    for (node_id h = innermost(n); h != no_node && !is_above(h, avoided); h = parent[h]) result = h;
    return result;
}

SUBLET_DECL loop_forest loops(csr_graph const& g, csr_rows const& predecessors,
                              depth_first_forest const& search)
{
    std::size_t const nodes = g.rows();
    loop_forest forest;
    forest.parent.assign(nodes, no_node);
    forest.kind.assign(nodes, loop_kind::none);

    // Loops found so far are collapsed: every node stands for itself or is represented by a header.
    std::vector<node_id> above(nodes);
    for (std::size_t n = 0; n != nodes; ++n) above[n] = static_cast<node_id>(n);
    auto representative = [&above](node_id n) {
        while (above[n] != n) n = above[n] = above[above[n]];
        return n;
    };

    // Edges into the middle of a loop, handed to its header: lists, linked by index.
    struct entry_edge {
        node_id from;
        std::size_t next;
    };
    constexpr std::size_t none = ~std::size_t{0};
    std::vector<entry_edge> handed;
    std::vector<std::size_t> first_handed;

    std::vector<node_id> body;
    std::size_t tree_end = nodes; // in preorder; what comes later does not belong to the tree of the header
    for (std::size_t at = nodes; at-- != 0;) {
        node_id const header = search.preorder[at];
        auto join = [&](node_id n) {
            if (n == header || forest.parent[n] == header) return;
            forest.parent[n] = header; // which also says that it is in the body
            body.push_back(n);
        };
        body.clear();
        for (node_id p : predecessors[header]) {
            if (!search.is_ancestor(header, p)) continue;
            forest.kind[header] = loop_kind::reducible;
            join(representative(p));
        }
        auto came_from = [&](node_id from) {
            if (search.entered[from] >= tree_end) return;
            node_id const outer = representative(from);
            if (search.is_ancestor(header, outer)) return join(outer);
            forest.kind[header] = loop_kind::irreducible;
            if (first_handed.empty()) first_handed.assign(nodes, none);
            handed.push_back({outer, first_handed[header]});
            first_handed[header] = handed.size() - 1;
        };
        for (std::size_t i = 0; i != body.size(); ++i) {
            node_id const inside = body[i];
            for (node_id p : predecessors[inside]) came_from(p);
            if (first_handed.empty()) continue;
            for (std::size_t e = first_handed[inside]; e != none; e = handed[e].next)
                came_from(handed[e].from);
        }
        for (node_id inside : body) above[inside] = header;
        forest.loops += forest.kind[header] != loop_kind::none;
        forest.irreducible_loops += forest.kind[header] == loop_kind::irreducible;
        if (search.parent[header] == no_node) tree_end = at;
    }
    static_cast<nesting&>(forest) = nest(forest.parent, reverse_postorder(search));
    return forest;
}

} // namespace sublet

#endif
