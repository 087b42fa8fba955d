// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LIVE_QUERY_HPP
#define SUBLET_ANALYSIS_LIVE_QUERY_HPP

/// Decides whether one value of a program in strict SSA form is live at one node, without live sets, in
/// O(uses + loop nesting depth). Preprocessing reads the edges only: it stores reachability without back
/// edges, and the loop nesting forest. Source: "SSA-based Compiler Design", Springer 2022, after Boissinot,
/// Hack, Grund, Dupont de Dinechin and Rastello, "Fast liveness checking for SSA-form programs", CGO 2008.

#include <sublet/analysis/control_flow.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

// --- def use ---------------------------------------------------------------------------------------------

/// Def-use chains: the steps that define and use each value.
///
///     step 0   def a               a    def 0    uses 1, 3
///     step 1   use a, def b        b    def 1    uses 2, 2
///     step 2   use b, use b
///     step 3   use a

namespace sublet {

/// The steps that define and use each value, and the node of each step.
struct def_use_chains {
    /// The chains of a program. A step that touches a value twice in the same way is listed twice.
    ///
    /// Complexity: O(nodes + values + touches) time and memory.
    explicit def_use_chains(snapshot const& p);

    csr_rows<value_id, step_id> defs;        ///< the steps that write each value, ascending
    csr_rows<value_id, step_id> uses;        ///< the steps that read it, early or not, ascending
    csr_rows<value_id, node_id> uses_at_end; ///< the nodes at the end of which it is read
    table<step_id, node_id> node_of;         ///< the node of each step
};

// --- live query ------------------------------------------------------------------------------------------

///     0: def a --> 1 <-----.        a, used in 2 only, is live at 3: the next iteration leads to 2.
///                 / \      |        In the outermost loop that contains 3 and not the def, a is live
///       use a :  2   3     |        everywhere or nowhere; it is live at the header of that loop if
///                 \ /      |        a path without back edges leads from there to a use.
///                  4 ------'
///
/// Values, uses and definitions may change: each query is given the current ones. Reachability is stored as
/// bits, with columns for join nodes only: the nodes below a node in the search tree are an interval (an
/// addition to the source).

/// `uses` are the nodes with steps that read the value, `uses_at_end` the nodes at the end of which phis of
/// successors read it; a node may be listed twice.
///
/// Requires:   strict SSA form: the value is defined once, in node `def`, and on every path from the root of
///             the search tree of `def` each use comes after it. Otherwise a result may be wrong.
/// Ensures:    the results are those of `liveness`, also in irreducible loops and for unreachable nodes.
/// Complexity: O(uses + loop nesting depth) per query; for a node in a later search tree than `def`, times
///             the number of edges between search trees.
/// Throws:     precondition_error for a node that does not exist.
class live_query {
    static node_id node_of_def(value_id v, def_use_chains const& chains)
    {
        return chains.node_of[chains.defs[v].front()];
    }
    static auto uses_of(value_id v, def_use_chains const& chains)
    {
        return [v, &chains](auto is_relevant) {
            for (step_id s : chains.uses[v])
                if (is_relevant(chains.node_of[s], false)) return true;
            for (node_id n : chains.uses_at_end[v])
                if (is_relevant(n, true)) return true;
            return false;
        };
    }

public:
    /// Prepares queries for a graph with the entry 0.
    ///
    /// Complexity: besides `dominators` and `loops`, time O(E (nesting depth + J / 64)), memory
    ///             O(V + E + B J / 64): J join nodes, which have edges from another branch of the search, and
    ///             B nodes that are joins, or have successors that reach different joins.
    template <graph G>
    explicit live_query(G const& g)
    {
        if constexpr (std::same_as<G, csr_graph>) {
            prepare(g, g.transposed(g.rows()));
        } else {
            csr_graph const flat = as_graph(g);
            prepare(flat, flat.transposed(flat.rows()));
        }
    }
    /// The same for the graph of a program.
    template <program P>
    explicit live_query(P const& p)
    {
        prepare(p);
    }
    template <class G>
        requires(!graph<G> && !program<G>)
    explicit live_query(G const&, detail::graph_problem<G> = {}) = delete;

    /// Whether a value is live where node n begins, that is defined in `def`, and used in `uses` and at the
    /// ends of `uses_at_end`.
    template <detail::id_range<node_id> Uses, detail::id_range<node_id> Ends = std::span<node_id const>>
    [[nodiscard]] bool is_live_in(node_id n, node_id def, Uses&& uses, Ends&& uses_at_end = {}) const
    {
        return is_needed(n, def, [&](auto is_relevant) {
            return any_of(uses, false, is_relevant) || any_of(uses_at_end, true, is_relevant);
        });
    }
    /// The same where node n ends.
    template <detail::id_range<node_id> Uses, detail::id_range<node_id> Ends = std::span<node_id const>>
    [[nodiscard]] bool is_live_out(node_id n, node_id def, Uses&& uses, Ends&& uses_at_end = {}) const
    {
        return is_needed_at_end(n, def, [&](auto is_relevant) {
            return any_of(uses, false, is_relevant) || any_of(uses_at_end, true, is_relevant);
        });
    }

    /// For a value of a program with these edges, given by its chains. A value without a def is live nowhere.
    ///
    /// Complexity: another O(uses of the value) for `is_live_after`.
    [[nodiscard]] bool is_live_in(value_id v, node_id n, def_use_chains const& chains) const
    {
        return chains.defs[v].size() != 0 && is_needed(n, node_of_def(v, chains), uses_of(v, chains));
    }
    /// The same where node n ends.
    [[nodiscard]] bool is_live_out(value_id v, node_id n, def_use_chains const& chains) const
    {
        return chains.defs[v].size() != 0 && is_needed_at_end(n, node_of_def(v, chains), uses_of(v, chains));
    }
    /// The same behind step s.
    [[nodiscard]] bool is_live_after(value_id v, step_id s, def_use_chains const& chains) const;

private:
    void prepare(snapshot const& given)
    {
        snapshot listed;
        snapshot const& p = detail::as_control_flow(given, listed);
        prepare(p.graph(), p.predecessors());
    }
    void prepare(csr_graph const& g, csr_rows<node_id, node_id> const& predecessors);

    /// Some path without back edges leads from a to b.
    [[nodiscard]] bool reaches(node_id a, node_id b) const
    {
        return search_.is_ancestor(a, b) ||
               (join_column_[b] != detail::no_column && reached_joins_.test(row_of_[a], join_column_[b]));
    }

    // NOLINTBEGIN(misc-no-recursion): is_needed_across() asks for a node in the tree of `def`, so one level
    // deep
    /// `any_use(is_relevant)`: whether `is_relevant(node, is_at_end)` holds for some use of the value.
    template <class AnyUse>
    [[nodiscard]] bool is_needed(node_id n, node_id def, AnyUse const& any_use) const
    {
        expect_nodes(n, def);
        if (root_[n] != root_[def]) return is_needed_across(n, def, any_use);
        if (!dominators_.strictly_dominates(def, n)) return false;
        node_id const from = loops_.outermost_excluding(n, def);
        return any_use([&](node_id use, bool) { return reaches(from, use); });
    }
    template <class AnyUse>
    [[nodiscard]] bool is_needed_at_end(node_id n, node_id def, AnyUse const& any_use) const
    {
        expect_nodes(n, def);
        if (root_[n] != root_[def]) return is_needed_across(n, def, any_use);
        if (!dominators_.dominates(def, n)) return false;
        node_id const from = n == def ? n : loops_.outermost_excluding(n, def);
        bool const is_in_loop_without_def = n != def && (from != n || loops_.is_header(n));
        return any_use([&](node_id use, bool is_at_end) {
            return (is_in_loop_without_def || is_at_end || use != n) && reaches(from, use);
        });
    }
    /// For n in a later search tree than def.
    template <class AnyUse>
    [[nodiscard]] bool is_needed_across(node_id n, node_id def, AnyUse const& any_use) const
    {
        for (csr_graph::edge cross_edge : cross_tree_edges_)
            if (root_[cross_edge.to] == root_[def] &&
                reaches(loops_.outermost_excluding(n, def), cross_edge.from) &&
                is_needed(cross_edge.to, def, any_use))
                return true;
        return false;
    }
    // NOLINTEND(misc-no-recursion)

    template <class Nodes, class IsRelevant>
    [[nodiscard]] bool any_of(Nodes& nodes, bool is_at_end, IsRelevant const& is_relevant) const
    {
        for (auto&& u : nodes) {
            node_id const use = u;
            expect_nodes(use, use);
            if (is_relevant(use, is_at_end)) return true;
        }
        return false;
    }
    void expect_nodes(node_id a, node_id b) const
    {
        SUBLET_EXPECTS(a < root_.size() && b < root_.size(),
                       "sublet: liveness is queried for node % or %, but there are only % nodes", a, b,
                       root_.size());
    }

    depth_first_forest search_;
    dominator_tree dominators_;
    loop_forest loops_;
    table<node_id, node_id> root_;                  // of the search tree of each node
    std::vector<csr_graph::edge> cross_tree_edges_; // between search trees
    table<node_id, std::uint32_t> join_column_;     // of each node: the column of the closest join above
    table<node_id, std::uint32_t> row_of_;
    detail::bit_rows reached_joins_;                // by row: the columns of the joins that are reached
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/live_query.ipp>
#endif

#endif
