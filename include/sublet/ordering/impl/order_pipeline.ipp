// SPDX-License-Identifier: BSL-1.0

/// Threshold searches, cones and windows take turns, each from the best order so far and with four times the
/// work of the turn before; the bound of each is the floor of the next.

#include <sublet/core/internal/arithmetic.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/cone_order.hpp>
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
    case node_order::method::least_peak:
        return least_peak(g, {.floor = order_lower_bound(g)}); // as the search begins
    case node_order::method::exact: return exact_order(g);
    default: break;
    }
    result.peak = peak_of(g, result.order);
    result.found_by = method;
    result.lower_bound = order_lower_bound(g);
    return result;
}

SUBLET_DECL order_limits limits_of(effort work)
{
    order_limits limits;
    limits.work = work.of(limits.work);
    return limits;
}

SUBLET_DECL node_order order(order_graph const& g, order_limits limits)
{
    if (!g || g.nodes() == 0) return least_peak(g);
    limits.schedules.floor = larger(limits.schedules.floor, order_lower_bound(g));
    order_incumbent incumbent(g, least_peak(g, limits.schedules));
    if (incumbent.is_settled() || limits.work == 0) return incumbent.best();

    order_window const all = window_of(g, peak_walk(g), topological(g));
    order_moves const from_start = moves_of(all, search_side::start),
                      from_end = moves_of(all, search_side::end);
    cone_search cones(g, from_start, from_end);
    // The same rounds at every effort, and none in part: what more work finds is never worse.
    std::uint64_t const one_pass = g.nodes() + g.after.items() + g.held.items();
    // A large graph does not fit into the caches: its work takes longer.
    std::uint64_t left = limits.work / larger(std::uint64_t{1}, one_pass / 65'536);
    std::size_t rescheduled = ~std::size_t{0}; // after so many changes of the best order: never
    for (std::uint64_t share = 3000; share <= left / 3 && !incumbent.is_settled(); share *= 4) {
        if (share < one_pass) continue;
        left -= 3 * share;
        cones.improve(incumbent, share);
        if (incumbent.is_settled()) break;
        improve_limits windows;
        windows.work = share;
        windows.window_work = share / 64;
        windows.schedules = limits.schedules;
        windows.schedules.floor = incumbent.best().lower_bound;
        if (incumbent.changes() == rescheduled) windows.schedules.schedules = 0; // they would be the same
        improve_order(g, incumbent, windows);
        rescheduled = incumbent.changes();
        if (incumbent.is_settled()) break;
        exact_node_order found =
            exact_order(g, incumbent.best().order,
                        {.work = share, .bytes = limits.bytes, .floor = incumbent.best().lower_bound});
        incumbent.raise_bound(found.lower_bound);
        incumbent.offer(std::move(found.order), node_order::method::exact);
    }
    return incumbent.best();
}

} // namespace sublet::detail
