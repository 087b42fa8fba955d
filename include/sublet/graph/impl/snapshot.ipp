// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/snapshot.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL snapshot::snapshot(std::size_t values, csr_graph successors, std::vector<step_id> node_end,
                               detail::effect_record record)
    : values_(values), successors_(std::move(successors)),
      predecessors_(successors_.items() == 0 ? successors_ : successors_.transposed(successors_.rows())),
      node_end_(std::move(node_end)), record_(std::move(record))
{
    record_.close_step();
    SUBLET_EXPECTS(record_.touches.size() < no_node, "sublet: more touches than 32-bit ids");
    if (nodes() != 0) record_.step_begin.push_back(static_cast<std::uint32_t>(record_.touches.size()));
    for (edge_use u : record_.edge_uses)
        SUBLET_EXPECTS(detail::is_listed(predecessors_[u.node], u.pred),
                       "sublet: node % uses a value at the end of node %, which is not a predecessor", u.node,
                       u.pred);
}

SUBLET_DECL void snapshot::effects(node_id n, effect_sink& sink) const
{
    step_range const range = steps_of(n);
    for (step_id s = range.first; s != range.last; ++s) {
        if (s != range.first) sink.next_step();
        for (touch t : touches(s)) sink.touch_value(t.value, t.kind);
        for (overwrite o : overwrites(s)) sink.may_overwrite(o.in, o.out);
        sink.may_recompute(may_recompute(s));
    }
    for (edge_use u : edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
}

} // namespace sublet
