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

namespace sublet::detail {

/// Notes why the listed order cannot run, if it cannot.
SUBLET_DECL node_order with_listed(node_order found, snapshot const& p, plan_options const& asked)
{
    if (found && found.listed.refute(late_def(p, asked.role.tabulate(p.values()),
                                              roots_of_views(p, asked.alias_of), asked.order)))
        found.listed.refute(first_backward_edge(p, asked.order));
    return found;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL node_order order(snapshot const& p, plan_options const& options, node_order::method method)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(options, p.values()));
    return detail::with_listed(detail::order(detail::order_graph_of(p, *asked), method), p, *asked);
}

SUBLET_DECL node_order order(snapshot const& p, plan_options const& options)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(options, p.values()));
    return detail::with_listed(
        detail::order(detail::order_graph_of(p, *asked), detail::limits_of(options.effort)), p, *asked);
}

} // namespace sublet
