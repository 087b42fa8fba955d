// SPDX-License-Identifier: BSL-1.0

/// The bound of each stage becomes the floor of the next, at which its search stops. The exact search has as
/// many down-sets as the nodes of the graph leave it, and the windows start from whichever order is lower.

#include <sublet/core/internal/arithmetic.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/order_pipeline.hpp>

#include <cstdint>
#include <utility>

namespace sublet::detail {

SUBLET_DECL node_order order(order_graph const& g, node_order::method method)
{
    SUBLET_EXPECTS(
        method != node_order::method::reversed && method != node_order::method::improved,
        "sublet: reversed and improved orders start from other orders: call order() without a rule");
    order_incumbent listed(g);
    node_order result = listed.best();
    if (!g) return result;
    switch (method) {
    case node_order::method::longest_path: result.order = longest_path(g); break;
    case node_order::method::breadth_first: result.order = breadth_first(g); break;
    case node_order::method::depth_first: result.order = depth_first_order(g); break;
    case node_order::method::on_demand: result.order = on_demand(g); break;
    case node_order::method::least_peak: result = least_peak(g); break;
    case node_order::method::exact: return exact_order(g);
    default: break;
    }
    if (method != node_order::method::least_peak) {
        result.peak = peak_of(g, result.order);
        result.found_by = method;
    }
    result.lower_bound = order_lower_bound(g);
    return result;
}

SUBLET_DECL order_limits limits_of(effort work)
{
    order_limits limits;
    for (std::uint64_t* budget : {&limits.schedules.nodes, &limits.exact.states, &limits.exact_nodes,
                                  &limits.improve.states, &limits.improve.window_states})
        *budget = work.of(*budget);
    return limits;
}

SUBLET_DECL node_order order(order_graph const& g, order_limits limits)
{
    if (!g || g.nodes() == 0) return least_peak(g);
    byte_count const floor = larger(limits.schedules.floor, order_lower_bound(g));
    limits.schedules.floor = floor;
    node_order best = least_peak(g, limits.schedules);
    if (best.is_optimal()) return best;

    limits.exact.states = smaller(limits.exact.states, limits.exact_nodes / g.nodes());
    node_order exact = exact_order(g, best.order, limits.exact);
    byte_count const bound = larger(floor, exact.lower_bound);
    auto keep_better = [&](node_order other) {
        if (other.peak < best.peak) {
            best.order = std::move(other.order);
            best.peak = other.peak;
            best.found_by = other.found_by;
        }
        best.lower_bound = smaller(bound, best.peak);
    };
    keep_better(std::move(exact));
    if (best.is_optimal()) return best;

    limits.improve.schedules = limits.schedules;
    limits.improve.schedules.floor = bound;
    keep_better(improve_order(g, best.order, limits.improve));
    return best;
}

} // namespace sublet::detail
