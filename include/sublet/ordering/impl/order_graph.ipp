// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_ORDER_GRAPH_IPP
#define SUBLET_ORDERING_IMPL_ORDER_GRAPH_IPP

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/order_graph.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <queue>
#include <utility>

// --- order graph -----------------------------------------------------------------------------------------

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

// --- topological -----------------------------------------------------------------------------------------


SUBLET_DECL std::vector<node_id> listed_places(order_graph const& g)
{
    std::vector<node_id> place(g.nodes());
    for (node_id at = 0; at != g.nodes(); ++at) place[g.listed[at]] = at;
    return place;
}

SUBLET_DECL std::vector<node_id> order_by_rank(order_graph const& g, std::vector<std::uint64_t> const& rank)
{
    SUBLET_EXPECTS(!g.violation, "sublet: there is no order to run this program in");
    SUBLET_EXPECTS(rank.size() == g.nodes(), "sublet: a table has not one entry for each node");
    std::vector<node_id> const place = listed_places(g);
    std::vector<node_id> waits(g.nodes()), order;
    std::priority_queue<keyed> ready; // the greatest comes first, so both keys fall
    auto wake = [&](node_id n) { ready.push({falling(rank[n]), falling(place[n]), n}); };
    order.reserve(g.nodes());
    for (node_id n = 0; n != g.nodes(); ++n) {
        waits[n] = static_cast<node_id>(g.before[n].size());
        if (waits[n] == 0) wake(n);
    }
    while (!ready.empty()) {
        node_id const n = ready.top().who;
        ready.pop();
        order.push_back(n);
        for (node_id next : g.after[n])
            if (--waits[next] == 0) wake(next);
    }
    return order;
}

SUBLET_DECL std::vector<node_id> topological(order_graph const& g)
{
    std::vector<node_id> const place = listed_places(g);
    bool can_run = true;
    for (node_id n = 0; n != g.nodes(); ++n)
        for (node_id next : g.after[n]) can_run = can_run && place[n] < place[next];
    return can_run ? g.listed : order_by_rank(g, std::vector<std::uint64_t>(g.nodes(), 0));
}

// --- peak walk -------------------------------------------------------------------------------------------


SUBLET_DECL peak_walk::peak_walk(order_graph const& g) : g_(g), remaining_(g.touching)
{
    byte_count all = 0;
    for (buffer_id b = 0; b != g.buffers(); ++b) {
        all = checked_add(all, g.size[b]);
        if (!g.is_given[b]) continue;
        live_ += g.size[b];
        if (g.touching[b] == 0 && !g.is_kept[b]) only_at_first_ += g.size[b];
    }
}

SUBLET_DECL byte_count peak_walk::run(node_id n)
{
    log_.push_back({n, live_, peak_});
    byte_count most = 0;
    for (step_id s = g_.steps[n].first; s != g_.steps[n].last; ++s) most = larger(most, run_step(s));
    peak_ = larger(peak_, most);
    return most;
}

SUBLET_DECL void peak_walk::step_back()
{
    record const last = log_.back();
    log_.pop_back();
    live_ = last.live;
    peak_ = last.peak;
    for (step_id s = g_.steps[last.node].first; s != g_.steps[last.node].last; ++s) {
        --steps_;
        for (buffer_id b : g_.held[s]) ++remaining_[b];
        for (buffer_id b : g_.early[s]) ++remaining_[b];
    }
}

SUBLET_DECL byte_count peak_walk::run_step(step_id s)
{
    byte_count now = live_, dead = steps_ == 0 ? only_at_first_ : 0;
    for (buffer_id b : g_.held[s]) {
        if (remaining_[b] == g_.touching[b] && !g_.is_given[b]) now += g_.size[b];
        if (dies(b)) dead += g_.size[b];
    }
    byte_count const behind = now - dead;
    // What is only read early is gone when the step writes; but what is given is there at first.
    byte_count early = 0;
    for (buffer_id b : g_.early[s])
        if (dies(b)) early += g_.size[b];
    bool const is_first = steps_ == 0;
    if (!is_first) now -= early;
    now -= saved(s, is_first);

    for (buffer_id b : g_.held[s]) --remaining_[b];
    for (buffer_id b : g_.early[s]) --remaining_[b];
    ++steps_;
    live_ = behind - early;
    return now;
}

SUBLET_DECL byte_count peak_walk::saved(step_id s, bool is_first)
{
    candidates_.clear();
    for (overwrite_pair const& pair : g_.pairs_of(s)) {
        if (!dies(pair.in) || remaining_[pair.out] != g_.touching[pair.out]) continue;
        if (!is_first && is_listed(g_.early[s], pair.in)) continue;
        candidates_.push_back(pair);
    }
    byte_count sum = 0;
    for (std::uint32_t i : match_overwrites(candidates_)) sum += candidates_[i].saved;
    return sum;
}

SUBLET_DECL byte_count peak_of(order_graph const& g, std::vector<node_id> const& order)
{
    SUBLET_EXPECTS(order.size() == g.nodes(), "sublet: an order has to name every node once");
    peak_walk walk(g);
    for (node_id n : order) walk.run(n);
    return walk.peak();
}

// --- order contest ---------------------------------------------------------------------------------------


SUBLET_DECL order_contest::order_contest(order_graph const& g, byte_count floor) : g_(g)
{
    best_.violation = g.violation;
    if (g.violation) return;
    best_.order = topological(g);
    best_.peak = best_.given_peak = sublet::peak_of(g, best_.order);
    best_.lower_bound = smaller(floor, best_.peak);
}

SUBLET_DECL bool order_contest::enter(std::vector<node_id> order, order_method how)
{
    byte_count const peak = sublet::peak_of(g_, order);
    if (peak >= best_.peak) return false;
    best_.order = std::move(order);
    best_.peak = peak;
    best_.found_by = how;
    return true;
}

} // namespace sublet

#endif
