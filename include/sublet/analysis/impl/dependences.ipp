// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_DEPENDENCES_IPP
#define SUBLET_ANALYSIS_IMPL_DEPENDENCES_IPP

#include <sublet/analysis/dependences.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL step_id dependence_graph::start_of(step_id s) const
{
    for (step_id p : before[position_of[s]])
        if (step_at[p] == s) return p;
    return position_of[s];
}

} // namespace sublet

namespace sublet::detail {

/// Steps that read early are two points, others one; points are numbered by steps.
struct dependence_points {
    snapshot const& p;
    std::vector<step_id> late;  // by step; empty if point and step are the same
    std::vector<step_id> owner; // by point; empty likewise

    explicit dependence_points(snapshot const& program) : p(program)
    {
        auto const steps = static_cast<step_id>(p.steps());
        auto reads_early = [this](step_id s) {
            for (touch t : p.touches(s))
                if (t.kind == touch_kind::use_early) return true;
            return false;
        };
        step_id s = 0;
        while (s != steps && !reads_early(s)) ++s;
        if (s == steps) return;
        for (s = 0; s != steps; ++s) {
            if (reads_early(s)) owner.push_back(s);
            late.push_back(static_cast<step_id>(owner.size()));
            owner.push_back(s);
        }
    }
    std::size_t size() const { return owner.empty() ? p.steps() : owner.size(); }
    step_id last(step_id s) const { return late.empty() ? s : late[s]; }
    step_id first(step_id s) const
    {
        step_id const l = last(s);
        return l != 0 && owner_of(l - 1) == s ? l - 1 : l;
    }
    step_id owner_of(step_id point) const { return owner.empty() ? point : owner[point]; }
};

SUBLET_DECL std::optional<dependence_violation>
only_defs(snapshot const& p, std::vector<value_role> const& role, std::vector<step_id>& def_of)
{
    def_of = std::vector<step_id>(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            if (t.kind != touch_kind::def || def_of[t.value] == s) continue;
            if (is_given(role[t.value]))
                return dependence_violation{dependence_fault::several_defs, t.value, {no_step, s}};
            if (def_of[t.value] != no_step)
                return dependence_violation{dependence_fault::several_defs, t.value, {def_of[t.value], s}};
            def_of[t.value] = s;
        }
    auto is_there = [&](value_id v) { return def_of[v] != no_step || is_given(role[v]); };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (t.kind != touch_kind::def && (!is_there(t.value) || def_of[t.value] == s))
                return dependence_violation{dependence_fault::never_defined, t.value, {s}};
    for (edge_use u : p.edge_uses())
        if (!is_there(u.value))
            return dependence_violation{
                dependence_fault::never_defined, u.value, {p.steps_of(u.pred).last - 1}};
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(role[v], value_role::output) && !is_there(v))
            return dependence_violation{dependence_fault::never_defined, v, {}};
    return std::nullopt;
}

SUBLET_DECL std::vector<step_id> cycle_among(csr_rows const& after, std::vector<step_id> const& waits)
{
    std::vector<step_id> from(after.rows(), no_step);
    step_id at = no_step;
    for (step_id x = 0; x != after.rows(); ++x)
        if (waits[x] != 0) {
            at = x;
            for (step_id y : after[x])
                if (waits[y] != 0) from[y] = x;
        }
    std::vector<unsigned char> seen(after.rows());
    for (; !seen[at]; at = from[at]) seen[at] = 1;
    std::vector<step_id> backwards{at}, cycle;
    for (step_id x = from[at]; x != at; x = from[x]) backwards.push_back(x);
    while (!backwards.empty()) {
        cycle.push_back(backwards.back());
        backwards.pop_back();
    }
    return cycle;
}

SUBLET_DECL std::vector<step_id> topological_points(csr_rows const& after, std::vector<step_id>& waits,
                                                    position_order how)
{
    std::size_t const points = after.rows();
    std::vector<step_id> order, ready;
    order.reserve(points);
    if (how == position_order::as_listed) {
        bool ascends = true;
        for (step_id x = 0; x != points && ascends; ++x)
            for (step_id y : after[x]) ascends &= x < y;
        if (ascends) {
            for (step_id x = 0; x != points; ++x) order.push_back(x);
            waits.assign(points, 0);
            return order;
        }
    }
    auto finish = [&](step_id x, auto found) {
        for (step_id y : after[x])
            if (--waits[y] == 0) found(y);
    };
    for (step_id x = 0; x != points; ++x)
        if (waits[x] == 0) order.push_back(x);
    if (how != position_order::depth_first) {
        for (std::size_t i = 0; i != order.size(); ++i)
            finish(order[i], [&](step_id y) { order.push_back(y); });
        return order;
    }
    auto turn_last = [&](std::size_t first) { // the first of those pushed together comes off first
        for (std::size_t i = first, j = ready.size(); i + 1 < j; ++i) std::swap(ready[i], ready[--j]);
    };
    for (std::size_t i = 0, roots = order.size(); i != roots; ++i)
        finish(order[i], [&](step_id y) { ready.push_back(y); });
    turn_last(0);
    while (!ready.empty()) {
        step_id const x = ready.back();
        ready.pop_back();
        order.push_back(x);
        std::size_t const first = ready.size();
        finish(x, [&](step_id y) { ready.push_back(y); });
        turn_last(first);
    }
    return order;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL dependence_graph dependences(snapshot const& p, dependence_options const& options)
{
    dependence_graph g;
    std::vector<step_id> def_of;
    g.violation = detail::only_defs(p, options.role.tabulate(p.values()), def_of);
    if (g.violation) return g;
    for (handoff h : options.handoffs)
        SUBLET_EXPECTS(h.from < p.steps() && h.to < p.steps(), "sublet: a hand-off names no step");

    detail::dependence_points const points(p);
    csr_rows const after = csr_rows::gathered(points.size(), [&](auto add) {
        for (node_id n = 0; n != p.nodes(); ++n) {
            step_range const mine = p.steps_of(n);
            for (step_id s = mine.first; s != mine.last; ++s) {
                step_id const begin = points.first(s), end = points.last(s);
                if (begin != end) add(begin, end);
                if (s != mine.first) add(points.last(s - 1), begin);
                for (touch t : p.touches(s))
                    if (t.kind != touch_kind::def && def_of[t.value] != no_step)
                        add(points.last(def_of[t.value]), begin);
            }
            for (node_id to : p.successors(n))
                add(points.last(mine.last - 1), points.first(p.steps_of(to).first));
        }
        for (edge_use u : p.edge_uses()) {
            step_id const reader = p.steps_of(u.pred).last - 1, writer = def_of[u.value];
            if (writer != no_step && writer != reader) add(points.last(writer), points.last(reader));
        }
        for (handoff h : options.handoffs) add(points.last(h.from), points.first(h.to));
    });
    std::vector<step_id> waits(points.size(), 0);
    for (step_id x = 0; x != points.size(); ++x)
        for (step_id y : after[x]) ++waits[y];
    std::vector<step_id> const order = detail::topological_points(after, waits, options.order);
    if (order.size() != points.size()) {
        g.violation = dependence_violation{dependence_fault::cycle, no_value, {}};
        for (step_id x : detail::cycle_among(after, waits)) {
            auto& steps = g.violation->steps;
            step_id const s = points.owner_of(x);
            if (steps.empty() || (steps.back() != s && steps.front() != s)) steps.push_back(s);
        }
        return g;
    }

    std::vector<step_id>& place = waits; // by point: its position
    for (step_id at = 0; at != order.size(); ++at) place[order[at]] = at;
    csr_rows const before = csr_rows::gathered(points.size(), [&](auto add) {
        for (step_id at = 0; at != order.size(); ++at)
            for (step_id y : after[order[at]]) add(place[y], at);
    });
    g.before.reserve(before.rows(), before.items());
    for (std::size_t at = 0; at != before.rows(); ++at) {
        step_id last = no_step;
        for (step_id x : before[at])
            if (x != last) g.before.append(last = x);
        g.before.close_row();
    }
    g.after = g.before.transposed(points.size());
    g.step_at.reserve(order.size());
    for (step_id x : order) g.step_at.push_back(points.owner_of(x));
    g.position_of.reserve(p.steps());
    for (step_id s = 0; s != p.steps(); ++s) g.position_of.push_back(place[points.last(s)]);
    return g;
}

} // namespace sublet

#endif
