// SPDX-License-Identifier: BSL-1.0

/// Preparation walks the search tree backwards: a node reaches the joins that its successors reach, as a row
/// of bits, and nodes with equal rows share one. A query looks at the use from the outermost loop that
/// excludes the def.

#include <sublet/analysis/live_query.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>

namespace sublet {

SUBLET_DECL def_use_chains::def_use_chains(snapshot const& p)
{
    auto touching = [&p](bool is_def) {
        return csr_rows<value_id, step_id>::gathered(p.values(), [&p, is_def](auto add) {
            for (step_id s = 0; s != p.steps(); ++s)
                for (touch t : p.touches(s))
                    if ((t.defines()) == is_def) add(t.value, s);
        });
    };
    defs = touching(true);
    uses = touching(false);
    uses_at_end = csr_rows<value_id, node_id>::gathered(p.values(), [&p](auto add) {
        for (edge_use u : p.edge_uses()) add(u.value, u.pred);
    });
    node_of.reserve(p.steps());
    for (node_id n = 0; n != p.nodes(); ++n) node_of.resize(p.steps_of(n).last, n);
}

SUBLET_DECL bool live_query::is_live_after(value_id v, step_id s, def_use_chains const& chains) const
{
    SUBLET_EXPECTS(s < chains.node_of.size(),
                   "sublet: liveness is queried for step %, but there are only % steps", s,
                   chains.node_of.size());
    if (chains.defs[v].size() == 0) return false;
    node_id const n = chains.node_of[s];
    if (n == node_of_def(v, chains) && s < chains.defs[v].front()) return false;
    for (step_id use : chains.uses[v])
        if (s < use && chains.node_of[use] == n) return true;
    return is_live_out(v, n, chains);
}

SUBLET_DECL void live_query::prepare(csr_graph const& g, csr_rows<node_id, node_id> const& predecessors)
{
    search_ = depth_first(g);
    dominators_ = dominators(g, predecessors, search_);
    loops_ = loops(g, predecessors, search_);
    std::size_t const nodes = g.rows();

    root_.resize(nodes);
    for (node_id n : search_.preorder) root_[n] = search_.parent[n] == no_node ? n : root_[search_.parent[n]];

    // The reduced graph: edges down the search tree, or across to a subtree that was finished before. An edge
    // into the middle of a loop counts as one to its header; one that skips levels downwards adds nothing.
    auto const reduced_edges = csr_rows<node_id, node_id>::gathered(nodes, [&](auto add) {
        for (node_id n = 0; n != nodes; ++n)
            for (node_id s : g[n]) {
                if (search_.is_back_edge(n, s)) continue;
                node_id const to = loops_.outermost_excluding(s, n);
                if (search_.parent[to] == n || !search_.is_ancestor(n, to)) add(n, to);
            }
    });
    table<node_id, unsigned char> is_join(nodes);
    for (node_id n = 0; n != nodes; ++n) {
        for (node_id to : reduced_edges[n])
            if (search_.parent[to] != n) is_join[to] = 1;
        for (node_id s : g[n])
            if (root_[s] != root_[n]) cross_tree_edges_.push_back({n, s});
    }
    std::uint32_t columns = 0;
    join_column_.assign(nodes, detail::no_column);
    for (node_id n : search_.preorder) {
        if (is_join[n]) join_column_[n] = columns++;
        else if (search_.parent[n] != no_node) join_column_[n] = join_column_[search_.parent[n]];
    }

    // A node with successors of one and the same row shares that row; row 0 is empty.
    std::uint32_t rows = 1;
    row_of_.assign(nodes, 0);
    for (node_id n : search_.postorder) {
        bool has_own_row = is_join[n] != 0;
        for (node_id to : reduced_edges[n])
            has_own_row = has_own_row || row_of_[to] != row_of_[reduced_edges[n].front()];
        if (has_own_row) row_of_[n] = rows++;
        else if (!reduced_edges[n].empty()) row_of_[n] = row_of_[reduced_edges[n].front()];
    }
    reached_joins_ = detail::bit_rows(rows, columns);
    rows = 1;
    for (node_id n : search_.postorder) {
        if (row_of_[n] != rows) continue;
        detail::bit_rows::word* const row = reached_joins_[rows++];
        for (node_id to : reduced_edges[n]) {
            detail::bit_rows::word const* const from = reached_joins_[row_of_[to]];
            for (std::size_t w = 0; w != reached_joins_.words(); ++w) row[w] |= from[w];
        }
        if (is_join[n]) reached_joins_.set(row_of_[n], join_column_[n]);
    }
}

} // namespace sublet
