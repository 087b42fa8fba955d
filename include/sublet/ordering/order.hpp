// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_ORDER_HPP
#define SUBLET_ORDERING_ORDER_HPP

/// Finds an execution order of a program with a low peak of live bytes: by one rule, or by a search.
///
///     rules, list schedules ──► branches merged ──► is there an order with a lower peak?  ◄──┐
///     the best of them          one path is left:   which buffer is next to be done with?    │  rounds
///                               done, proved        windows around the peak  ────────────────┘
///
/// Each stage starts from the best order so far, each round has four times the work of the one before, and
/// all end as soon as a peak equals the lower bound. Every limit is a count, so a result depends on the
/// program and the options only. Branches between two nodes have a best order of their own, so trees and
/// series-parallel graphs need no search (ordering/detail/series_parallel.hpp). The first question is
/// answered with an order or a proof by a search over sets of finished steps
/// (ordering/detail/threshold_search.hpp); the second is a rule for circuits of qubits
/// (ordering/detail/cone_order.hpp).

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/ordering/node_order.hpp>

#include <vector>

namespace sublet {

namespace detail {

/// order() by a rule, or without, if values `begun` are live from the first step that reads them.
[[nodiscard]] node_order order_from_touches(snapshot const& p, plan_options const& options,
                                            std::vector<value_id> const& begun,
                                            node_order::method const* rule);

} // namespace detail

/// Computes an order by one rule.
///
///     0 ──► 2 ──► 4      breadth first   0 1 2 3 4      all branches side by side
///     1 ──► 3            depth first     0 2 4 1 3      one branch after the other
///                        on demand       1 3 0 2 4      from the sinks: 3 is listed before 4
///
/// Requires:   `options` are those of the plan; `options.order` is the listed order of the program.
///             `method` is neither `reversed` nor `improved`: these start from other orders.
/// Ensures:    `peak` is that of `order`, `lower_bound` is at least order_lower_bound(). least_peak and exact
///             are never worse than the listed order; exact gives up after 2^30 touches, edges and words of
///             sets, at every effort.
/// Complexity: O(E + V log V) and order_lower_bound(); least_peak makes at most 32 schedules; exact is
///             exponential in the width of the graph.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more, or if `options.order`
///             does not name every node once.
[[nodiscard]] node_order order(snapshot const& p, plan_options const& options, node_order::method method);
/// The same for a listing: assign the order to `list.order`. It may begin a value that begins at its first
/// touch with any step that touches it.
template <detail::listed L>
[[nodiscard]] node_order order(L const& list, node_order::method method)
{
    std::vector<value_id> begun;
    snapshot const p = list.program(begun);
    return list.named(detail::order_from_touches(p, list.sized_options(), begun, &method));
}

/// The best order that the search finds; pass it to plan_memory() as `options.order`.
///
/// Requires:   `options` are those of the plan; `options.order` is the listed order of the program.
/// Ensures:    never a higher peak than the listed order, nor than that of any rule that is not `exact`; with
///             more effort never a higher peak, nor a lower bound. `is_optimal()` says that no order has a
///             lower peak; `lower_bound` is proved in any case. The same program gives the same order on
///             every platform.
/// Complexity: at most 32 schedules, O((V + E) buffers / 64 + touches) for the lower bound, and the touches,
///             edges and words of sets that `options.effort` allows: none if it is fast, 2 * 10^8 if
///             balanced, up to half a second, less above 10^4 nodes. Sets take at most about 64 MiB.
///             Merged branches: O(V + E + touches), and up to 64 times as many looks at their segments.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more, or if `options.order`
///             does not name every node once.
[[nodiscard]] node_order order(snapshot const& p, plan_options const& options);
/// The same for a listing: assign the order to `list.order`. It may begin a value that begins at its first
/// touch with any step that touches it.
template <detail::listed L>
[[nodiscard]] node_order order(L const& list)
{
    std::vector<value_id> begun;
    snapshot const p = list.program(begun);
    return list.named(detail::order_from_touches(p, list.sized_options(), begun, nullptr));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/order.ipp>
#endif

#endif
