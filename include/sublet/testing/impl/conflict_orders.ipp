// SPDX-License-Identifier: BSL-1.0

/// conflict_orders: of two neighbours in bytes, the producers run first, each with all that it waits for, and
/// the readers of the one that is overwritten last.

#include <sublet/impl/config.hpp>
#include <sublet/testing/detail/conflict_orders.hpp>
#include <sublet/testing/detail/position_set.hpp>
#include <sublet/testing/synthetic.hpp>

namespace sublet::detail {

SUBLET_DECL bool conflict_orders::is_needed_after(buffer_id b, position_id producer) const
{
    bool is_needed = has_role(its(b).role, value_role::output);
    for (position_id at : touched_at_[b]) is_needed = is_needed || at != producer;
    return is_needed;
}

SUBLET_DECL std::vector<position_id> conflict_orders::order_for(buffer_id a, buffer_id b) const
{
    position_id const producer = is_given(its(a).role) ? no_position : lowered_.first_write[a];
    position_id const writer = lowered_.first_write[b];
    position_set before(order_.waits);
    before.add_with_ancestors(writer);
    bool is_needed_late = has_role(its(a).role, value_role::output);
    for (position_id at : touched_at_[a])
        is_needed_late = is_needed_late || (at != producer && !before.has(at));
    bool const is_producer_late = !is_needed_late && producer != no_position && !before.has(producer);
    std::vector<position_id> first{writer};
    if (producer != no_position) first.insert(is_producer_late ? first.end() : first.begin(), producer);
    auto const late = touched_at_[is_producer_late ? b : a];
    return adversarial_order(order_.waits, first, {late.begin(), late.end()});
}

} // namespace sublet::detail
