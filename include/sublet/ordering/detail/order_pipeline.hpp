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

/// What the pipeline may do.
struct order_limits {
    least_peak_limits schedules = {}; ///< at every effort
    /// Touches, edges and words of sets to look at in searches, about: eight rounds.
    std::uint64_t work = 196'605'000;
    std::size_t bytes = std::size_t{64} << 20; ///< memory for sets, about
    byte_count bound = 0;                      ///< order_lower_bound(), if it is known
};

/// The default limits, with the work scaled.
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
