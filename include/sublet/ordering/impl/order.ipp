// SPDX-License-Identifier: BSL-1.0

/// Both forms derive the ordering problem of the program, with what its steps say of their views, and pass it
/// on.

#include <sublet/core/internal/facts.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/order_pipeline.hpp>
#include <sublet/ordering/order.hpp>

namespace sublet {

SUBLET_DECL node_order order(snapshot const& p, plan_options const& options, node_order::method method)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(options, p.values()));
    return detail::order(detail::order_graph_of(p, *asked), method);
}

SUBLET_DECL node_order order(snapshot const& p, plan_options const& options)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(options, p.values()));
    return detail::order(detail::order_graph_of(p, *asked), detail::limits_of(options.effort));
}

} // namespace sublet
