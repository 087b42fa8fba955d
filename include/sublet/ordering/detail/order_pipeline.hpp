// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_ORDER_PIPELINE_HPP
#define SUBLET_ORDERING_DETAIL_ORDER_PIPELINE_HPP

/// Orders of an order_graph by one rule, or by the pipeline: least peak, exact search, windows, each from the
/// best order so far, until a peak equals the bound or a limit is reached.

#include <sublet/core/plan.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/orders.hpp>
#include <sublet/ordering/node_order.hpp>

#include <cstdint>

namespace sublet::detail {

/// The work of each stage of the pipeline, in counts.
struct order_limits {
    least_peak_limits schedules = {};
    /// Of the exact search; `exact_nodes` lowers its number of down-sets for large graphs.
    order_search_limits exact = {.states = 20'000};
    std::uint64_t exact_nodes = 50'000'000; ///< down-sets times nodes
    improve_limits improve = {};
};

/// The default limits, scaled.
[[nodiscard]] order_limits limits_of(effort work);

/// By one rule, with a lower bound on every order.
node_order order(order_graph const& g, node_order::method method);
/// By the pipeline.
node_order order(order_graph const& g, order_limits limits = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/order_pipeline.ipp>
#endif

#endif
