// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_EXACT_WINDOW_HPP
#define SUBLET_ORDERING_DETAIL_EXACT_WINDOW_HPP

/// Cuts an order of nodes into segments that can be ordered independently, in O(V + E), and finds the order
/// of one window with the least peak by search over its down-sets. The peak is optimal unless a limit on
/// sets is reached; it is never above that of the given order. The split at single nodes is from Ahn et al.,
/// "Ordering chaos", MLSys 2020.

#include <sublet/core/units.hpp>
#include <sublet/ordering/detail/down_set_search.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/order_window.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- order cuts ------------------------------------------------------------------------------------------

/// The peak of an order is the largest peak of its segments. Deferred nodes
/// (ordering/detail/order_window.hpp) do not prevent a cut: each moves to its first successor.
///
///     0 ──► 1 ──► 3 ──► 4 ──► 6        in every order 3 runs after 0 1 2 and before 4 5 6,
///     └───► 2 ──► ┘ └─► 5 ──► ┘        so any order is one of 0 1 2 3, followed by one of 4 5 6

namespace sublet::detail {

struct order_cuts {
    std::vector<node_id> order;     ///< by number in the window
    std::vector<std::size_t> first; ///< by segment: its first position; and a final end, the number of nodes
};

/// Ensures:    `order` is that of the window with deferred nodes moved to their first successors; its peak is
///             no higher. Some order with the least peak has the same nodes in each segment.
/// Complexity: O(V + E).
[[nodiscard]] order_cuts cut_order(order_window const& w, deferral_graph const& d);

// --- exact window ----------------------------------------------------------------------------------------

/// The best order of a window. The live bytes outside the window do not change.
///
///     0 1 2 [3 4 5 6] 7 8      peak of the window 160
///     0 1 2 [3 5 4 6] 7 8      peak of the window 128, and no order of 3 4 5 6 has less

struct window_order {
    std::vector<node_id> order; ///< the nodes of the window
    byte_count peak = 0;        ///< most bytes live while they run
    byte_count lower_bound = 0; ///< no order of the window has a lower peak
    std::uint64_t states = 0;   ///< down-sets visited
    bool is_searched = false;   ///< the search ended without reaching a limit

    [[nodiscard]] bool is_optimal() const { return peak == lower_bound; }
};

/// The order of a window with the least peak; if a limit is reached, the best order found. Every few hundred
/// sets the search calls `stop(peak so far, lower bound, sets)`, which returns true to end it.
template <class Stop>
[[nodiscard]] window_order exact_window(order_window const& w, order_search_limits const& limits, Stop stop)
{
    window_order result;
    result.order = w.nodes;
    auto peak_of_window = [&w](auto const& order) {
        down_set_walk walk(w);
        byte_count peak = 0;
        for (node_id n : order) peak = larger(peak, walk.run(n).most);
        return peak;
    };
    result.peak = peak_of_window(w.graph.listed);
    result.lower_bound = w.nodes.empty() ? 0 : w.live_through + max_node_lower_bound(w.graph);
    if (result.peak <= larger(result.lower_bound, limits.floor)) {
        result.is_searched = true;
        return result;
    }
    auto search = [&](byte_count floor, std::uint64_t states) {
        order_search_limits part = limits;
        part.floor = floor;
        part.states = states;
        down_set_result const found = search_down_sets(w, result.lower_bound, result.peak, part, stop);
        result.lower_bound = larger(result.lower_bound, found.lower_bound);
        result.states += found.states;
        if (!found.order.empty()) {
            result.peak = peak_of_window(found.order);
            for (std::size_t i = 0; i != found.order.size(); ++i) result.order[i] = w.nodes[found.order[i]];
        }
        return found.is_exhausted;
    };
    // If the search from below does not end, bisect between the lower bound and the known peak, to find
    // better orders soon. A quarter of all sets is reserved for that.
    constexpr std::uint64_t most_probes = 12;
    result.is_searched = search(limits.floor, limits.states - limits.states / 4);
    if (result.is_searched) return result;
    byte_count low = larger(result.lower_bound, limits.floor);
    for (std::uint64_t probe = 0; probe != most_probes && low < result.peak; ++probe) {
        if (stop(result.peak, result.lower_bound, result.states)) return result;
        byte_count const target = low + (result.peak - low) / 2, known = result.peak;
        search(target, limits.states / 4 / most_probes);
        if (result.peak == known) low = target + 1;
    }
    return result;
}

/// The same for the nodes that run next after those that `walk` has run.
///
/// Requires:   `nodes` may run next in the given order.
/// Ensures:    the peak is least if `is_optimal()`, and always if `is_searched` and it is above
///             `limits.floor`. It is never above that of the given order.
/// Complexity: as search_down_sets(), plus O(k log k) for k touches, edges and pairs of the window.
[[nodiscard]] window_order exact_window(order_graph const& g, peak_walk const& walk,
                                        std::span<node_id const> nodes,
                                        order_search_limits const& limits = {});

/// The same for the positions [first, last) of an order.  O(touches of the nodes before) more.
/// Requires:   `order` names every node once, each after its predecessors.
[[nodiscard]] window_order exact_window(order_graph const& g, std::vector<node_id> const& order,
                                        std::size_t first, std::size_t last,
                                        order_search_limits const& limits = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/exact_window.ipp>
#endif

#endif
