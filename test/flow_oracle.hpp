// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_FLOW_ORACLE_HPP
#define SUBLET_TEST_FLOW_ORACLE_HPP

/// Brute-force analyses of control flow: liveness in three independent ways, interference, dominance. They
/// use the accessors of a snapshot, and nothing else of the library.

#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

/// By row, by column.
using truth_table = std::vector<std::vector<bool>>;

inline truth_table all_false(std::size_t rows, std::size_t columns)
{
    return truth_table(rows, std::vector<bool>(columns));
}

/// The definitions, literally: each answer is a search along the steps.
class flow_oracle {
public:
    explicit flow_oracle(sublet::snapshot const& program) : p_(program)
    {
        for (sublet::node_id n = 0; n != p_.nodes(); ++n) node_of_.resize(p_.steps_of(n).last, n);
    }

    bool is_live_in(sublet::value_id v, sublet::node_id n) const
    {
        return is_needed(v, n, p_.steps_of(n).first);
    }
    bool is_live_out(sublet::value_id v, sublet::node_id n) const
    {
        return is_needed(v, n, p_.steps_of(n).last);
    }
    bool is_live_after(sublet::value_id v, sublet::step_id s) const
    {
        return is_needed(v, node_of_[s], s + 1);
    }
    /// A value live where the program begins occupies the first step.
    bool occupies(sublet::value_id v, sublet::step_id s) const
    {
        return touches(v, s, sublet::touch::access::def) || touches(v, s, sublet::touch::access::use) ||
               is_live_after(v, s) || (s == 0 && is_live_in(v, 0));
    }

    /// By step, by value.
    truth_table occupancy() const
    {
        truth_table is_there = all_false(p_.steps(), p_.values());
        for (sublet::step_id s = 0; s != p_.steps(); ++s)
            for (sublet::value_id v = 0; v != p_.values(); ++v) is_there[s][v] = occupies(v, s);
        return is_there;
    }
    /// The most values that occupy one step.
    std::size_t maxlive() const
    {
        std::size_t most = 0;
        for (auto const& row : occupancy())
            most = std::max(most, static_cast<std::size_t>(std::count(row.begin(), row.end(), true)));
        return most;
    }
    /// By value, by value; no value interferes with itself.
    truth_table interference() const
    {
        truth_table meets = all_false(p_.values(), p_.values());
        for (auto const& row : occupancy())
            for (std::size_t a = 0; a != row.size(); ++a)
                for (std::size_t b = 0; b != row.size(); ++b)
                    if (a != b && row[a] && row[b]) meets[a][b] = true;
        return meets;
    }

    /// Each used value has one def, before each use on every path from the root of its tree.
    bool is_strict_ssa() const;

private:
    bool touches(sublet::value_id v, sublet::step_id s, sublet::touch::access how) const
    {
        for (sublet::touch t : p_.touches(s))
            if (t.value == v && t.kind == how) return true;
        return false;
    }

    /// Whether some path from before step s of node n (or from the end of n, which comes after its last step)
    /// reaches a use of v and no def before it.
    bool is_needed(sublet::value_id v, sublet::node_id n, sublet::step_id s) const
    {
        struct point {
            sublet::node_id node;
            sublet::step_id next;
        };
        std::vector<point> open{{n, s}};
        std::vector<bool> is_entered(p_.nodes());
        while (!open.empty()) {
            auto const [node, next] = open.back();
            open.pop_back();
            if (next != p_.steps_of(node).last) {
                if (touches(v, next, sublet::touch::access::use)) return true;
                if (touches(v, next, sublet::touch::access::use_early)) return true;
                if (!touches(v, next, sublet::touch::access::def)) open.push_back({node, next + 1});
                continue;
            }
            for (sublet::edge_use u : p_.edge_uses())
                if (u.pred == node && u.value == v) return true;
            for (sublet::node_id to : p_.successors(node)) {
                if (!is_entered[to]) open.push_back({to, p_.steps_of(to).first});
                is_entered[to] = true;
            }
        }
        return false;
    }

    sublet::snapshot p_;
    std::vector<sublet::node_id> node_of_; // by step
};

/// By node a, by node b: without a, b is not reachable from the root of its tree. The tree of node 0 is what
/// it reaches; the next tree is what the lowest node that is in none yet reaches.
inline truth_table dominance(sublet::csr_graph const& g)
{
    std::size_t const nodes = g.rows();
    std::vector<sublet::node_id> root(nodes, sublet::no_node);
    auto found = [&](sublet::node_id from, sublet::node_id avoided) {
        std::vector<bool> is_found(nodes);
        std::vector<sublet::node_id> open{from};
        while (!open.empty()) {
            sublet::node_id const at = open.back();
            open.pop_back();
            if (at == avoided || is_found[at]) continue;
            is_found[at] = true;
            for (sublet::node_id to : g[at]) open.push_back(to);
        }
        return is_found;
    };
    for (sublet::node_id r = 0; r != nodes; ++r) {
        if (root[r] != sublet::no_node) continue;
        std::vector<bool> const tree = found(r, sublet::no_node);
        for (sublet::node_id n = 0; n != nodes; ++n)
            if (tree[n] && root[n] == sublet::no_node) root[n] = r;
    }
    truth_table dominates = all_false(nodes, nodes);
    for (sublet::node_id a = 0; a != nodes; ++a) {
        std::vector<bool> const is_left = found(root[a], a);
        for (sublet::node_id b = 0; b != nodes; ++b) dominates[a][b] = root[a] == root[b] && !is_left[b];
    }
    return dominates;
}

inline bool flow_oracle::is_strict_ssa() const
{
    struct place {
        sublet::node_id node;
        sublet::step_id step;
    };
    truth_table const dominates = dominance(p_.graph());
    for (sublet::value_id v = 0; v != p_.values(); ++v) {
        std::vector<place> defs, uses;
        for (sublet::step_id s = 0; s != p_.steps(); ++s)
            for (sublet::touch t : p_.touches(s))
                if (t.value == v)
                    (t.kind == sublet::touch::access::def ? defs : uses).push_back({node_of_[s], s});
        for (sublet::edge_use u : p_.edge_uses())
            if (u.value == v) uses.push_back({u.pred, sublet::no_step});
        if (defs.size() > 1 || (defs.empty() && !uses.empty())) return false;
        for (place use : uses) {
            if (!dominates[defs[0].node][use.node]) return false;
            if (defs[0].node == use.node && defs[0].step >= use.step) return false;
        }
    }
    return true;
}

/// Live at the beginnings and at the ends of nodes: by node, by value.
struct liveness_tables {
    truth_table in, out;
    friend bool operator==(liveness_tables const&, liveness_tables const&) = default;
};

/// By the definitions.
inline liveness_tables searched_liveness(sublet::snapshot const& p)
{
    flow_oracle const oracle(p);
    liveness_tables live{all_false(p.nodes(), p.values()), all_false(p.nodes(), p.values())};
    for (sublet::node_id n = 0; n != p.nodes(); ++n)
        for (sublet::value_id v = 0; v != p.values(); ++v) {
            live.in[n][v] = oracle.is_live_in(v, n);
            live.out[n][v] = oracle.is_live_out(v, n);
        }
    return live;
}

/// By the data-flow equations, iterated to the fixed point. For larger programs.
inline liveness_tables solved_liveness(sublet::snapshot const& p)
{
    liveness_tables live{all_false(p.nodes(), p.values()), all_false(p.nodes(), p.values())};
    for (liveness_tables before; !(before == live);) {
        before = live;
        for (sublet::edge_use u : p.edge_uses()) live.out[u.pred][u.value] = true;
        for (sublet::node_id n = 0; n != p.nodes(); ++n) {
            for (sublet::node_id s : p.successors(n))
                for (sublet::value_id v = 0; v != p.values(); ++v)
                    if (live.in[s][v]) live.out[n][v] = true;
            std::vector<bool> now = live.out[n];
            for (sublet::step_id s = p.steps_of(n).last; s-- != p.steps_of(n).first;) {
                for (sublet::touch t : p.touches(s))
                    if (t.kind == sublet::touch::access::def) now[t.value] = false;
                for (sublet::touch t : p.touches(s))
                    if (t.kind != sublet::touch::access::def) now[t.value] = true;
            }
            live.in[n] = now;
        }
    }
    return live;
}

/// By searches from the uses, backwards along every path to a def.
inline liveness_tables walked_liveness(sublet::snapshot const& p)
{
    liveness_tables live{all_false(p.nodes(), p.values()), all_false(p.nodes(), p.values())};
    auto walk_back = [&](sublet::value_id v, sublet::node_id from, sublet::step_id before) {
        std::vector<std::pair<sublet::node_id, sublet::step_id>> open{{from, before}};
        while (!open.empty()) {
            auto [n, s] = open.back();
            open.pop_back();
            bool is_defined = false;
            while (!is_defined && s != p.steps_of(n).first)
                for (sublet::touch t : p.touches(--s))
                    is_defined = is_defined || (t.value == v && t.kind == sublet::touch::access::def);
            if (is_defined || live.in[n][v]) continue;
            live.in[n][v] = true;
            for (sublet::node_id m : p.predecessors(n)) {
                live.out[m][v] = true;
                open.push_back({m, p.steps_of(m).last});
            }
        }
    };
    for (sublet::node_id n = 0; n != p.nodes(); ++n)
        for (sublet::step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s)
            for (sublet::touch t : p.touches(s))
                if (t.kind != sublet::touch::access::def) walk_back(t.value, n, s);
    for (sublet::edge_use u : p.edge_uses()) {
        live.out[u.pred][u.value] = true;
        walk_back(u.value, u.pred, p.steps_of(u.pred).last);
    }
    return live;
}

#endif
