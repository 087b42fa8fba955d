// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_CLASS_TOUCHES_IPP
#define SUBLET_CHECKING_IMPL_CLASS_TOUCHES_IPP

#include <sublet/checking/check_places.hpp>
#include <sublet/checking/class_touches.hpp>
#include <sublet/impl/config.hpp>

#include <vector>

namespace sublet {

SUBLET_DECL bool class_touches::hands_over(step_id s, value_id u, value_id v, memory_plan const& plan,
                                           bool in_place) const
{
    value_id operand = no_value;
    bool is_late = false, are_several = false;
    for (touch t : p_.touches(s)) {
        if (asked_.root[t.value] != u) continue;
        if (t.kind == touch_kind::def) return false;
        is_late = is_late || t.kind == touch_kind::use;
        are_several = are_several || (operand != no_value && operand != t.value);
        operand = t.value;
    }
    for (edge_use e : p_.edge_uses()) // they read after the writes
        if (asked_.root[e.value] == u && p_.steps_of(e.pred).last - 1 == s) return false;
    if (!is_late) return true;
    if (are_several) return false;
    if (!in_place || asked_.bytes[u] < asked_.bytes[v] || asked_.pinned[u] != no_offset) return false;
    if (detail::place_of(plan, u) != detail::place_of(plan, v)) return false;
    for (overwrite o : p_.overwrites(s))
        if (o.in == operand && asked_.root[o.out] == v && order_.def_of[o.out] == s) return true;
    return false;
}

SUBLET_DECL csr_rows class_touches::outermost(bool only_defs) const
{
    std::vector<unsigned char> is_read(p_.values());
    for (touch t : p_.touches({0, static_cast<step_id>(p_.steps())}))
        if (t.kind != touch_kind::def) is_read[t.value] = 1;
    return csr_rows::gathered(p_.values(), [&](auto add) {
        std::vector<step_id> settled(p_.values(), no_step); // by root: the last step that needs no row
        for (step_id s = 0; s != p_.steps(); ++s) {
            for (touch t : p_.touches(s)) {
                bool const is_def = t.kind == touch_kind::def;
                bool const is_inner = only_defs ? !is_def : is_def && is_read[t.value];
                if (is_inner) settled[asked_.root[t.value]] = s;
            }
            for (touch t : p_.touches(s)) {
                value_id const r = asked_.root[t.value];
                if (only_defs && t.kind != touch_kind::def) continue;
                if (asked_.is_planned(r) && settled[r] != s) add(r, settled[r] = s);
            }
        }
        for (edge_use u : p_.edge_uses())
            if (!only_defs && asked_.is_planned(asked_.root[u.value]))
                add(asked_.root[u.value], p_.steps_of(u.pred).last - 1);
    });
}

} // namespace sublet

#endif
