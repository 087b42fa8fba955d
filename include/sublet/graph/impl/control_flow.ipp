// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/control_flow.hpp>
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

namespace detail {

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

// --- nesting ---------------------------------------------------------------------------------------------

SUBLET_DECL detail::nesting nest(std::vector<node_id> const& parent, std::vector<node_id> const& order)
{
    std::size_t const nodes = parent.size();
    detail::nesting result;
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

} // namespace detail

// --- dominators ------------------------------------------------------------------------------------------

SUBLET_DECL dominator_tree dominators(csr_graph const& g, csr_rows const& predecessors,
                                      depth_first_forest const& search)
{
    std::size_t const nodes = g.rows();
    std::vector<node_id> const& left = search.left;
    std::vector<node_id> const order = detail::reverse_postorder(search);
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
    static_cast<detail::nesting&>(tree) = detail::nest(parent, order);
    return tree;
}

// --- loops -----------------------------------------------------------------------------------------------

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
    forest.kind.assign(nodes, loop_forest::loop_kind::none);

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
            forest.kind[header] = loop_forest::loop_kind::reducible;
            join(representative(p));
        }
        auto came_from = [&](node_id from) {
            if (search.entered[from] >= tree_end) return;
            node_id const outer = representative(from);
            if (search.is_ancestor(header, outer)) return join(outer);
            forest.kind[header] = loop_forest::loop_kind::irreducible;
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
        forest.loops += forest.kind[header] != loop_forest::loop_kind::none;
        forest.irreducible_loops += forest.kind[header] == loop_forest::loop_kind::irreducible;
        if (search.parent[header] == no_node) tree_end = at;
    }
    static_cast<detail::nesting&>(forest) = detail::nest(forest.parent, detail::reverse_postorder(search));
    return forest;
}

} // namespace sublet
