// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_BEST_ORDER_HPP
#define SUBLET_ORDERING_BEST_ORDER_HPP

/// The order to run a program in, by whatever finds it.
///
///     listed ──► no order is lower?  ──► least peak ──► exact search ──► stretches improved
///                done, with proof        good           proved, or        what is left to do
///                                                       given up          for a wide graph
///
/// Each stage begins with the best of those before it, and the first that reaches what no order goes below is
/// the last.

#include <sublet/ordering/exact_order.hpp>
#include <sublet/ordering/improve_order.hpp>
#include <sublet/ordering/least_peak.hpp>
#include <sublet/ordering/node_order.hpp>
#include <sublet/ordering/order_bound.hpp>
#include <sublet/ordering/order_graph.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sublet {

struct best_order_limits {
    least_peak_limits schedules = {};
    /// Of the exact search; the sets that it may visit are fewer in larger graphs, by `exact_nodes`.
    order_search_limits exact = {.states = 20'000};
    std::uint64_t exact_nodes = 50'000'000; ///< sets times nodes
    improve_limits improve = {};
};

/// Ensures:    never a higher peak than the listed order. `is_optimal()` says that no order has a lower one;
///             `lower_bound` is proved in any case. No clock: the limits are counts, and the same graph gives
///             the same order on every platform.
/// Complexity: what the limits allow, and order_lower_bound().
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] inline node_order best_order(order_graph const& g, best_order_limits limits = {})
{
    if (g.violation || g.nodes() == 0) return least_peak(g);
    byte_count const floor = larger(limits.schedules.floor, order_lower_bound(g));
    limits.schedules.floor = floor;
    node_order best = least_peak(g, limits.schedules);
    if (best.is_optimal()) return best;

    limits.exact.states = smaller(limits.exact.states, limits.exact_nodes / g.nodes());
    node_order exact = exact_order(g, best.order, limits.exact);
    byte_count const bound = larger(floor, exact.lower_bound);
    auto take = [&](node_order other) {
        if (other.peak < best.peak) {
            best.order = std::move(other.order);
            best.peak = other.peak;
            best.found_by = other.found_by;
        }
        best.lower_bound = smaller(bound, best.peak);
    };
    take(std::move(exact));
    if (best.is_optimal()) return best;

    limits.improve.schedules = limits.schedules;
    limits.improve.schedules.floor = bound;
    take(improve_order(g, best.order, limits.improve));
    return best;
}

/// The same for a program, as plan_memory() takes it: hand the order on as `options.order`.
///
/// Requires:   `options` are those of the plan; `options.order` is the order that the program is listed in.
template <program P>
[[nodiscard]] node_order best_order(P const& p, plan_options const& options,
                                    best_order_limits const& limits = {})
{
    return best_order(order_graph_of(p, options), limits);
}

} // namespace sublet

#endif
