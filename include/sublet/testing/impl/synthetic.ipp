// SPDX-License-Identifier: BSL-1.0

/// adversarial_order(): marks what the first steps wait for, and what waits for the last ones; three passes
/// over the positions append first, middle and last.

#include <sublet/execution/step_waits.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/testing/detail/position_set.hpp>
#include <sublet/testing/synthetic.hpp>

namespace sublet {

SUBLET_DECL std::vector<position_id> adversarial_order(step_waits const& waits,
                                                       std::vector<position_id> const& first,
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
