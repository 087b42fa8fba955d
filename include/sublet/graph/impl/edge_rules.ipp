// SPDX-License-Identifier: BSL-1.0

/// Each rule is one pass over the order, or one look at the kind of the edges; the sentence says what to call
/// instead.

#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/impl/config.hpp>

#include <vector>

namespace sublet::detail {

SUBLET_DECL void expect_steps_run_once(snapshot const& p)
{
    SUBLET_EXPECTS(
        p.edges() != edge_meaning::control_flow || (p.nodes() <= 1 && p.graph().items() == 0),
        "sublet: the edges of this program are control flow, which may skip or repeat a node, but "
        "here each runs once: use what is for control flow, such as plan_flow, or make the program "
        "by tasks() if its edges are an order");
}

SUBLET_DECL void expect_listed_order(snapshot const& p, std::vector<node_id> const& order)
{
    if (p.edges() == edge_meaning::control_flow) return;
    for (node_id n = 0; n != order.size(); ++n)
        SUBLET_EXPECTS(order[n] == n,
                       "sublet: nodes run as they are listed here, but options.order has node % at "
                       "position %",
                       order[n], n);
}

} // namespace sublet::detail
