// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_FLOW_LIVES_IPP
#define SUBLET_ANALYSIS_IMPL_FLOW_LIVES_IPP

#include <sublet/analysis/flow_lives.hpp>
#include <sublet/analysis/live_intervals.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL live_range_lists range_heap::lists(std::size_t count, interval_method method, step_id positions)
{
    sort_keyed(ranges_);
    range_collector found(count);
    for (keyed const& r : ranges_)
        found.add(static_cast<std::uint32_t>(r.key), {static_cast<step_id>(falling(r.tie)), r.who});
    return found.lists(method, positions);
}

SUBLET_DECL bool hands_over(snapshot const& p, step_id s, value_id v)
{
    for (overwrite o : p.overwrites(s)) {
        if (o.in != v) continue;
        for (touch t : p.touches(s))
            if (t.kind == touch_kind::def && t.value == o.out) return true;
    }
    return false;
}

/// By node, whether no path leads from it to one without successors.  O(V + E)
SUBLET_DECL std::vector<unsigned char> endless_nodes(snapshot const& p)
{
    std::vector<unsigned char> is_endless(p.nodes(), 1);
    std::vector<node_id> open;
    auto leave = [&](node_id n) {
        if (is_endless[n]) open.push_back(n);
        is_endless[n] = 0;
    };
    for (node_id n = 0; n != p.nodes(); ++n)
        if (p.successors(n).empty()) leave(n);
    while (!open.empty()) {
        node_id const n = open.back();
        open.pop_back();
        for (node_id before : p.predecessors(n)) leave(before);
    }
    return is_endless;
}

SUBLET_DECL snapshot framed(snapshot const& p, std::vector<value_role> const& role, operand_end operands)
{
    auto const behind = static_cast<node_id>(p.nodes() + 1);
    std::vector<unsigned char> const is_endless = endless_nodes(p);
    std::vector<node_id> next; // of the node asked for last
    auto successors = [&](node_id n) -> std::vector<node_id> const& {
        next.clear();
        if (n == 0 && behind != 1) next.push_back(1);
        if (n == 0 || n == behind) return next;
        for (node_id s : p.successors(n - 1)) next.push_back(s + 1);
        if (next.empty() || is_endless[n - 1]) next.push_back(behind);
        return next;
    };
    auto effects = [&](node_id n, effect_sink& sink) {
        for (value_id v = 0; n == behind && v != p.values(); ++v)
            if (has_role(role[v], value_role::output)) sink.use(v);
        if (n == 0 || n == behind) return;
        step_range const mine = p.steps_of(n - 1);
        for (step_id s = mine.first; s != mine.last; ++s) {
            if (s != mine.first) sink.next_step();
            for (touch t : p.touches(s))
                if (t.kind == touch_kind::def) sink.def(t.value);
                else if (t.kind == touch_kind::use_early ||
                         (operands == operand_end::handed_over && hands_over(p, s, t.value)))
                    sink.use_early(t.value);
                else sink.use(t.value);
        }
        for (edge_use u : p.edge_uses(n - 1)) sink.use_at_end_of(u.pred + 1, u.value);
    };
    return flow(p.nodes() + 2, p.values(), successors, effects);
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL live_range_lists framed_lives(snapshot const& p, std::vector<value_role> const& role,
                                          std::vector<node_id> const& order, operand_end operands)
{
    interval_options options;
    options.order.push_back(0);
    for (node_id n : order) options.order.push_back(n + 1);
    options.order.push_back(static_cast<node_id>(p.nodes() + 1));
    live_range_lists const all = live_intervals(detail::framed(p, role, operands), options);

    auto const end = static_cast<step_id>(p.steps() + 1);
    detail::range_heap found;
    for (value_id v = 0; v != p.values(); ++v) {
        for (live_range r : all[v]) found.add(v, {r.first, smaller(r.last, end)});
        if (has_role(role[v], value_role::input)) found.add(v, {0, 1});
    }
    return found.lists(p.values(), all.method(), end);
}

SUBLET_DECL live_range_lists without_frame(snapshot const& p, live_range_lists const& framed,
                                           std::vector<node_id> const& order)
{
    step_id first = 0; // of the entry
    for (std::size_t i = 0; i != order.size() && order[i] != 0; ++i)
        first += p.steps_of(order[i]).last - p.steps_of(order[i]).first;
    detail::range_heap found;
    for (value_id v = 0; v != p.values(); ++v)
        for (live_range r : framed[v]) {
            if (r.first == 0) found.add(v, {first, first + 1});
            found.add(v, {r.first == 0 ? 0 : r.first - 1, r.last - 1});
        }
    return found.lists(p.values(), framed.method(), larger(static_cast<step_id>(p.steps()), step_id{1}));
}

SUBLET_DECL std::optional<order_violation> undefined_read(snapshot const& p, live_range_lists const& framed,
                                                          std::vector<value_role> const& role,
                                                          bool is_allowed)
{
    std::vector<unsigned char> is_ever_written(p.values(), 0), is_seen;
    for (touch t : p.touches({0, static_cast<step_id>(p.steps())}))
        if (t.kind == touch_kind::def) is_ever_written[t.value] = 1;
    std::vector<node_id> open;
    auto read_of = [&](value_id v) -> std::optional<order_violation> {
        is_seen.assign(p.nodes(), 0);
        open.clear();
        auto enter = [&](node_id n) {
            if (!is_seen[n]) open.push_back(n);
            is_seen[n] = 1;
        };
        auto found = [&](step_id s) {
            return order_violation{
                v, s, is_ever_written[v] ? order_fault::defined_later : order_fault::never_defined};
        };
        bool const is_output = has_role(role[v], value_role::output);
        if (p.nodes() != 0) enter(0);
        else if (is_output) return found(0);
        while (!open.empty()) {
            node_id const n = open.back();
            open.pop_back();
            bool is_written = false;
            for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last && !is_written; ++s)
                for (touch t : p.touches(s)) { // reads come first
                    if (t.value != v) continue;
                    if (t.kind != touch_kind::def) return found(s);
                    is_written = true;
                }
            if (is_written) continue;
            for (node_id next : p.successors(n)) {
                for (edge_use u : p.edge_uses(next))
                    if (u.pred == n && u.value == v) return found(p.steps_of(n).last - 1);
                enter(next);
            }
            if (p.successors(n).empty() && is_output) return found(static_cast<step_id>(p.steps()));
        }
        return std::nullopt;
    };
    for (value_id v = 0; v != p.values(); ++v) {
        if (is_given(role[v]) || (is_allowed && is_ever_written[v])) continue;
        bool const is_there = !framed[v].empty() && framed[v].front().first == 0;
        bool const is_output_of_nothing = p.nodes() == 0 && has_role(role[v], value_role::output);
        if (!is_there && !is_output_of_nothing) continue;
        if (auto read = read_of(v)) return read;
    }
    return std::nullopt;
}

} // namespace sublet

#endif
