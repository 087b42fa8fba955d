// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_NAMES_HPP
#define SUBLET_TEST_RANDOM_NAMES_HPP

/// Random programs with names that are written any number of times, and their semantics: every name refers to
/// a cell, as in a language with references, and nodes run as listed. Independent of the library.

#include "random_source.hpp"
#include "transitive.hpp"
#include "view_sizes.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

struct random_names {
    using ids = std::vector<sublet::value_id>;
    struct step {
        ids uses, early, defs;
        std::vector<std::pair<sublet::value_id, sublet::value_id>> pairs; // in, out
    };
    struct node {
        std::vector<step> steps;
        std::vector<sublet::node_id> next;
        std::vector<std::pair<sublet::node_id, sublet::value_id>> ends; // used at the end of a node before
    };
    std::vector<node> nodes;
    std::vector<sublet::node_id> order; // the listed order, never empty
    std::vector<sublet::value_role> role;
    ids alias_of; // of lower ids
    std::vector<bool> same_storage;

    std::size_t values() const { return role.size(); }
    sublet::snapshot program() const
    {
        return sublet::tasks(
            nodes.size(), values(), [this](sublet::node_id n) -> auto const& { return nodes[n].next; },
            [this](sublet::node_id n, sublet::effect_sink& s) {
                for (std::size_t i = 0; i != nodes[n].steps.size(); ++i) {
                    if (i != 0) s.next_step();
                    step const& its = nodes[n].steps[i];
                    for (auto v : its.uses) s.add(sublet::touch::access::use, v);
                    for (auto v : its.early) s.add(sublet::touch::access::use_early, v);
                    std::set<sublet::value_id> touched; // storage of the step, by root
                    for (auto const* row : {&its.uses, &its.early})
                        for (auto v : *row) touched.insert(root(v));
                    for (auto v : its.defs)
                        if (alias_of[v] == sublet::no_value) s.def(v), touched.insert(v);
                    for (auto v : std::set<sublet::value_id>(its.defs.begin(), its.defs.end())) {
                        if (alias_of[v] == sublet::no_value) continue;
                        s.view(v);
                        if (touched.insert(root(v)).second) s.write(v); // a part
                    }
                    for (auto [in, out] : its.pairs) s.may_overwrite(in, out);
                    s.only_views();
                }
                for (auto [pred, v] : nodes[n].ends) s.use_at_end_of(pred, v);
            });
    }
    /// The storage of v is kept: v, a view of it or its root requires that.
    bool is_kept(sublet::value_id v) const
    {
        for (sublet::value_id u = 0; u != values(); ++u)
            if (root(u) == root(v) && (same_storage[u] || has_role(role[u], sublet::value_role::external)))
                return true;
        return false;
    }
    sublet::value_id root(sublet::value_id v) const { return root_of(alias_of, v); }
};

struct random_names_shape {
    unsigned nodes = 7;
    unsigned names = 5;
    unsigned given = 30;  ///< percent of names
    unsigned same = 20;   ///< percent of names
    unsigned views = 20;  ///< percent of names
    unsigned early = 15;  ///< percent of uses
    unsigned edges = 20;  ///< percent of nodes with one that carries no data
    bool shuffled = true; ///< nodes are listed in another order than their numbers
};

template <class RandomSource>
random_names draw_names(RandomSource& random_source, random_names_shape const& shape)
{
    using namespace sublet;
    using namespace sublet::detail;
    random_names drawn;
    auto chance = [&random_source](unsigned percent) { return random_source.below(100) < percent; };
    value_role const given[] = {value_role::input, value_role::external, value_role::state};
    unsigned const names = 1 + random_source.below(shape.names), nodes = 1 + random_source.below(shape.nodes);
    std::vector<bool> is_there;
    for (value_id v = 0; v != names; ++v) {
        bool const is_view = v != 0 && chance(shape.views);
        drawn.alias_of.push_back(is_view ? value_id{random_source.below(v)} : no_value);
        bool const may_be_given = !is_view || is_there[drawn.alias_of[v]];
        is_there.push_back(may_be_given && chance(shape.given));
        auto role = is_there[v] ? given[random_source.below(3)] : value_role::intermediate;
        if (is_there[v] && chance(20)) role = role | value_role::output;
        bool const is_external = has_role(role, value_role::external);
        if (is_view && is_external && !has_role(drawn.role[drawn.alias_of[v]], value_role::external))
            role = value_role::input;
        drawn.role.push_back(role);
        drawn.same_storage.push_back(chance(shape.same));
    }
    drawn.nodes.resize(nodes);
    for (node_id n = 0; n != nodes; ++n) drawn.order.push_back(n);
    if (shape.shuffled)
        for (std::size_t i = nodes; i > 1; --i)
            std::swap(drawn.order[i - 1], drawn.order[random_source.below(static_cast<unsigned>(i))]);
    std::vector<std::vector<bool>> defined_after(nodes);
    for (std::size_t at = 0; at != nodes; ++at) {
        auto& now = drawn.nodes[drawn.order[at]];
        now.steps.resize(1 + random_source.below(2));
        for (auto& step : now.steps) {
            auto use = [&](value_id v) { (chance(shape.early) ? step.early : step.uses).push_back(v); };
            for (auto i = random_source.below(4); i != 0; --i)
                if (value_id const v = random_source.below(names); is_there[v]) use(v);
            for (auto i = random_source.below(3); i != 0; --i) {
                value_id const v = random_source.below(names), of = drawn.alias_of[v];
                if (of != no_value && !is_there[of]) continue;
                if (of != no_value && chance(80)) use(of); // otherwise a written part of it
                step.defs.push_back(v);
            }
            for (value_id in : step.uses)
                for (value_id out : step.defs)
                    if (chance(30)) step.pairs.push_back({in, out});
            for (value_id v : step.defs) is_there[v] = true;
        }
        defined_after[drawn.order[at]] = is_there;
        if (at != 0 && chance(shape.edges)) {
            node_id const from = drawn.order[random_source.below(static_cast<unsigned>(at))];
            drawn.nodes[from].next.push_back(drawn.order[at]);
            value_id const v = random_source.below(names);
            if (chance(50) && defined_after[from][v]) now.ends.push_back({from, v});
        }
    }
    for (value_id v = 0; v != names; ++v)
        if (is_there[v] && chance(20)) drawn.role[v] = drawn.role[v] | value_role::output;
    return drawn;
}

/// What a program with names reads and writes when it runs as listed. A written content is a hash of its
/// place and of all contents read there, so no two are equal by chance.
struct names_run {
    using content = std::uint64_t;
    static content mix(content a, content b)
    {
        a = (a ^ b) * 0x9e3779b97f4a7c15u;
        return a ^ (a >> 29);
    }
    static content given(sublet::value_id v) { return mix(v, 17); }
    static content written(sublet::step_id s, std::size_t operand, std::vector<content> const& reads)
    {
        content all = mix(s, operand + 1000);
        for (content c : reads) all = mix(all, c);
        return all;
    }

    std::vector<std::vector<content>> reads;   // by step: of its uses
    std::vector<content> reads_at_end;         // by edge use
    std::vector<content> left;                 // by value, at the end; 0: nothing
    std::vector<std::vector<bool>> makes_view; // by step and touch: it makes a view and writes nothing
    std::vector<std::vector<bool>> before;     // by step: must come before; transitive at the end
    bool is_ambiguous = false;                 // a step writes two contents to one cell

    explicit names_run(random_names const& names)
    {
        using namespace sublet;
        using namespace sublet::detail;
        snapshot const p = names.program();
        std::size_t const values = names.values(), steps = p.steps();
        std::size_t const nowhere = ~std::size_t{0};
        std::vector<content> cells;
        std::vector<std::size_t> cell_of(values, nowhere), writer(values, nowhere);
        struct access {
            step_id step;
            bool writes;
        };
        std::vector<std::vector<access>> accesses; // by cell
        std::map<std::size_t, step_id> maker;      // by cell: the first step that makes a value there
        before.assign(steps, std::vector<bool>(steps));
        auto new_cell = [&] {
            cells.push_back(0);
            accesses.emplace_back();
            return cells.size() - 1;
        };
        for (value_id v = 0; v != values; ++v) {
            if (!is_given(names.role[v])) continue;
            if (names.alias_of[v] != no_value) {
                cell_of[v] = cell_of[names.alias_of[v]];
            } else {
                cell_of[v] = new_cell();
                cells[cell_of[v]] = given(v);
            }
        }
        reads.resize(steps);
        makes_view.resize(steps);
        reads_at_end.resize(p.edge_uses().size());
        auto read = [&](value_id v, step_id s) {
            if (writer[v] != nowhere && writer[v] != s) before[writer[v]][s] = true;
            accesses[cell_of[v]].push_back({s, false});
            return cells[cell_of[v]];
        };
        for (node_id n : names.order) {
            step_range const own = p.steps_of(n);
            for (node_id to : p.successors(n)) before[own.last - 1][p.steps_of(to).first] = true;
            for (step_id s = own.first; s != own.last; ++s) {
                if (s != own.first) before[s - 1][s] = true;
                auto const touches = p.touches(s);
                std::map<value_id, std::size_t> defs; // the first of each, by name
                for (std::size_t i = 0; i != touches.size(); ++i) {
                    makes_view[s].push_back(false);
                    if (!touches[i].defines()) reads[s].push_back(read(touches[i].value, s));
                    else defs.insert({touches[i].value, i});
                }
                std::vector<std::size_t> written_cells;
                for (auto [v, i] : defs) { // roots come before their views
                    value_id const of = names.alias_of[v];
                    bool const writes = touches[i].writes();
                    if (of != no_value) {
                        if (!names.is_kept(v) || cell_of[v] == nowhere) cell_of[v] = cell_of[of];
                    } else if (cell_of[v] == nowhere || !names.is_kept(v)) {
                        cell_of[v] = new_cell();
                    }
                    if (!writes)
                        for (std::size_t k = i; k != touches.size(); ++k)
                            if (touches[k].value == v) makes_view[s][k] = true;
                    writer[v] = s;
                    if (of == no_value) maker.insert({cell_of[v], s});
                    else if (auto const made = maker.find(cell_of[v]);
                             made != maker.end() && made->second != s)
                        before[made->second][s] = true;
                    if (!writes) continue;
                    accesses[cell_of[v]].push_back({s, true});
                    written_cells.push_back(cell_of[v]);
                    cells[cell_of[v]] = written(s, i, reads[s]);
                }
                std::sort(written_cells.begin(), written_cells.end());
                is_ambiguous |=
                    std::adjacent_find(written_cells.begin(), written_cells.end()) != written_cells.end();
            }
            for (std::size_t i = 0; i != reads_at_end.size(); ++i)
                if (edge_use const u = p.edge_uses()[i]; u.pred == n)
                    reads_at_end[i] = read(u.value, own.last - 1);
        }
        for (value_id v = 0; v != values; ++v) left.push_back(cell_of[v] == nowhere ? 0 : cells[cell_of[v]]);
        for (auto const& cell : accesses)
            for (std::size_t i = 0; i != cell.size(); ++i)
                for (std::size_t k = i + 1; k < cell.size(); ++k)
                    if ((cell[i].writes || cell[k].writes) && cell[i].step != cell[k].step)
                        before[cell[i].step][cell[k].step] = true;
        make_transitive(before);
    }
};

#endif
