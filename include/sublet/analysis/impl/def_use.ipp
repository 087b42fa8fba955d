// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_DEF_USE_IPP
#define SUBLET_ANALYSIS_IMPL_DEF_USE_IPP

#include <sublet/analysis/def_use.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL def_use_chains def_use(snapshot const& p)
{
    auto touching = [&p](bool is_def) {
        return csr_rows::gathered(p.values(), [&p, is_def](auto add) {
            for (step_id s = 0; s != p.steps(); ++s)
                for (touch t : p.touches(s))
                    if ((t.kind == touch_kind::def) == is_def) add(t.value, s);
        });
    };
    def_use_chains chains{touching(true), touching(false), {}, {}};
    chains.uses_at_end = csr_rows::gathered(p.values(), [&p](auto add) {
        for (edge_use u : p.edge_uses()) add(u.value, u.pred);
    });
    chains.node_of.reserve(p.steps());
    for (node_id n = 0; n != p.nodes(); ++n) chains.node_of.resize(p.steps_of(n).last, n);
    return chains;
}

} // namespace sublet

#endif
