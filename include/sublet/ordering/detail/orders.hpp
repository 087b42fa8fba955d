// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_ORDERS_HPP
#define SUBLET_ORDERING_DETAIL_ORDERS_HPP

/// Ways to find an order: by rules that look at the graph alone, by schedules that look at bytes, by search.

#include <sublet/ordering/detail/exact_window.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/order_window.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>
#include <sublet/ordering/node_order.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

// --- longest path ----------------------------------------------------------------------------------------

/// Whoever has the longest way to go runs first.
///
///     0 ──► 1 ──► 2 ──► 5        to the end: 0: 4   1: 3   2: 2   5: 1        runs 0 1 2 3 4 5
///     3 ──► 4 ──────────┘                    3: 3   4: 2
///
/// A short branch that meets a long one is then made last, right before it is needed, and its results do not
/// lie about while the long one runs. Nothing is known of bytes: it helps where branches differ in length.
///
/// Source: the order of Caffe2's memory optimizer for inference (memonger.py, 2017).

/// By node: how many nodes the longest path from it to an end has, itself among them.
///
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<std::uint32_t> path_lengths(order_graph const& g);

/// Ensures:    of the nodes that wait for none, that with the longest path to an end comes first; of equal
///             ones, what is listed first.
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<node_id> longest_path(order_graph const& g);

// --- plain walks -----------------------------------------------------------------------------------------

/// Orders that follow the graph alone.
///
///     0 ──► 2 ──► 4      breadth first   0 1 2 3 4      all branches side by side
///     1 ──► 3            depth first     0 2 4 1 3      one branch after the other
///                        on demand       1 3 0 2 4      from the ends: 3 first, it is listed before 4
///
/// They cost next to nothing, and each is now and then the best of all: what suits a network depends on
/// whether its branches make values smaller or larger.

/// What has been ready longest runs first; of what became ready at once, what is listed first.
///
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<node_id> breadth_first(order_graph const& g);

/// What became ready last runs first; of what became ready at once, what is listed first.
///
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<node_id> depth_first(order_graph const& g);

/// For each end, in the listed order, what it waits for runs first, each of those likewise; what is listed
/// first is asked for first.
///
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<node_id> on_demand(order_graph const& g);

// --- least peak ------------------------------------------------------------------------------------------

/// An order with a low peak, for graphs of any size.
///
///     listed, depth first, ...   ──►  the best so far  ──►  scheduled again, with its own order as rank and
///     a least peak first, from                ▲               lower goal, forwards or from the end either
///     end                            └────────────── if that is better
///
/// No rule wins everywhere, but all are cheap, so several run and the best stays. That one is then the rank
/// of the next schedule: nodes that grow keep the places that proved good, nodes that give bytes back move
/// forward as far as they can; seen from the end, what makes bytes that are needed late moves backward. A few
/// turns of that go further than all the rules together.

struct least_peak_limits {
    std::uint32_t schedules = 32; ///< made at most, ...
    std::uint64_t nodes =
        400'000; ///< ... so many nodes in all of them; one from either end even if that is more
    std::uint32_t patience = 6; ///< so many in a row that were no better are the end
    byte_count floor = 0;       ///< a peak that no order goes below, if it is known
};

/// Schedule the best order of a contest again and again, if `made` schedules have been made before.
void schedule_again(order_incumbent& incumbent, order_graph const& g, order_graph const& mirror,
                    least_peak_limits const& limits, std::uint32_t made = 0);

/// Ensures:    never worse than the listed order. How good the order is nobody promises; `lower_bound` is the
///             floor that was given, and an order that reaches it is optimal.
/// Complexity: that of list_schedule(), so many times as `limits` allow, and O(E + V log V).
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] node_order least_peak(order_graph const& g, least_peak_limits const& limits = {});

// --- exact order -----------------------------------------------------------------------------------------

/// The order with the least peak, and that it is the least is proved.
///
///     0 1 2 3 | 4 5 6 7 | 8 9          peaks 96, 160 and 64 as given, and no order goes below 112
///               search                 5 4 6 7: 128, and less is impossible
///     0 1 2 3 | 5 4 6 7 | 8 9          96 and 64 are below that: nothing to do there
///
/// Cut where every order has to pass (ordering/detail/exact_window.hpp), then search the stretches that stand
/// above all that is known to be needed (ordering/detail/down_set_search.hpp), the highest first. How long
/// that takes depends on how many nodes could run side by side; where a limit strikes, the best order so far
/// comes back with what is proved of all.

struct exact_order_report {
    std::size_t segments = 0; ///< that orders fall apart into
    std::size_t longest = 0;  ///< nodes of the longest of them
    std::size_t searched = 0; ///< stretches
    std::uint64_t states = 0; ///< sets of nodes that were visited
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
        order_cuts cuts = cut_order(all, deferred_nodes(all));
        for (node_id& n : cuts.order) n = all.nodes[n];
        result.order = std::move(cuts.order);
        first = std::move(cuts.first);
    }
    std::size_t const segments = first.size() - 1;
    result.report.segments = segments;
    std::vector<byte_count> peak(segments, 0);
    std::size_t highest = 0;
    {
        peak_walk walk(g);
        for (std::size_t i = 0; i != segments; ++i) {
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
        for (std::size_t i = 0; i != segments && !(is_first && i > highest); ++i) {
            if (peak[i] > limits.floor && (!is_first || i == highest)) search(walk, i);
            for (std::size_t at = first[i]; at != first[i + 1]; ++at) walk.run(result.order[at]);
        }
    }
    result.peak = peak_of(g, result.order);
    if (result.peak < start_peak) result.found_by = node_order::method::exact;
    return result;
}

[[nodiscard]] exact_node_order exact_order(order_graph const& g, std::vector<node_id> const& start = {},
                                           order_search_limits const& limits = {});

// --- improve order ---------------------------------------------------------------------------------------

/// Lower an order where it is highest, again and again.
///
///     bytes            _                             _           the stretch round the peak is searched for
///               _   __/ \__     _             _   __/ \_  _      its best order; then another place is the
///             _/ \_/[      ]\__/ \_         _/ \_/[    ]\/ \_    highest, or a wider stretch is tried
///
/// What a stretch of an order needs depends on its own order only, and every way to run it leaves the same
/// bytes alive. So no search elsewhere is lost. Where the stretches that a search can master do not help, the
/// whole order is scheduled again, with itself as rank: that moves nodes across any distance.
///
/// Source: exchanging a part for its best is large neighbourhood search as of Shaw, "Using constraint
/// programming and local search methods to solve vehicle routing problems", CP 1998.

struct improve_limits {
    std::uint64_t states = 20'000;       ///< sets of nodes visited at most, by all searches together
    std::uint64_t window_states = 1'000; ///< by one of them
    std::size_t widest = 72;             ///< nodes of a stretch
    std::uint32_t rounds = 4;            ///< of searches and schedules
    least_peak_limits schedules = {};    ///< how often the whole order is scheduled again; has the floor, too
};

/// Requires:   `order` names every node once, each behind those that it waits for; or the graph has a
///             violation, which is then that of the result.
/// Ensures:    never a higher peak than `order` has, nor than the listed order. The same on every platform.
/// Complexity: the searches visit as many sets of nodes as `limits` allow; each stretch costs besides what
///             its nodes and those it lies away from the last one do.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] node_order improve_order(order_graph const& g, std::vector<node_id> order,
                                       improve_limits const& limits = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/orders.ipp>
#endif

#endif
