// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_ORDERS_HPP
#define SUBLET_ORDERING_DETAIL_ORDERS_HPP

/// Ordering algorithms for an order_graph, from cheap to exact:
///
///     longest_path, breadth_first ...   rules on the graph alone; O(E + V log V)
///     least_peak                        iterated list schedules that count bytes; no guarantee
///     improve_order                     exact search of windows around the peak, within a work budget
///     exact_order                       optimal with a proof; exponential in the width of the graph

#include <sublet/core/units.hpp>
#include <sublet/ordering/detail/exact_window.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/order_window.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>
#include <sublet/ordering/node_order.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

// --- longest path ----------------------------------------------------------------------------------------

/// The node with the longest path to a sink runs first.
///
///     0 ──► 1 ──► 2 ──► 5        to the sink: 0: 4   1: 3   2: 2   5: 1       runs 0 1 3 2 4 5
///     3 ──► 4 ──────────┘                     3: 3   4: 2
///
/// So a short branch that joins a long one runs late, right before the join, and its results are not live
/// while the long one runs. The rule ignores bytes; it helps if branches differ in length.
///
/// Source: the order of Caffe2's memory optimizer for inference (memonger.py, 2017).

/// Of each node: the number of nodes on the longest path from it to a sink, itself included.  O(E + V log V)
[[nodiscard]] table<node_id, std::uint32_t> path_lengths(order_graph const& g);

/// Of nodes with equally long paths the first listed runs first.  O(E + V log V)
[[nodiscard]] std::vector<node_id> longest_path(order_graph const& g);

// --- graph orders ----------------------------------------------------------------------------------------

/// Orders that depend on the graph alone, each in O(E + V log V); ordering/order.hpp has a picture. Each
/// is sometimes the best: it depends on whether the branches of a network make values smaller or larger.

/// The node that has been ready longest runs first; of those that became ready at once, the first listed.
[[nodiscard]] std::vector<node_id> breadth_first(order_graph const& g);

/// The node that became ready last runs first; of those that became ready at once, the first listed.
[[nodiscard]] std::vector<node_id> depth_first_order(order_graph const& g);

/// For each sink in the listed order, its predecessors run first, recursively; of several predecessors, the
/// first listed comes first.
[[nodiscard]] std::vector<node_id> on_demand(order_graph const& g);

// --- least peak ------------------------------------------------------------------------------------------

/// An order with a low peak, for graphs of any size: iterated list scheduling.
///
///     listed, depth first, ...   ──►  the best so far  ──►  list schedule with that order as rank and
///     list schedules from                    ▲               a lower goal, forwards or backwards
///     either end                             └────────────── if that is better
///
/// No rule is best for all graphs, but all are cheap, so several run and the best stays. Its order is then
/// the rank of the next schedule: nodes that add bytes keep their places, nodes that free bytes move forward
/// as far as possible; backwards, definitions of buffers that are needed late move towards the end.

struct least_peak_limits {
    std::uint32_t schedules = 32;  ///< at most
    std::uint64_t nodes = 400'000; ///< at most in all schedules together; one from each end is always made
    std::uint32_t patience = 6;    ///< stops after so many schedules in a row without improvement
    byte_count floor = 0;          ///< a known lower bound on the peak
};

/// Reschedules the best order until a limit is reached; `made` schedules have been made before.
void schedule_again(order_incumbent& incumbent, order_graph const& g, order_graph const& mirror,
                    least_peak_limits const& limits, std::uint32_t made = 0);

/// Ensures:    never worse than the listed order, without any other guarantee; `lower_bound` is the given
///             floor, and an order that reaches it is optimal.
/// Complexity: that of list_schedule() for each schedule that `limits` allow, plus O(E + V log V).
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] node_order least_peak(order_graph const& g, least_peak_limits const& limits = {});

// --- exact order -----------------------------------------------------------------------------------------

/// The order with the least peak, with a proof.
///
///     0 1 2 3 | 4 5 6 7 | 8 9          peaks 96, 160 and 64 as given; lower bound 112
///               search                 5 4 6 7: 128, the least peak of this segment
///     0 1 2 3 | 5 4 6 7 | 8 9          96 and 64 are below that: no search needed
///
/// Cuts the order at nodes that all orders pass, then searches the segments with a peak above the lower
/// bound, the highest first (ordering/detail/exact_window.hpp). If the work is spent before, the result is
/// the best order and the best lower bound so far.

struct exact_order_report {
    std::size_t segments = 0; ///< independent parts of the order
    std::size_t longest = 0;  ///< nodes of the longest segment
    std::size_t searched = 0; ///< segments searched
    std::uint64_t sets = 0;   ///< of finished nodes, as entered by the searches
    std::uint64_t work = 0;   ///< touches, edges and words that were looked at
};

struct exact_node_order : node_order {
    exact_order_report report;
};

/// The order with the least peak. `start` is an initial order, by default the listed one; a better one saves
/// work.
///
/// Requires:   `start` names every node once, each after its predecessors, or is empty.
/// Ensures:    never a higher peak than `start`. The peak is least, and `is_optimal()` says so, unless the
///             work is spent or `limits.floor` is reached. Deterministic.
/// Complexity: exponential in the width of the graph in the worst case, linear in its length; at most
///             `limits.work`, and what one search takes.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] exact_node_order exact_order(order_graph const& g, std::vector<node_id> const& start = {},
                                           order_search_limits limits = {});

// --- improve order ---------------------------------------------------------------------------------------

/// Improves an order by large neighbourhood search around its peak.
///
///     bytes            _                             _           the window around the peak is ordered
///               _   __/ \__     _             _   __/ \_  _      optimally; then another position has
///             _/ \_/[      ]\__/ \_         _/ \_/[    ]\/ \_    the peak, or a wider window is tried
///
/// The live bytes in a window depend on the order of its nodes only, and those after it do not depend on that
/// order. So improvements of different windows are independent. If no window that the search can handle
/// helps, the whole order is rescheduled with itself as rank, which moves nodes across any distance.
///
/// Source: exchanging a part for its optimum is large neighbourhood search as of Shaw, "Using constraint
/// programming and local search methods to solve vehicle routing problems", CP 1998.

struct improve_limits {
    std::uint64_t work = 40'000'000;       ///< touches, edges and words looked at, by all searches together
    std::uint64_t window_work = 2'000'000; ///< by one search
    std::size_t widest = 72;               ///< nodes of a window
    std::uint32_t rounds = 4;              ///< of searches and schedules
    least_peak_limits schedules = {};      ///< limits of rescheduling the whole order; with the floor
};

/// Offers better orders to `incumbent`. Returns the work.
///
/// Complexity: the searches take at most `limits.work`; each window also costs the touches of its nodes, and
///             of those between it and the window before.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
std::uint64_t improve_order(order_graph const& g, order_incumbent& incumbent,
                            improve_limits const& limits = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/orders.ipp>
#endif

#endif
