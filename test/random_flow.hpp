// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_FLOW_HPP
#define SUBLET_TEST_RANDOM_FLOW_HPP

/// Random programs with branches: any control flow, any touches; or strict SSA form by construction.
///
///     0 --> 1 <-> 2      loops with one entry and with several, self loops, parallel edges, dead ends,
///     |           ^      unreachable nodes; values defined twice, never, or without use
///     +--> 3 -----+
///
/// A reducible graph shrinks to one node if self loops are dropped and nodes with one predecessor are merged
/// into it. The inverse steps generate every reducible graph, and no other.
///
/// Source: Hecht and Ullman, "Flow graph reducibility", SIAM J. Computing 1(2), 1972.

#include "random_source.hpp"

#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

struct random_flow {
    using ids = std::vector<std::uint32_t>;
    struct step {
        ids uses, early, defs;
    };
    struct operand { // used where a predecessor ends
        sublet::node_id pred;
        sublet::value_id value;
    };
    struct node {
        ids successors;
        std::vector<step> steps = std::vector<step>(1);
        std::vector<operand> operands;
    };
    std::vector<node> nodes;
    std::size_t values = 0;

    sublet::snapshot program() const
    {
        return sublet::flow(
            nodes.size(), values, [this](sublet::node_id n) -> ids const& { return nodes[n].successors; },
            [this](sublet::node_id n, sublet::effect_sink& s) {
                for (std::size_t i = 0; i != nodes[n].steps.size(); ++i) {
                    if (i != 0) s.next_step();
                    step const& its = nodes[n].steps[i];
                    for (auto v : its.defs) s.def(v); // listed first; a step still reads before it writes
                    for (auto v : its.uses) s.use(v);
                    for (auto v : its.early) s.use_early(v);
                }
                for (operand o : nodes[n].operands) s.use_at_end_of(o.pred, o.value);
            });
    }
};

struct flow_limits {
    std::uint32_t nodes = 12, values = 8, steps = 3; ///< from 1 to this
    bool is_reducible = false;                       ///< and every node is reached
    bool is_reached = false;                         ///< every node is reached
};

/// Marks the nodes reachable from `from` without passing through marked ones.
inline void mark_found(random_flow const& f, sublet::node_id from, std::vector<bool>& is_marked)
{
    random_flow::ids open{from};
    while (!open.empty()) {
        sublet::node_id const at = open.back();
        open.pop_back();
        if (is_marked[at]) continue;
        is_marked[at] = true;
        open.insert(open.end(), f.nodes[at].successors.begin(), f.nodes[at].successors.end());
    }
}

/// By node, the root of its tree in a depth-first forest: 0, or the lowest node not yet found.
inline random_flow::ids roots_of(random_flow const& f)
{
    random_flow::ids root(f.nodes.size(), sublet::no_node);
    std::vector<bool> is_found(root.size());
    for (sublet::node_id n = 0; n != root.size(); ++n) {
        mark_found(f, n, is_found);
        for (sublet::node_id m = 0; m != root.size(); ++m)
            if (is_found[m] && root[m] == sublet::no_node) root[m] = n;
    }
    return root;
}

/// A graph with nodes of empty steps.
inline random_flow draw_graph(random_source& pick, flow_limits const& limits = {})
{
    using sublet::node_id;
    std::uint32_t const count = 1 + pick.below(limits.nodes);
    random_flow f;
    f.nodes.resize(1);
    while (f.nodes.size() != count) { // split a node in two; an edge goes to one half or to both
        node_id const tail = f.nodes.size(), n = pick.below(tail);
        if (pick.below(4) == 0) f.nodes[n].successors.push_back(n);
        random_flow::ids const before = std::exchange(f.nodes[n].successors, {tail});
        f.nodes.emplace_back();
        for (node_id s : before) {
            std::uint32_t const fate = pick.below(8);
            if (fate < 3) f.nodes[n].successors.push_back(s);
            if (fate > 1) f.nodes[tail].successors.push_back(s);
        }
    }
    auto any = [&]() -> random_flow::ids& { return f.nodes[pick.below(count)].successors; };
    std::uint32_t const shape = limits.is_reducible ? 0 : pick.below(4);
    if (shape == 1) // a few edges across
        for (std::uint32_t i = 1 + pick.below(1 + count / 2); i != 0; --i) any().push_back(pick.below(count));
    if (shape == 2) // edges anywhere
        for (auto& node : f.nodes) {
            node.successors.clear();
            for (std::uint32_t k = 1 + pick.below(3); k != 0; --k)
                node.successors.push_back(pick.below(count));
        }
    if (shape == 3) // nodes behind a removed edge may be unreachable
        for (std::uint32_t i = 1 + count / 6; i != 0; --i)
            if (auto& row = any(); !row.empty()) row.erase(row.begin());
    for (std::uint32_t i = count / 6; i != 0; --i) // parallel edges
        if (auto& row = any(); !row.empty()) row.push_back(row[0]);

    std::vector<node_id> name(count); // a permutation that keeps the entry at 0
    for (node_id n = 0; n != count; ++n) {
        name[n] = n;
        if (n > 1) std::swap(name[n], name[1 + pick.below(n)]);
    }
    std::vector<random_flow::node> const drawn =
        std::exchange(f.nodes, std::vector<random_flow::node>(count));
    for (node_id n = 0; n != count; ++n) {
        auto& row = f.nodes[name[n]].successors;
        for (node_id s : drawn[n].successors) row.push_back(name[s]);
        if (!row.empty()) std::swap(row[0], pick.one_of(row));
        if (pick.below(2) == 0) f.nodes[n].steps.resize(1 + pick.below(limits.steps));
    }
    auto const root = roots_of(f);
    for (node_id n = 1; limits.is_reached && n != count; ++n)
        if (root[n] == n) f.nodes[n - 1].successors.push_back(n);
    return f;
}

/// Any control flow with any touches.
inline random_flow draw_flow(random_source& pick, flow_limits const& limits = {})
{
    random_flow f = draw_graph(pick, limits);
    auto const values = 1 + pick.below(limits.values), quiet = 1 + pick.below(4);
    auto const given =
        pick.below(3) == 0 ? 1 + pick.below(values) : 0; // the first so many: nothing defines them
    f.values = values;
    for (sublet::node_id n = 0; n != f.nodes.size(); ++n) {
        for (auto& step : f.nodes[n].steps) {
            for (std::uint32_t k = pick.below(quiet) == 0 ? pick.below(4) : 0; k != 0; --k)
                (pick.below(4) == 0 ? step.early : step.uses).push_back(pick.below(values));
            for (std::uint32_t k = pick.below(quiet) == 0 ? pick.below(3) : 0; k != 0; --k)
                if (auto const v = pick.below(values); v >= given) step.defs.push_back(v);
        }
        for (auto s : f.nodes[n].successors)
            if (pick.below(8) == 0) f.nodes[s].operands.push_back({n, pick.below(values)});
    }
    return f;
}

/// One def per value, before each use on every path from the root of its tree; each phi has an operand from
/// every predecessor.
inline random_flow draw_ssa(random_source& pick, flow_limits const& limits = {})
{
    using sublet::node_id, sublet::value_id;
    random_flow f = draw_graph(pick, limits);
    auto const count = static_cast<std::uint32_t>(f.nodes.size());
    auto const root = roots_of(f);
    auto one_of = [&](random_flow::ids const& all) { return pick.one_of(all); };
    std::vector<random_flow::ids> defined(count); // by node: values defined on every path to its end
    auto define = [&](node_id n, std::uint32_t at) {
        auto const v = value_id::of(f.values++);
        f.nodes[n].steps[at].defs.push_back(v);
        std::vector<bool> is_before(count);
        is_before[n] = true;
        mark_found(f, root[n], is_before);
        is_before[n] = false;
        random_flow::ids dominated; // its own node and the nodes that it dominates
        for (node_id m = 0; m != count; ++m)
            if (root[m] == root[n] && !is_before[m]) defined[m].push_back(v), dominated.push_back(m);
        for (std::uint32_t k = pick.below(4); k != 0; --k) {
            random_flow::node& m = f.nodes[one_of(dominated)];
            std::uint32_t const from = &m == &f.nodes[n] ? at + 1 : 0;
            auto const left = static_cast<std::uint32_t>(m.steps.size()) - from;
            if (left == 0) continue;
            auto& step = m.steps[from + pick.below(left)];
            (pick.below(4) == 0 ? step.early : step.uses).push_back(v);
        }
    };
    for (node_id n = 0; n != count; ++n)
        if (root[n] == n) define(n, 0); // so every phi finds an operand
    for (std::uint32_t k = pick.below(limits.values); k != 0; --k) {
        node_id const n = pick.below(count);
        define(n, pick.below(static_cast<std::uint32_t>(f.nodes[n].steps.size())));
    }
    for (node_id p = 0; p != count; ++p) // the operands, now that everything is defined
        for (node_id s : f.nodes[p].successors)
            for (value_id phi : f.nodes[s].steps[0].defs)
                if (phi % 2 == 0) f.nodes[s].operands.push_back({p, one_of(defined[p])});
    return f;
}

#endif
