// SPDX-License-Identifier: BSL-1.0
#include <sublet/impl/config.hpp>
#include <sublet/testing/synthetic.hpp>

namespace sublet::detail {

SUBLET_DECL void position_set::add(position_id at, csr_rows<position_id, position_id> const& next)
{
    if (has(at)) return;
    is_marked_[at] = 1;
    for (worklist_.push_back(at); !worklist_.empty();) {
        position_id const now = worklist_.back();
        worklist_.pop_back();
        for (position_id other : next[now]) {
            if (has(other)) continue;
            is_marked_[other] = 1;
            worklist_.push_back(other);
        }
    }
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::vector<position_id> adversarial_order(step_waits const& waits, std::vector<position_id> const& first,
                                                   std::vector<position_id> const& last)
{
    std::size_t const positions = waits.before.rows();
    auto expect_position = [&](position_id at) {
        SUBLET_EXPECTS(at < positions,
                       "sublet: an adversarial order names position %, but there are only % positions", at,
                       positions);
    };
    std::vector<position_id> order;
    table<position_id, unsigned char> is_scheduled(positions);
    detail::position_set early(waits), late(waits);
    auto append_if = [&](auto is_next) {
        for (position_id at = 0; at != positions; ++at) {
            if (is_scheduled[at] || !is_next(at)) continue;
            is_scheduled[at] = 1;
            order.push_back(at);
        }
    };
    for (position_id at : first) {
        expect_position(at);
        early.add_with_ancestors(at);
        append_if([&](position_id one) { return early.has(one); });
    }
    for (position_id at : last) {
        expect_position(at);
        if (!is_scheduled[at]) late.add_with_descendants(at);
    }
    append_if([&](position_id one) { return !late.has(one); });
    append_if([](position_id) { return true; });
    return order;
}

} // namespace sublet

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
    for (position_id at : touched_at_[a]) is_needed_late = is_needed_late || (at != producer && !before.has(at));
    bool const is_producer_late = !is_needed_late && producer != no_position && !before.has(producer);
    std::vector<position_id> first{writer};
    if (producer != no_position) first.insert(is_producer_late ? first.end() : first.begin(), producer);
    auto const late = touched_at_[is_producer_late ? b : a];
    return adversarial_order(order_.waits, first, {late.begin(), late.end()});
}

} // namespace sublet::detail
