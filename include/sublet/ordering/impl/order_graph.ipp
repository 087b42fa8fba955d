// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_ORDER_GRAPH_IPP
#define SUBLET_ORDERING_IMPL_ORDER_GRAPH_IPP

#include <sublet/analysis/buffers.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/order_graph.hpp>
#include <sublet/value_role.hpp>

#include <algorithm>
#include <utility>

namespace sublet::detail {

/// Which node waits for which: what holds between their steps.
SUBLET_DECL void order_nodes(order_graph& result, dependence_graph const& g, snapshot const& p)
{
    std::vector<node_id> node_of(p.steps());
    for (node_id n = 0; n != p.nodes(); ++n) {
        result.steps.push_back(p.steps_of(n));
        for (step_id s = result.steps[n].first; s != result.steps[n].last; ++s) node_of[s] = n;
    }
    csr_rows const listed = csr_rows::gathered(p.nodes(), [&](auto add) {
        for (step_id at = 0; at != g.positions(); ++at)
            for (step_id next : g.after[at]) {
                node_id const from = node_of[g.step_at[at]], to = node_of[g.step_at[next]];
                if (from != to) add(to, from);
            }
    });
    // Turned round twice, a list ascends; the second time each is listed once.
    csr_rows const turned = listed.transposed(p.nodes());
    auto once = [&](auto add) {
        for (node_id from = 0; from != p.nodes(); ++from) {
            node_id last = no_node;
            for (node_id to : turned[from])
                if (to != last) add(last = to, from);
        }
    };
    result.before = csr_rows::gathered(p.nodes(), once);
    result.after = result.before.transposed(p.nodes());

    std::vector<node_id> waits;
    for (node_id n = 0; n != p.nodes(); ++n) waits.push_back(static_cast<node_id>(result.before[n].size()));
    if (topological_points(result.after, waits, position_order::breadth_first).size() == p.nodes()) return;
    result.violation = dependence_violation{dependence_fault::cycle, no_value, {}};
    for (node_id n : cycle_among(result.after, waits))
        result.violation->steps.push_back(result.steps[n].first);
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL order_graph order_graph_of(snapshot const& p, plan_options const& options)
{
    order_graph result;
    result.listed = options.order;
    if (options.order.empty())
        for (node_id n = 0; n != p.nodes(); ++n) result.listed.push_back(n);
    {
        versioned_program const listed = versions(p, {.role = options.role,
                                                      .alias_of = options.alias_of,
                                                      .same_storage = true,
                                                      .order = options.order});
        if (listed.violation) {
            bool const is_use = listed.violation->value != no_value;
            result.violation =
                dependence_violation{is_use ? dependence_fault::never_defined : dependence_fault::cycle,
                                     listed.violation->value,
                                     {listed.violation->to}};
            return result;
        }
        dependence_graph g = dependences(listed.program, {.role = listed.role, .handoffs = listed.handoffs});
        result.violation = std::move(g.violation);
        if (!result.violation) detail::order_nodes(result, g, p);
        if (result.violation) return result;
    }

    auto const role = options.role.tabulate(p.values());
    live_ranges touched{std::vector<live_range>(p.values()), 1, std::nullopt};
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(role[v], value_role::input) || has_role(role[v], value_role::output))
            touched.of[v] = {0, 1};
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) touched.of[t.value] = {0, 1};
    for (edge_use u : p.edge_uses()) touched.of[u.value] = {0, 1};
    buffer_table const table = gather_buffers(touched, options);

    std::vector<buffer_id> planned(table.buffers.size(),
                                   no_buffer); // by buffer of the table: its number here
    for (buffer_id b = 0; b != table.buffers.size(); ++b) {
        if (!table.buffers[b].is_planned()) continue;
        planned[b] = static_cast<buffer_id>(result.size.size());
        result.size.push_back(table.buffers[b].size);
        result.is_given.push_back(has_role(table.buffers[b].role, value_role::input));
        result.is_kept.push_back(has_role(table.buffers[b].role, value_role::output));
    }
    result.touching.assign(result.size.size(), 0);

    csr_rows const at_end = csr_rows::gathered(p.steps(), [&](auto add) { // read after the step has written
        for (edge_use u : p.edge_uses()) add(p.steps_of(u.pred).last - 1, u.value);
    });
    // While a step is looked at, by buffer: the one value that it reads there, and whether it does more.
    struct touches_of_step {
        step_id at = no_step, held_at = no_step;
        value_id read = no_value;
        bool reads_only_that = false;
    };
    std::vector<touches_of_step> seen(result.size.size());
    std::vector<step_id> defined_at(p.values(), no_step); // by value: the last step that does
    std::vector<buffer_id> mine;                          // the buffers of the step
    auto number_of = [&](value_id v) { return planned[table.buffer_of[v]]; };
    for (step_id s = 0; s != p.steps(); ++s) {
        mine.clear();
        auto see = [&](value_id v, bool holds, bool only_reads) {
            buffer_id const b = number_of(v);
            if (b == no_buffer) return;
            touches_of_step& t = seen[b];
            if (t.at != s) {
                t = {s, t.held_at, v, only_reads};
                mine.push_back(b);
            } else {
                t.reads_only_that = t.reads_only_that && only_reads && t.read == v;
            }
            if (holds) t.held_at = s;
        };
        for (touch t : p.touches(s)) {
            see(t.value, t.kind != touch_kind::use_early, t.kind != touch_kind::def);
            if (t.kind == touch_kind::def) defined_at[t.value] = s;
        }
        for (value_id v : at_end[s]) see(v, true, false);
        std::sort(mine.begin(), mine.end());
        for (buffer_id b : mine) {
            ++result.touching[b];
            (seen[b].held_at == s ? result.held : result.early).append(b);
        }
        result.held.close_row();
        result.early.close_row();

        result.first_pair.push_back(static_cast<std::uint32_t>(result.pairs.size()));
        if (!options.in_place) continue;
        for (overwrite o : p.overwrites(s)) {
            buffer_id const from = number_of(o.in), to = number_of(o.out);
            if (from == no_buffer || to == no_buffer || from == to) continue;
            buffer const &in = table.buffers[table.buffer_of[o.in]],
                         &out = table.buffers[table.buffer_of[o.out]];
            if (seen[from].at != s || !seen[from].reads_only_that || seen[from].read != o.in) continue;
            if (defined_at[o.out] != s || result.is_kept[from] || result.is_given[to]) continue;
            if (in.pool != out.pool || in.size < out.size) continue;
            if (in.pinned != no_offset || out.pinned != no_offset) continue;
            bool is_listed = false; // twice
            for (std::size_t i = result.first_pair.back(); i != result.pairs.size(); ++i)
                is_listed = is_listed || result.pairs[i] == overwrite_pair{from, to, out.size};
            if (!is_listed) result.pairs.push_back({from, to, out.size});
        }
    }
    result.first_pair.push_back(static_cast<std::uint32_t>(result.pairs.size()));
    return result;
}

} // namespace sublet

#endif
