// SPDX-License-Identifier: BSL-1.0

/// Both forms derive the ordering problem of the program, with what its steps say of their views, and pass it
/// on.

#include <sublet/analysis/internal/late_def.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/order_pipeline.hpp>
#include <sublet/ordering/order.hpp>

#include <utility>

namespace sublet::detail {

/// Notes why the listed order cannot run, if it cannot.
SUBLET_DECL node_order with_listed(node_order found, snapshot const& p, plan_options const& asked)
{
    if (found && found.listed.refute(late_def(p, asked.role.tabulate(p.values()),
                                              roots_of_views(p, asked.alias_of), asked.order)))
        found.listed.refute(first_backward_edge(p, asked.order));
    return found;
}

SUBLET_DECL node_order order_from_touches(snapshot const& p, plan_options const& given,
                                          std::vector<value_id> const& begun, node_order::method const* rule)
{
    auto asked = with_said_views(p, tabulated_options(given, p.values()));
    if (!asked->carried.empty()) asked.own().carried.clear(); // inputs and outputs of a round by now
    if (!asked->apart.empty()) asked.own().apart.clear();     // no order depends on banks
    if (!begun.empty()) {
        auto role = asked->role.tabulate(p.values(), "role");
        for (value_id v : begun) role[v] = role[v] | value_role::input;
        asked.own().role = std::move(role);
    }
    order_graph const g = order_graph_of(p, *asked, begun);
    return with_listed(rule != nullptr ? order(g, *rule) : order(g, limits_of(given.effort)), p, *asked);
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL node_order order(snapshot const& p, plan_options const& options, node_order::method method)
{
    return detail::order_from_touches(p, options, {}, &method);
}

SUBLET_DECL node_order order(snapshot const& p, plan_options const& options)
{
    return detail::order_from_touches(p, options, {}, nullptr);
}

} // namespace sublet
