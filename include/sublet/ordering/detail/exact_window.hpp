// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_EXACT_WINDOW_HPP
#define SUBLET_ORDERING_DETAIL_EXACT_WINDOW_HPP

/// Cuts an order of nodes into segments that can be ordered independently, in O(V + E), and finds the order
/// of one window with the least peak by searches for a lower threshold, from both ends. The peak is optimal
/// unless the work is spent; it is never above that of the given order. The split at single nodes is from Ahn
/// et al., "Ordering chaos", MLSys 2020.

#include <sublet/core/units.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/order_moves.hpp>
#include <sublet/ordering/detail/order_window.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- order cuts ------------------------------------------------------------------------------------------

/// The peak of an order is the largest peak of its segments. Deferred nodes (ordering/detail/order_moves.hpp)
/// do not prevent a cut: each moves to its first successor.
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
/// Requires:   the moves are those from the start.
/// Complexity: O(V + E).
[[nodiscard]] order_cuts cut_order(order_moves const& moves);

// --- exact window ----------------------------------------------------------------------------------------

/// The best order of a window. The live bytes outside the window do not change.
///
///     0 1 2 [3 4 5 6] 7 8      peak of the window 160
///     0 1 2 [3 5 4 6] 7 8      peak of the window 128, and no order of 3 4 5 6 has less
///
/// From either end it is asked for an order with one byte less than the best, for one half way to the bound,
/// and for one at the bound, in turn; each answer is a better order or a higher bound. A search that spends
/// its share of the work is asked again later, with twice as much.

struct window_order {
    std::vector<node_id> order; ///< the nodes of the window
    byte_count peak = 0;        ///< most bytes live while they run
    byte_count lower_bound = 0; ///< no order of the window has a lower peak
    std::uint64_t work = 0;     ///< touches, edges and words that were looked at
    std::uint64_t sets = 0;     ///< of finished nodes, as entered by the searches
    bool is_searched = false;   ///< the search ended before its work was spent

    [[nodiscard]] bool is_optimal() const { return peak == lower_bound; }
};

/// The order of a window with the least peak; if the work is spent before, the best order found.
///
/// Ensures:    the peak is least if `is_optimal()`, and always if `is_searched` and it is above
///             `limits.floor`. It is never above that of the given order.
/// Complexity: as threshold_search; at most `limits.work`, and what one search takes.
[[nodiscard]] window_order exact_window(order_window const& w, order_search_limits const& limits = {});

/// The same for the nodes that run next after those that `walk` has run.
///
/// Requires:   `nodes` may run next in the given order.
/// Complexity: the same, and O(k log k) for k touches, edges and pairs of the window.
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
