// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_EXACT_ORDER_HPP
#define SUBLET_ORDERING_EXACT_ORDER_HPP

/// The order with the least peak, and that it is the least is proved.
///
///     0 1 2 3 | 4 5 6 7 | 8 9          peaks 96, 160 and 64 as given, and no order goes below 112
///               search                 5 4 6 7: 128, and less is impossible
///     0 1 2 3 | 5 4 6 7 | 8 9          96 and 64 are below that: nothing to do there
///
/// Cut where every order has to pass (ordering/order_cuts.hpp), then search the stretches that stand above
/// all that is known to be needed (ordering/down_set_search.hpp), the highest first. How long that takes
/// depends on how many nodes could run side by side; where a limit strikes, the best order so far comes back
/// with what is proved of all.

#include <sublet/ordering/down_set_search.hpp>
#include <sublet/ordering/exact_window.hpp>
#include <sublet/ordering/node_order.hpp>
#include <sublet/ordering/nodes_on_demand.hpp>
#include <sublet/ordering/order_bound.hpp>
#include <sublet/ordering/order_cuts.hpp>
#include <sublet/ordering/order_graph.hpp>
#include <sublet/ordering/order_window.hpp>
#include <sublet/ordering/peak_walk.hpp>
#include <sublet/ordering/topological.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

struct exact_order_report {
    std::size_t stretches = 0; ///< that orders fall apart into
    std::size_t longest = 0;   ///< nodes of the longest of them
    std::size_t searched = 0;  ///< stretches
    std::uint64_t states = 0;  ///< sets of nodes that were visited
};

struct exact_node_order : node_order {
    exact_order_report report;
};

/// The order with the least peak. `start` is an order to begin with, better ones save work; where it is
/// empty, the listed one is. Every few hundred sets `stop(peak so far, lower bound, sets)` is asked whether
/// to give up.
///
/// Requires:   `start` names every node once, each behind those that it waits for, or is empty.
/// Ensures:    never a higher peak than `start` has. The least of all, and `is_optimal()` says so, unless a
///             limit strikes or `limits.floor` is reached, which is as good. Same input, same order.
/// Complexity: exponential in the width of the graph at worst, linear in its length; at most `limits.states`
///             sets of nodes are visited.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
template <class Stop>
[[nodiscard]] exact_node_order exact_order(order_graph const& g, std::vector<node_id> const& start,
                                           order_search_limits limits, Stop stop)
{
    exact_node_order result;
    result.violation = g.violation;
    if (g.violation) return result;
    result.order = topological(g);
    result.given_peak = peak_of(g, result.order);
    if (!start.empty()) result.order = start;
    byte_count const start_peak = peak_of(g, result.order);
    result.peak = start_peak;
    result.lower_bound = order_lower_bound(g);
    limits.floor = larger(limits.floor, result.lower_bound);
    if (result.peak <= limits.floor) return result;

    std::vector<std::size_t> first;
    {
        order_window const all = window_of(g, peak_walk(g), std::span<node_id const>(result.order));
        order_cuts cuts = cut_order(all, nodes_on_demand(all));
        for (node_id& n : cuts.order) n = all.nodes[n];
        result.order = std::move(cuts.order);
        first = std::move(cuts.first);
    }
    std::size_t const stretches = first.size() - 1;
    result.report.stretches = stretches;
    std::vector<byte_count> peak(stretches, 0);
    std::size_t highest = 0;
    {
        peak_walk walk(g);
        for (std::size_t i = 0; i != stretches; ++i) {
            for (std::size_t at = first[i]; at != first[i + 1]; ++at)
                peak[i] = larger(peak[i], walk.run(result.order[at]));
            result.report.longest = larger(result.report.longest, first[i + 1] - first[i]);
            if (peak[i] > peak[highest]) highest = i;
        }
    }
    auto search = [&](peak_walk const& walk, std::size_t i) {
        std::span<node_id const> const nodes{result.order.data() + first[i],
                                             result.order.data() + first[i + 1]};
        order_search_limits left = limits;
        left.states = limits.states - smaller(limits.states, result.report.states);
        window_order const found = exact_window(window_of(g, walk, nodes), left, stop);
        for (std::size_t k = 0; k != found.order.size(); ++k) result.order[first[i] + k] = found.order[k];
        peak[i] = found.peak;
        result.lower_bound = larger(result.lower_bound, found.lower_bound);
        limits.floor = larger(limits.floor, peak[i]); // the others need not be lower
        result.report.states += found.states;
        ++result.report.searched;
    };
    for (bool is_first : {true, false}) { // the highest by itself, as all others are measured by it
        peak_walk walk(g);
        for (std::size_t i = 0; i != stretches && !(is_first && i > highest); ++i) {
            if (peak[i] > limits.floor && (!is_first || i == highest)) search(walk, i);
            for (std::size_t at = first[i]; at != first[i + 1]; ++at) walk.run(result.order[at]);
        }
    }
    result.peak = peak_of(g, result.order);
    if (result.peak < start_peak) result.found_by = order_method::exact;
    return result;
}

[[nodiscard]] exact_node_order exact_order(order_graph const& g, std::vector<node_id> const& start = {},
                                           order_search_limits const& limits = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/exact_order.ipp>
#endif

#endif
