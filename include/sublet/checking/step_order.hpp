// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_STEP_ORDER_HPP
#define SUBLET_CHECKING_STEP_ORDER_HPP

/// The order of the steps that every execution keeps, derived from the program without any planner.
///
///     step 0: def a              0 ──► 1 ──► 3        data: who reads waits for who writes
///     step 1: use a, def b       └───► 2 ──► ┘        edges of the program, and the steps of a node in a row
///     step 2: use a, def c                            hand-offs that a plan asks for
///     step 3: use b, use c                            1 and 2 come in any order, or at the same time
///
/// It is the checker's own derivation, on purpose a second one: had it anything in common with what planners
/// use (analysis/dependences.hpp), one mistake there would fool both. Here a step is one point. That it may
/// read before it writes is said where two touches are compared.

#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <vector>

namespace sublet {

struct step_order {
    csr_rows after;                ///< by step: those that wait for it directly; maybe more than once
    std::vector<step_id> step_at;  ///< all steps, each before those that wait for it
    std::vector<step_id> position; ///< by step: where it stands there
    std::vector<step_id> def_of;   ///< by value: the one step that writes it; `no_step`: given, or untouched
    std::vector<step_id> cycle;    ///< if there is one: each waits for the one before, the first for the last
    std::optional<witness> fault;  ///< why there is no order; then all else is of no use
};

namespace detail {

/// Whether every value is there once when it is read; fills in who defines it.
inline std::optional<witness> wrong_version(snapshot const& p, std::vector<value_role> const& role,
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
inline std::vector<step_id> listed_upwards(csr_rows const& after)
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
inline std::vector<step_id> find_cycle(csr_rows const& after, std::vector<step_id> const& listed)
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

} // namespace detail

/// Derive what every execution of `p` keeps that also keeps the hand-offs.
///
/// Requires:   `role` has an entry a value.
/// Ensures:    A hand-off that names no step is left out. `fault` is the first in this order: a value that is
/// written though it was there, by step; a use
///             of what nothing defines before, by step, then at ends of nodes, then of outputs; a cycle.
/// Complexity: O(V + E + steps + touches) time and memory.
[[nodiscard]] inline step_order order_of_steps(snapshot const& p, std::vector<value_role> const& role,
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
