// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_BEST_ORDER_HPP
#define SUBLET_ORDERING_BEST_ORDER_HPP

#include <sublet/graph/snapshot.hpp>
#include <sublet/ordering/detail/orders.hpp>
#include <sublet/ordering/node_order.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstdint>

/// The order to run a program in: by one rule, or by whatever finds it.
///
///     listed ──► no order is lower?  ──► least peak ──► exact search ──► stretches improved
///                done, with proof        good           proved, or        what is left to do
///                                                       given up          for a wide graph
///
/// Each stage begins with the best of those before it, and the first that reaches what no order goes below is
/// the last.

namespace sublet {

/// The order that one rule gives.
///
///     0 ──► 2 ──► 4      breadth first   0 1 2 3 4      all branches side by side
///     1 ──► 3            depth first     0 2 4 1 3      one branch after the other
///                        on demand       1 3 0 2 4      from the ends: 3 first, it is listed before 4
///
/// Requires:   `options` are those of the plan; `options.order` is the order that the program is listed in.
///             `method` is neither `reversed` nor `improved`: these start from other orders.
/// Ensures:    `peak` is that of `order`, `lower_bound` that of order_lower_bound() or better. least_peak and
///             exact are never worse than the listed order; exact gives up at a million sets of nodes.
/// Complexity: O(E + V log V) and order_lower_bound(); least_peak makes 32 schedules at most; exact is
///             exponential in the width of the graph.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] node_order order_with(snapshot const& p, plan_options const& options,
                                    node_order::method method);

/// How long each stage of best_order() searches.
struct best_order_limits {
    detail::least_peak_limits schedules = {};
    /// Of the exact search; the sets that it may visit are fewer in larger graphs, by `exact_nodes`.
    detail::order_search_limits exact = {.states = 20'000};
    std::uint64_t exact_nodes = 50'000'000; ///< sets times nodes
    detail::improve_limits improve = {};
};

namespace detail {

node_order order_with(order_graph const& g, node_order::method method);
node_order best_order(order_graph const& g, best_order_limits limits = {});

} // namespace detail

/// The best order found for a program, as plan_memory() takes it: hand it on as `options.order`.
///
/// Requires:   `options` are those of the plan; `options.order` is the order that the program is listed in.
/// Ensures:    never a higher peak than the listed order. `is_optimal()` says that no order has a lower one;
///             `lower_bound` is proved in any case. No clock: the limits are counts, and the same program
///             gives the same order on every platform.
/// Complexity: what the limits allow, and O((V + E) buffers / 64 + touches) for the bound.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] node_order best_order(snapshot const& p, plan_options const& options,
                                    best_order_limits const& limits = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/best_order.ipp>
#endif

#endif
