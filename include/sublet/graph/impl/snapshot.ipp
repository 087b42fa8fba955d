// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/snapshot.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL void snapshot::effects(node_id n, effect_sink& sink) const
{
    step_range const range = steps_of(n);
    for (step_id s = range.first; s != range.last; ++s) {
        if (s != range.first) sink.next_step();
        for (touch t : touches(s)) sink.touch_value(t.value, t.kind);
        for (overwrite o : overwrites(s)) sink.may_overwrite(o.in, o.out);
    }
    for (edge_use u : edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
}

} // namespace sublet
