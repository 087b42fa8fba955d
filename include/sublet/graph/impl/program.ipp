// SPDX-License-Identifier: BSL-1.0

/// Records what a sink is told: no id is recorded before it is compared with the number of values, and an
/// absent operand leaves no row.

#include <sublet/core/errors.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL value_id effect_sink::checked(value_id v) const
{
    SUBLET_EXPECTS(v < values_ || v == no_value,
                   "sublet: step % touches value %, but there are only % values",
                   record_->step_begin.size() - 1, v, values_);
    return v;
}

SUBLET_DECL void effect_sink::touch_value(value_id v, touch::access kind, bool is_copied)
{
    if (value_id const id = checked(v); id != no_value) record_->add({id, kind}, is_copied);
}

SUBLET_DECL void effect_sink::view(value_id v, value_id of, byte_count offset)
{
    view(v);
    value_id const id = checked(v), source = checked(of);
    if (id == no_value || source == no_value) return;
    record_->said_views.push_back({step_id::of(record_->step_begin.size() - 1), id, source, offset});
}

SUBLET_DECL void effect_sink::may_overwrite(value_id in, value_id out)
{
    value_id const from = checked(in), to = checked(out);
    if (from == no_value || to == no_value) return;
    record_->overwrites.push_back({step_id::of(record_->step_begin.size() - 1), from, to});
}

SUBLET_DECL void effect_sink::use_at_end_of(node_id pred, value_id v)
{
    SUBLET_EXPECTS(detail::is_listed(predecessors_, pred),
                   "sublet: node % uses a value at the end of node %, which is not a predecessor", node_,
                   pred);
    value_id const used = checked(v);
    if (used != no_value) record_->edge_uses.push_back({node_, pred, used});
}

} // namespace sublet
