// SPDX-License-Identifier: BSL-1.0

/// Threshold searches, cones and windows take turns, each from the best order so far and with four times the
/// work of the turn before; the bound of each is the floor of the next.

#include <sublet/core/internal/arithmetic.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/cone_order.hpp>
#include <sublet/ordering/detail/order_pipeline.hpp>
#include <sublet/ordering/detail/series_parallel.hpp>

#include <cstdint>
#include <utility>
#include <vector>

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
    case node_order::method::series_parallel: {
        contracted_graph const parts = contracted(g);
        result.order = parts.expanded(topological(parts.graph));
        result.peak = peak_of(g, result.order);
        result.found_by = method;
        result.lower_bound = parts.is_path ? result.peak : order_lower_bound(g);
        return result;
    }
    case node_order::method::least_peak:
        return least_peak(g, {.floor = order_lower_bound(g)}); // as the search begins
    case node_order::method::exact: {
        contracted_graph const parts = contracted(g);
        exact_node_order const found = exact_order(parts.graph);
        listed.offer(parts.expanded(found.order), method);
        listed.raise_bound(found.lower_bound);
        return listed.best();
    }
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

/// Rounds of searches, until the bound or the work is reached.
SUBLET_DECL void search_in_rounds(order_graph const& g, order_incumbent& incumbent,
                                  order_limits const& limits)
{
    byte_count bound = limits.bound;
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
        if (bound == 0) bound = order_lower_bound(g);
        exact_node_order found = exact_order(
            g, incumbent.best().order,
            {.work = share, .bytes = limits.bytes, .floor = incumbent.best().lower_bound, .bound = bound});
        incumbent.raise_bound(found.lower_bound);
        incumbent.offer(std::move(found.order), node_order::method::exact);
    }
}

SUBLET_DECL node_order order(order_graph const& g, order_limits limits)
{
    if (!g || g.nodes() == 0) return least_peak(g);
    if (limits.bound == 0) limits.bound = order_lower_bound(g);
    limits.schedules.floor = larger(limits.schedules.floor, limits.bound);
    order_incumbent incumbent(g, least_peak(g, limits.schedules));
    if (incumbent.is_settled()) return incumbent.best();

    contracted_graph parts = contracted(g);
    std::vector<node_id> const listed = topological(parts.graph);
    incumbent.offer(parts.expanded(listed), node_order::method::series_parallel);
    if (parts.is_path) incumbent.raise_bound(peak_of(parts.graph, listed));
    if (incumbent.is_settled()) return incumbent.best();
    if (parts.graph.nodes() > g.nodes() / 4 * 3) {
        if (limits.work != 0) search_in_rounds(g, incumbent, limits);
        return incumbent.best();
    }
    limits.schedules.floor = incumbent.best().lower_bound;
    limits.bound = 0; // of other nodes
    order_incumbent of_parts(parts.graph, least_peak(parts.graph, limits.schedules));
    if (limits.work != 0 && !of_parts.is_settled()) search_in_rounds(parts.graph, of_parts, limits);
    incumbent.raise_bound(of_parts.best().lower_bound);
    incumbent.offer(parts.expanded(of_parts.best().order), of_parts.best().found_by);
    return incumbent.best();
}

} // namespace sublet::detail
