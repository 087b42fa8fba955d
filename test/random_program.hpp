// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_PROGRAM_HPP
#define SUBLET_TEST_RANDOM_PROGRAM_HPP

/// Random programs with all features, stored as lists: an oracle reads only these lists.

#include "operations.hpp"
#include "random_source.hpp"
#include "view_sizes.hpp"

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

struct random_program {
    using ids = std::vector<sublet::value_id>;
    struct step {
        ids uses, early, defs, scratch;
        std::vector<std::pair<sublet::value_id, sublet::value_id>> pairs; // in, out
        bool may_recompute = true;
    };
    struct node {
        std::vector<step> steps;
        ids uses_at_end; // used where the node ends
    };
    std::vector<node> nodes;       // each leads to the next, unless the next runs earlier
    bool drops_free_edges = false; // or unless nothing is used at its end
    std::vector<sublet::byte_count> bytes, alignment;
    std::vector<sublet::value_role> role;
    ids alias_of;
    std::vector<sublet::pool_id> pool;
    std::vector<bool> eligible, is_scratch;
    std::vector<sublet::node_id> order;

    std::size_t values() const { return bytes.size(); }
    /// Whether a node runs before the next one of the list.
    bool has_next_edge(sublet::node_id n) const
    {
        if (drops_free_edges && nodes[n].uses_at_end.empty()) return false;
        return order.empty() ||
               std::find(order.begin(), order.end(), n) < std::find(order.begin(), order.end(), n + 1);
    }

    sublet::snapshot program() const
    {
        using sublet::node_id;
        return sublet::tasks(
            nodes.size(), values(),
            [this](node_id n) {
                return n + 1 < nodes.size() && has_next_edge(n) ? std::vector<node_id>{n + 1}
                                                                : std::vector<node_id>{};
            },
            [this](node_id n, sublet::effect_sink& s) { list_effects(n, s); });
    }
    void list_effects(sublet::node_id n, sublet::effect_sink& s) const
    {
        list_steps(s, nodes[n].steps, alias_of);
        if (n != 0)
            for (auto v : nodes[n - 1].uses_at_end) s.use_at_end_of(n - 1, v);
    }
    /// The nodes as a list, without edges and without uses at the ends of nodes: only data order them.
    sublet::snapshot without_edges() const
    {
        return sublet::sequence(nodes.size(), values(), [this](auto n, sublet::effect_sink& s) {
            list_steps(s, nodes[n].steps, alias_of);
        });
    }
    /// The same without edges: only data order the steps, which may run concurrently.
    sublet::snapshot unordered_program() const
    {
        random_program loose = *this;
        for (node& n : loose.nodes) n.uses_at_end.clear();
        return sublet::tasks(
            nodes.size(), values(), [](sublet::node_id) { return std::vector<sublet::node_id>{}; },
            [&loose](sublet::node_id n, sublet::effect_sink& s) { loose.list_effects(n, s); });
    }
    sublet::plan_options options(bool in_place = true) const
    {
        return {.bytes = within_roots(bytes, alias_of),
                .alignment = alignment,
                .role = role,
                .alias_of = alias_of,
                .pool = of_roots(pool, alias_of),
                .eligible = of_classes(eligible, alias_of),
                .order = order,
                .in_place = in_place};
    }

    /// The steps by position.
    struct turn {
        sublet::step_id id;
        step const* what;
        ids uses_at_end;
    };
    std::vector<turn> turns() const
    {
        std::vector<std::vector<turn>> of_node;
        sublet::step_id next = 0;
        for (node const& n : nodes) {
            of_node.emplace_back();
            for (step const& s : n.steps) of_node.back().push_back({next++, &s, {}});
            of_node.back().back().uses_at_end = n.uses_at_end;
        }
        std::vector<turn> all;
        for (sublet::node_id n = 0; n != nodes.size(); ++n)
            for (turn const& t : of_node[order.empty() ? n : order[n]]) all.push_back(t);
        return all;
    }

    /// A class is a value with all its views, named by its root.
    sublet::value_id root(sublet::value_id v) const { return root_of(alias_of, v); }
    sublet::value_role class_role(sublet::value_id of_root) const
    {
        auto all = sublet::value_role::intermediate;
        for (sublet::value_id v = 0; v != values(); ++v)
            if (root(v) == of_root) all = all | role[v];
        return all;
    }
    /// The position at which a class with such touches is written first.
    template <class Touches>
    static sublet::position_id first_write(Touches const& its)
    {
        for (auto const& [at, how] : its)
            if (!how.written.empty()) return at;
        return sublet::no_position;
    }
};

/// The accesses to a class at a position.
struct class_touch {
    std::set<sublet::value_id> read, read_early, written;
    bool is_used_at_end = false,
         is_unused_input = false; // an unused input ends with the first step
    bool is_early() const { return read.empty() && written.empty() && !is_used_at_end && !is_unused_input; }
    bool only_reads(sublet::value_id v) const
    {
        std::set<sublet::value_id> all = read;
        all.insert(read_early.begin(), read_early.end());
        return written.empty() && !is_used_at_end && !is_unused_input && all == std::set<sublet::value_id>{v};
    }
};
/// By root, by position.
using class_history = std::map<sublet::value_id, std::map<sublet::position_id, class_touch>>;

inline class_history access_history(random_program const& p)
{
    class_history touches;
    sublet::position_id at = 0;
    for (auto const& turn : p.turns()) {
        for (auto v : turn.what->uses) touches[p.root(v)][at].read.insert(v);
        for (auto v : turn.what->early) touches[p.root(v)][at].read_early.insert(v);
        for (auto v : turn.what->defs) touches[p.root(v)][at].written.insert(v);
        for (auto v : turn.what->scratch) touches[p.root(v)][at].written.insert(v);
        for (auto v : turn.uses_at_end) touches[p.root(v)][at].is_used_at_end = true;
        ++at;
    }
    for (sublet::value_id v = 0; v != p.values(); ++v)
        if (has_role(p.role[v], sublet::value_role::input) && touches.count(p.root(v)) == 0)
            touches[p.root(v)][0].is_unused_input = true;
    return touches;
}

/// The classes that need planned storage, and their live ranges.
inline std::map<sublet::value_id, sublet::live_range> live_ranges_of(random_program const& p)
{
    std::map<sublet::value_id, sublet::live_range> lives;
    for (auto const& [r, its] : access_history(p)) {
        bool is_planned = p.bytes[r] != 0 && p.bytes[r] != sublet::no_size &&
                          !has_role(p.class_role(r), sublet::value_role::external);
        for (sublet::value_id v = 0; v != p.values(); ++v)
            is_planned = is_planned && (p.root(v) != r || p.eligible[v]);
        if (!is_planned) continue;
        auto const& [last, how] = *its.rbegin();
        sublet::live_range life{p.first_write(its), how.is_early() ? +last : last + 1};
        if (has_role(p.class_role(r), sublet::value_role::output)) life.last = p.turns().size();
        if (has_role(p.class_role(r), sublet::value_role::input)) life = {0, std::max(+life.last, 1u)};
        lives[r] = life;
    }
    return lives;
}

/// Up to `most` nodes of one to three steps. Every class can be bound to 64 bytes at a multiple of 64.
inline random_program draw_program(random_source& pick, std::uint32_t most = 6)
{
    using namespace sublet;
    using namespace sublet::detail;
    random_program p;
    bool const has_pools = pick.below(3) == 0;
    auto value = [&](value_id alias) {
        byte_count const sizes[] = {5, 8, 8, 16, 16, 24, 40, 1 + pick.below(48)};
        byte_count const size = sizes[pick.below(8)];
        bool const is_odd = pick.below(12) == 0, is_empty = pick.below(2) == 0;
        p.bytes.push_back(is_odd ? is_empty ? 0 : no_size : size);
        p.alignment.push_back(byte_count{1} << pick.below(pick.below(3) == 0 ? 7 : 1));
        p.role.push_back(value_role::intermediate);
        p.alias_of.push_back(alias);
        p.pool.push_back(has_pools ? pick.below(3) : 0);
        p.eligible.push_back(pick.below(20) != 0);
        p.is_scratch.push_back(false);
        return value_id::of(p.values() - 1);
    };
    auto any = [&] {
        value_id v = 0;
        do v = pick.below(static_cast<std::uint32_t>(p.values()));
        while (p.is_scratch[v]);
        return v;
    };
    value_role const given[] = {value_role::input, value_role::input, value_role::external,
                                value_role::state};
    for (std::uint32_t i = 0, n = 1 + pick.below(3); i != n; ++i)
        p.role[value(no_value)] = given[pick.below(4)];

    p.nodes.resize(1 + pick.below(most));
    for (auto& node : p.nodes) {
        node.steps.resize(pick.below(3) == 0 ? 1 + pick.below(3) : 1);
        for (auto& step : node.steps) {
            for (std::uint32_t k = 0, n = pick.below(4); k != n; ++k)
                (pick.below(6) == 0 ? step.early : step.uses).push_back(any());
            for (std::uint32_t k = 0, n = pick.below(3); k != n; ++k) {
                bool const is_view = pick.below(4) == 0 && !step.uses.empty();
                value_id const out = value(is_view ? step.uses[0] : no_value);
                step.defs.push_back(out);
                if (pick.below(6) == 0) p.role[out] = value_role::output;
                for (random_program::ids const* operands : {&step.uses, &step.early})
                    for (value_id in : *operands) {
                        if (pick.below(2) == 0) continue;
                        step.pairs.push_back({in, out});
                        if (pick.below(2) == 0) p.bytes[out] = p.bytes[in], p.pool[out] = p.pool[in];
                    }
            }
            if (pick.below(8) == 0) { // written again, perhaps by its reader
                value_id const v = any();
                bool const is_read = std::count(step.uses.begin(), step.uses.end(), v) +
                                         std::count(step.early.begin(), step.early.end(), v) !=
                                     0;
                if (!is_read || p.alias_of[v] == no_value) step.defs.push_back(v);
            }
            if (pick.below(8) == 0) {
                value_id const room = value(no_value);
                p.is_scratch[room] = true;
                step.scratch.push_back(room);
            }
        }
        if (&node != &p.nodes.back() && pick.below(4) == 0) node.uses_at_end.push_back(any());
    }

    // Neighbours are exchanged where the data allows it.
    if (pick.below(2) == 0) {
        snapshot const program = p.program();
        std::vector<node_id> order;
        for (node_id n = 0; n != p.nodes.size(); ++n) order.push_back(n);
        for (std::uint32_t i = 0; i != 20 && order.size() > 1; ++i) {
            std::vector<node_id> other = order;
            std::uint32_t const at = pick.below(static_cast<std::uint32_t>(order.size() - 1));
            std::swap(other[at], other[at + 1]);
            plan_options options = p.options();
            options.order = other;
            if (!lifetimes(program, lifetimes_of(options))) continue;
            p.order = other;
            bool keeps_edges = true; // those to nodes with reads at their begin
            for (node_id n = 0; n + 1 < p.nodes.size(); ++n)
                keeps_edges = keeps_edges && (p.nodes[n].uses_at_end.empty() || p.has_next_edge(n));
            if (keeps_edges) order = other;
        }
        p.order = order;
    }
    return p;
}

/// Makes the results of many in-place pairs smaller than their operands. A value of no bytes keeps none: its
/// accesses may be in any order.
inline void shrink_results(random_program& p, random_source& pick)
{
    for (auto const& node : p.nodes)
        for (auto const& step : node.steps)
            for (auto [in, out] : step.pairs)
                if (p.bytes[in] != sublet::no_size && p.bytes[in] > 1 && pick.below(2) == 0 &&
                    p.bytes[out] != 0)
                    p.bytes[out] = 1 + pick.below(static_cast<std::uint32_t>(p.bytes[in]));
}

/// Every value is written once, by its first writer.
inline void write_once(random_program& p)
{
    std::set<sublet::value_id> there;
    for (sublet::value_id v = 0; v != p.values(); ++v)
        if (sublet::detail::is_given(p.role[v])) there.insert(v);
    for (auto& node : p.nodes)
        for (auto& step : node.steps)
            step.defs.erase(std::remove_if(step.defs.begin(), step.defs.end(),
                                           [&](sublet::value_id v) { return !there.insert(v).second; }),
                            step.defs.end());
}

#endif
