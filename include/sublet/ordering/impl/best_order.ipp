// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_BEST_ORDER_IPP
#define SUBLET_ORDERING_IMPL_BEST_ORDER_IPP

#include <sublet/impl/config.hpp>
#include <sublet/ordering/best_order.hpp>
#include <sublet/ordering/exact_order.hpp>
#include <sublet/ordering/order_bound.hpp>
#include <sublet/units.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL node_order best_order(order_graph const& g, best_order_limits limits)
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

} // namespace sublet

#endif
