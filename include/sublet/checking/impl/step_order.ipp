// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_STEP_ORDER_IPP
#define SUBLET_CHECKING_IMPL_STEP_ORDER_IPP

#include <sublet/checking/step_order.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sorting.hpp>

#include <cstddef>

namespace sublet::detail {

/// Whether every value is there once when it is read; fills in who defines it.
SUBLET_DECL std::optional<witness> wrong_version(snapshot const& p, std::vector<value_role> const& role,
                                                 std::vector<step_id>& def_of)
{
    def_of = std::vector<step_id>(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            if (t.kind != touch_kind::def) continue;
            bool const is_second = def_of[t.value] != no_step && def_of[t.value] != s;
            if (is_given(role[t.value]) || is_second)
                return witness{.what = fault::several_defs, .value = t.value, .position = s};
            def_of[t.value] = s;
        }
    auto undefined = [&](value_id v, step_id s) {
        return witness{.what = fault::used_undefined,
                       .value = v,
                       .other = def_of[v] == no_step ? no_value : v,
                       .position = s};
    };
    auto exists = [&](value_id v) { return is_given(role[v]) || def_of[v] != no_step; };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (t.kind != touch_kind::def && (!exists(t.value) || def_of[t.value] == s))
                return undefined(t.value, s);
    for (edge_use u : p.edge_uses())
        if (!exists(u.value)) return undefined(u.value, p.steps_of(u.pred).last - 1);
    for (std::size_t v = 0; v != p.values(); ++v)
        if (has_role(role[v], value_role::output) && !exists(static_cast<value_id>(v)))
            return undefined(static_cast<value_id>(v), static_cast<step_id>(p.steps()));
    return std::nullopt;
}

/// Number the steps so that `after` leads upwards: as they are listed if it does so there, else always the
/// latest that waits for nothing more. What is missing then lies on or behind a cycle.
SUBLET_DECL std::vector<step_id> listed_upwards(csr_rows const& after)
{
    std::size_t const steps = after.rows();
    std::vector<step_id> order, waits_for(steps, 0), ready;
    order.reserve(steps);
    bool is_listed_so = true;
    for (step_id s = 0; s != steps; ++s)
        for (step_id next : after[s]) {
            ++waits_for[next];
            is_listed_so = is_listed_so && s < next;
        }
    for (step_id s = 0; s != steps; ++s)
        if (is_listed_so) order.push_back(s);
        else if (waits_for[s] == 0) ready.push_back(s);
    while (!ready.empty()) {
        order.push_back(ready.back());
        ready.pop_back();
        for (step_id next : after[order.back()])
            if (--waits_for[next] == 0) ready.push_back(next);
    }
    return order;
}

/// A cycle.  Requires: `listed` are the steps that lie neither on a cycle nor behind one; others exist.
SUBLET_DECL std::vector<step_id> find_cycle(csr_rows const& after, std::vector<step_id> const& listed)
{
    std::size_t const steps = after.rows();
    std::vector<unsigned char> is_listed(steps), is_passed(steps);
    for (step_id s : listed) is_listed[s] = 1;
    std::vector<step_id> waits_for(steps, no_step); // of those left, each waits for one that is left
    step_id at = no_step;
    for (step_id s = 0; s != steps; ++s)
        if (!is_listed[s])
            for (step_id next : after[s]) waits_for[at = next] = s;
    for (; !is_passed[at]; at = waits_for[at]) is_passed[at] = 1;
    std::vector<step_id> backwards{at}, cycle;
    for (step_id s = waits_for[at]; s != at; s = waits_for[s]) backwards.push_back(s);
    for (; !backwards.empty(); backwards.pop_back()) cycle.push_back(backwards.back());
    return cycle;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL step_order order_of_steps(snapshot const& p, std::vector<value_role> const& role,
                                      std::vector<handoff> const& handoffs)
{
    step_order found;
    found.fault = detail::wrong_version(p, role, found.def_of);
    if (found.fault) return found;
    auto const& def_of = found.def_of;
    found.after = csr_rows::gathered(p.steps(), [&](auto add) {
        for (step_id s = 0; s != p.steps(); ++s)
            for (touch t : p.touches(s))
                if (t.kind != touch_kind::def && def_of[t.value] != no_step) add(def_of[t.value], s);
        for (edge_use u : p.edge_uses()) {
            step_id const reader = p.steps_of(u.pred).last - 1;
            if (def_of[u.value] != no_step && def_of[u.value] != reader) add(def_of[u.value], reader);
        }
        for (node_id n = 0; n != p.nodes(); ++n) {
            step_range const mine = p.steps_of(n);
            for (step_id s = mine.first + 1; s != mine.last; ++s) add(s - 1, s);
            for (node_id next : p.successors(n)) add(mine.last - 1, p.steps_of(next).first);
        }
        for (handoff h : handoffs)
            if (h.from < p.steps() && h.to < p.steps()) add(h.from, h.to);
    });
    found.step_at = detail::listed_upwards(found.after);
    if (found.step_at.size() != p.steps()) {
        found.cycle = detail::find_cycle(found.after, found.step_at);
        found.fault = witness{.what = fault::cycle, .position = found.cycle.front()};
        return found;
    }
    found.position = std::vector<step_id>(p.steps(), 0);
    for (step_id at = 0; at != found.step_at.size(); ++at) found.position[found.step_at[at]] = at;
    return found;
}

} // namespace sublet

#endif
