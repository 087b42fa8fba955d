// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_STRICTNESS_IPP
#define SUBLET_ANALYSIS_IMPL_STRICTNESS_IPP

#include <sublet/analysis/strictness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <vector>

namespace sublet {

SUBLET_DECL std::optional<ssa_violation> find_ssa_violation(snapshot const& p, dominator_tree const& tree)
{
    struct definition {
        node_id node = no_node;
        std::size_t at = 0; // index of the touch in its node; a step's reads stand before its writes
    };
    auto violation = [&p](ssa_fault what, value_id v, node_id n, std::size_t at) {
        step_id s = p.steps_of(n).first;
        for (; at >= p.touches(s).size(); ++s) at -= p.touches(s).size();
        return ssa_violation{what, v, n, s};
    };
    std::vector<definition> def_of(p.values());
    for (node_id n = 0; n != p.nodes(); ++n) {
        auto const touches = p.touches(p.steps_of(n));
        for (std::size_t i = 0; i != touches.size(); ++i) {
            if (touches[i].kind != touch_kind::def) continue;
            definition& d = def_of[touches[i].value];
            if (d.node != no_node) return violation(ssa_fault::defined_twice, touches[i].value, n, i);
            d = {n, i};
        }
    }
    std::optional<ssa_violation> undefined; // the first
    for (node_id n = 0; n != p.nodes(); ++n) {
        auto const touches = p.touches(p.steps_of(n));
        for (std::size_t i = 0; i != touches.size(); ++i) {
            if (touches[i].kind == touch_kind::def) continue;
            definition const d = def_of[touches[i].value];
            if (d.node == no_node && !undefined)
                undefined = violation(ssa_fault::never_defined, touches[i].value, n, i);
            if (d.node == n ? d.at >= i : d.node != no_node && !tree.dominates(d.node, n))
                return violation(ssa_fault::not_dominated, touches[i].value, n, i);
        }
    }
    for (edge_use u : p.edge_uses()) {
        node_id const d = def_of[u.value].node;
        step_id const last = p.steps_of(u.pred).last - 1;
        if (d == no_node && !undefined)
            undefined = ssa_violation{ssa_fault::never_defined, u.value, u.pred, last};
        if (d != no_node && !tree.dominates(d, u.pred))
            return ssa_violation{ssa_fault::not_dominated, u.value, u.pred, last};
    }
    return undefined;
}

} // namespace sublet

#endif
