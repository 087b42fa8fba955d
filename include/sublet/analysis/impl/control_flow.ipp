// SPDX-License-Identifier: BSL-1.0

/// Each with a stack or a list of its own and no recursion: the search follows edges from where it left off;
/// dominators are intersected by postorder numbers until nothing changes; loops are collapsed by union-find,
/// from the inside out.

#include <sublet/analysis/control_flow.hpp>
#include <sublet/impl/config.hpp>

// --- traversal -------------------------------------------------------------------------------------------

namespace sublet {

SUBLET_DECL depth_first_forest depth_first(csr_graph const& g)
{
    std::size_t const nodes = g.rows();
    depth_first_forest forest;
    forest.preorder.reserve(nodes);
    forest.postorder.reserve(nodes);
    forest.parent.assign(nodes, no_node);
    constexpr std::uint32_t none = ~std::uint32_t{0};
    forest.preorder_index.assign(nodes, none);
    forest.postorder_index.assign(nodes, none);

    struct visit {
        node_id node;
        std::size_t edges_followed;
    };
    std::vector<visit> path;
    auto enter = [&](node_id n) {
        forest.preorder_index[n] = static_cast<std::uint32_t>(forest.preorder.size());
        forest.preorder.push_back(n);
        path.push_back({n, 0});
    };
    for (node_id root = 0; root != nodes; ++root) {
        if (forest.preorder_index[root] == none) enter(root);
        while (!path.empty()) {
            visit& top = path.back();
            node_id const here = top.node;
            auto const successors = g[here];
            if (top.edges_followed == successors.size()) {
                forest.postorder_index[here] = static_cast<std::uint32_t>(forest.postorder.size());
                forest.postorder.push_back(here);
                path.pop_back();
                continue;
            }
            node_id const next = successors[top.edges_followed++];
            if (forest.preorder_index[next] != none) continue;
            forest.parent[next] = here;
            enter(next);
        }
        if (root == 0) forest.reachable = forest.preorder.size();
    }
    return forest;
}

namespace detail {

SUBLET_DECL std::vector<node_id> reverse_postorder(depth_first_forest const& forest)
{
    std::vector<node_id> order;
    order.reserve(forest.preorder.size());
    while (order.size() != forest.preorder.size()) {
        std::size_t const begin = order.size(); // of the tree; its root is first in preorder
        for (std::size_t i = forest.postorder_index[forest.preorder[begin]] + std::size_t{1}; i-- != begin;)
            order.push_back(forest.postorder[i]);
    }
    return order;
}

// --- preorder forest -------------------------------------------------------------------------------------

SUBLET_DECL detail::preorder_forest number_preorder(table<node_id, node_id> const& parent,
                                                    std::vector<node_id> const& order)
{
    std::size_t const nodes = parent.size();
    detail::preorder_forest result;
    result.preorder = std::vector<node_id>(nodes);
    result.preorder_index = table<node_id, std::uint32_t>(nodes);
    result.end.assign(nodes, 1); // first the size of each subtree, from the second loop on its end
    for (std::size_t i = nodes; i-- != 0;)
        if (node_id const n = order[i]; parent[n] != no_node) result.end[parent[n]] += result.end[n];

    std::uint32_t next_root = 0;
    table<node_id, std::uint32_t> next_child(nodes); // of each node: preorder index of its next child
    for (node_id n : order) {
        std::uint32_t& next = parent[n] == no_node ? next_root : next_child[parent[n]];
        result.preorder_index[n] = next;
        result.preorder[next] = n;
        next_child[n] = next + 1;
        next += result.end[n];
        result.end[n] = next;
    }
    return result;
}

} // namespace detail

// --- dominators ------------------------------------------------------------------------------------------

SUBLET_DECL dominator_tree dominators(csr_graph const& g, csr_rows<node_id, node_id> const& predecessors,
                                      depth_first_forest const& search)
{
    std::size_t const nodes = g.rows();
    table<node_id, std::uint32_t> const& postorder_index = search.postorder_index;
    std::vector<node_id> const order = detail::reverse_postorder(search);
    dominator_tree tree;
    table<node_id, node_id>& parent = tree.parent;
    parent.assign(nodes, no_node);

    auto intersect = [&](node_id a, node_id b) {
        while (a != b) {
            while (postorder_index[a] < postorder_index[b]) a = parent[a];
            while (postorder_index[b] < postorder_index[a]) b = parent[b];
        }
        return a;
    };
    // While one tree is solved, the nodes of later ones have no parent and are skipped.
    for (std::size_t begin = 0, end = 0; begin != nodes; begin = end) {
        node_id const root = order[begin];
        end = postorder_index[root] + std::size_t{1};
        parent[root] = root;
        for (bool changed = true, may_change_again = true; changed && may_change_again;) {
            changed = may_change_again = false;
            for (std::size_t i = begin + 1; i != end; ++i) {
                node_id const n = order[i];
                node_id closest = no_node;
                for (node_id p : predecessors[n]) {
                    if (parent[p] == no_node) may_change_again = true;
                    else closest = closest == no_node ? p : intersect(closest, p);
                }
                if (parent[n] == closest) continue;
                may_change_again = may_change_again || parent[n] != no_node;
                parent[n] = closest;
                changed = true;
            }
        }
        parent[root] = no_node;
    }
    static_cast<detail::preorder_forest&>(tree) = detail::number_preorder(parent, order);
    return tree;
}

// --- loops -----------------------------------------------------------------------------------------------

SUBLET_DECL node_id loop_forest::outermost_excluding(node_id n, node_id avoided) const
{
    node_id result = n;
    for (node_id h = innermost(n); h != no_node && !is_ancestor(h, avoided); h = parent[h]) result = h;
    return result;
}

SUBLET_DECL loop_forest loops(csr_graph const& g, csr_rows<node_id, node_id> const& predecessors,
                              depth_first_forest const& search)
{
    std::size_t const nodes = g.rows();
    loop_forest forest;
    forest.parent.assign(nodes, no_node);
    forest.kind.assign(nodes, loop_forest::loop_kind::none);

    // Inner loops are collapsed: a node is represented by itself or by a header.
    table<node_id, node_id> uf_parent(nodes);
    for (node_id n = 0; n != nodes; ++n) uf_parent[n] = n;
    auto representative = [&uf_parent](node_id n) {
        while (uf_parent[n] != n) n = uf_parent[n] = uf_parent[uf_parent[n]];
        return n;
    };

    // Edges into the middle of a loop, passed to its header: lists, linked by index.
    struct entry_edge {
        node_id from;
        std::size_t next;
    };
    constexpr std::size_t none = ~std::size_t{0};
    std::vector<entry_edge> entry_edges;
    table<node_id, std::size_t> first_entry_edge;

    std::vector<node_id> body;
    std::size_t tree_end = nodes; // in preorder; nodes from here on belong to later trees
    for (std::size_t at = nodes; at-- != 0;) {
        node_id const header = search.preorder[at];
        auto add_to_body = [&](node_id n) {
            if (n == header || forest.parent[n] == header) return;
            forest.parent[n] = header; // also marks it as in the body
            body.push_back(n);
        };
        body.clear();
        for (node_id p : predecessors[header]) {
            if (!search.is_ancestor(header, p)) continue;
            forest.kind[header] = loop_forest::loop_kind::reducible;
            add_to_body(representative(p));
        }
        auto visit_predecessor = [&](node_id from) {
            if (search.preorder_index[from] >= tree_end) return;
            node_id const outer = representative(from);
            if (search.is_ancestor(header, outer)) return add_to_body(outer);
            forest.kind[header] = loop_forest::loop_kind::irreducible;
            if (first_entry_edge.empty()) first_entry_edge.assign(nodes, none);
            entry_edges.push_back({outer, first_entry_edge[header]});
            first_entry_edge[header] = entry_edges.size() - 1;
        };
        for (std::size_t i = 0; i != body.size(); ++i) {
            node_id const inside = body[i];
            for (node_id p : predecessors[inside]) visit_predecessor(p);
            if (first_entry_edge.empty()) continue;
            for (std::size_t e = first_entry_edge[inside]; e != none; e = entry_edges[e].next)
                visit_predecessor(entry_edges[e].from);
        }
        for (node_id inside : body) uf_parent[inside] = header;
        forest.loops += forest.kind[header] != loop_forest::loop_kind::none;
        forest.irreducible_loops += forest.kind[header] == loop_forest::loop_kind::irreducible;
        if (search.parent[header] == no_node) tree_end = at;
    }
    static_cast<detail::preorder_forest&>(forest) =
        detail::number_preorder(forest.parent, detail::reverse_postorder(search));
    return forest;
}

} // namespace sublet
