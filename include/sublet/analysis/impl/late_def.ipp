// SPDX-License-Identifier: BSL-1.0

/// One pass over the list finds what is used and not made so far, and the steps that make it later. Another
/// order can run if data, edges, and the accesses of storage that a step changes, as they are listed, have no
/// cycle of nodes.

#include <sublet/analysis/internal/late_def.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/topological_points.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_COLD_DECL bool has_other_order(snapshot const& p, table<value_id, value_role> const& role,
                                      table<value_id, value_id> const& root,
                                      table<position_id, step_id> const& steps)
{
    auto root_of = [&root](value_id v) { return root.empty() ? v : root[v]; };
    table<value_id, step_id> made_by(p.values(), no_step);
    table<value_id, unsigned char> is_changed(p.values(), 0); // by root
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            if (t.writes() && !t.makes()) is_changed[root_of(t.value)] = 1;
            if (!t.defines()) continue;
            if (is_given(role[t.value]) || (made_by[t.value] != no_step && made_by[t.value] != s))
                return false;
            made_by[t.value] = s;
        }
    table<step_id, node_id> node_of(p.steps());
    for (node_id n = 0; n != p.nodes(); ++n)
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) node_of[s] = n;
    bool can_run = true;
    auto const after = csr_rows<node_id, node_id>::gathered(p.nodes(), [&](auto add) {
        table<value_id, node_id> last(p.values(), no_node); // that accesses the storage, by root
        auto need = [&](value_id v, step_id user) {
            step_id const maker = made_by[v];
            if (maker == no_step) {
                can_run = can_run && is_given(role[v]);
                return;
            }
            node_id const from = node_of[maker], to = node_of[user];
            if (from != to) add(from, to);
            else can_run = can_run && maker < user;
        };
        for (node_id n = 0; n != p.nodes(); ++n)
            for (node_id next : p.successors(n)) add(n, next);
        for (step_id s : steps)
            for (touch t : p.touches(s)) {
                value_id const of = root_of(t.value);
                if (!t.defines()) need(t.value, s);
                else if (t.makes_view() && made_by[of] != s) need(of, s);
                if (is_changed[of] == 0) continue;
                node_id const before = std::exchange(last[of], node_of[s]);
                if (before != no_node && before != node_of[s]) add(before, node_of[s]);
            }
        for (edge_use u : p.edge_uses()) need(u.value, p.steps_of(u.pred).last - 1);
    });
    std::vector<std::uint32_t> waits(p.nodes(), 0);
    for (node_id n = 0; n != p.nodes(); ++n)
        for (node_id next : after[n]) ++waits[next];
    enum class numbering { as_listed, breadth_first, depth_first };
    return can_run && topological_points(after, waits, numbering::breadth_first).size() == p.nodes();
}

SUBLET_DECL std::optional<counterexample> late_def(snapshot const& p, table<value_id, value_role> const& role,
                                                   table<value_id, value_id> const& root,
                                                   std::vector<node_id> const& listed)
{
    if (p.edges() == edge_meaning::control_flow) return std::nullopt;
    table<position_id, step_id> const steps = steps_in_order(p, listed);
    table<value_id, step_id> made_by(p.values(), no_step); // so far
    struct early_use {
        value_id value;
        step_id step;
    };
    std::vector<early_use> early; // of what is not made so far
    auto use = [&](value_id v, step_id s) {
        if (made_by[v] == no_step && !is_given(role[v])) early.push_back({v, s});
    };
    for (step_id s : steps) {
        for (touch t : p.touches(s))
            if (!t.defines()) use(t.value, s);
            else if (t.views_what_is_there() && !root.empty()) use(root[t.value], s);
        for (touch t : p.touches(s))
            if (t.defines() && made_by[t.value] == no_step) made_by[t.value] = s;
    }
    early_use first{no_value, no_step}; // of one step the lowest value
    for (early_use u : early) {
        if (first.step != no_step && first.step != u.step) break;
        if (made_by[u.value] != no_step && made_by[u.value] != u.step && u.value < first.value) first = u;
    }
    if (first.step == no_step) return std::nullopt;
    return counterexample{fault::used_undefined,
                          counterexample::access{.value = first.value,
                                                 .other = first.value,
                                                 .step = first.step,
                                                 .maker = made_by[first.value],
                                                 .has_order = has_other_order(p, role, root, steps)}};
}

SUBLET_COLD_DECL void explain_late_def(counterexample& why, snapshot const& p,
                                       table<value_id, value_role> const& role,
                                       table<value_id, value_id> const& root,
                                       std::vector<node_id> const& listed)
{
    if (why.what != fault::used_undefined || why.other() == no_value) return;
    auto const late = late_def(p, role, root, listed);
    if (!late || late->value() != why.value()) return;
    auto const& found = *late->as<counterexample::access>();
    counterexample::access use = *why.as<counterexample::access>();
    use.maker = found.maker;
    use.has_order = found.has_order;
    why.of = use;
}

} // namespace sublet::detail
