// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LIVENESS_HPP
#define SUBLET_ANALYSIS_LIVENESS_HPP

/// Computes the live-in and live-out sets of each node of a control-flow graph, and the live ranges of
/// values over a linear order of the nodes. The sets are exact. By default each value is explored from its
/// uses, and the values that are live in many nodes are solved together as rows of bits:
/// O(V + E + values + touches) and, per value, the cost of the cheaper form up to a constant factor. Live
/// ranges follow Wimmer and Franz, "Linear scan register allocation on SSA form", CGO 2010.

#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/detail/vertex_live_sets.hpp>
#include <sublet/analysis/live_sets.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <utility>
#include <vector>

// --- liveness --------------------------------------------------------------------------------------------

///     0: def a, b          live in 1: {a, b}        b is needed at the end of 1 by a phi of 2, so it is
///     |                    live out 1: {b, c}       live out of 1; the result of the phi is not live in at 2
///     1: use a, def c
///     |  b                 live in 2: {c}
///     2: def phi(b), use c
///
/// A value is live where some path leads to a use of it and contains no def before. A step reads before it
/// writes; a use at the end of a predecessor is read where that node ends. Unreachable nodes are solved like
/// the others. (A `sequence` has no edges, so nothing is live between its nodes: use `lifetimes`.) Three
/// algorithms give the same sets; detail/liveness_methods.hpp describes them.

namespace sublet {

/// The values live where each node begins and ends, for any program.
///
/// Complexity: that of the policy. `automatic`: O(V + E + values + touches) and, per cross-block value, at
///             most the cost of bits or of lists, whichever is less, up to a constant factor.
/// Throws:     precondition_error if the policy is `loop_forest`, the program is not in strict SSA form, and
///             that would make a set wrong.
[[nodiscard]] live_sets liveness(snapshot const& p, liveness_options const& options);

/// By the policy `automatic`. (An overload, so that its callers do not depend on the other policies.)
[[nodiscard]] live_sets liveness(snapshot const& p);

/// For any graph, with callables as in `flow`. The first of `vertices(g)` is the entry.
template <graph G, class Effects>
    requires detail::effects_function<Effects, detail::vertex_of<G> const&,
                                      detail::vertex_effect_sink<detail::vertex_of<G>>>
[[nodiscard]] auto liveness(G const& g, std::size_t values, Effects effects,
                            liveness_options const& options = {})
{
    vertex_numbering<detail::vertex_of<G>> numbers(g);
    live_sets sets = liveness(flow(g, numbers, values, std::move(effects)), options);
    return detail::vertex_live_sets<detail::vertex_of<G>>(std::move(numbers), std::move(sets));
}

/// The same from two callables, each of which returns a list of values.
template <graph G, class Uses, class Defs>
    requires detail::id_list_function<Uses, detail::vertex_of<G> const&, value_id> &&
             detail::id_list_function<Defs, detail::vertex_of<G> const&, value_id>
[[nodiscard]] auto liveness(G const& g, std::size_t values, Uses uses, Defs defs,
                            liveness_options const& options = {})
{
    return liveness(g, values,
                    detail::uses_then_defs(uses, defs, vertex_numbering<detail::vertex_of<G>>(g).size()),
                    options);
}

template <class G, class Effects>
    requires(!detail::takes_graph<G, Effects>)
live_sets liveness(G const&, std::size_t, Effects, liveness_options const& = {},
                   detail::graph_problem<G> = {}) = delete;
template <class G, class Uses, class Defs>
    requires(!detail::take_graph<G, Uses, Defs>)
live_sets liveness(G const&, std::size_t, Uses, Defs, liveness_options const& = {},
                   detail::graph_problem<G, Uses, Defs> = {}) = delete;

// --- live intervals --------------------------------------------------------------------------------------

///     node          0      1             2            0 leads to 1 and to 2
///     position      0      1      2      3
///                 def a  def b  use b  use a
///     a             [======)             [======)     with a hole: a is not live in 1
///     b                    [=============)            fits into the hole
///
/// A position is in a range of a value if its step defines the value, uses it (unless early), or has it live
/// afterwards; also if it is that of the program's first step, and the value is live where that begins. The
/// algorithm walks the order backwards: a live-out value opens a range, a definition closes it, and a range
/// open where the node begins ends there, unless the value is live at the end of the previous node.
///
/// Live-out sets come from `liveness`, or, in strict SSA form, from the walk itself: where all successors
/// have been processed, the ranges open at their beginnings are the live-out set, and a value that is live at
/// a loop header is live throughout the loop. That takes an order that keeps loops contiguous, and loops
/// with a single entry; both are checked (an addition to Wimmer and Franz).

namespace detail {

/// An order of the nodes in which every loop is contiguous and begins with its header. If no loop has several
/// entries and the entry reaches all nodes, only edges to headers lead backwards.  As `loops`
template <graph G>
[[nodiscard]] std::vector<node_id> loop_contiguous_order(G const& g)
{
    return loops(g).preorder;
}

} // namespace detail

/// The order of the nodes, and how ranges are computed.
struct interval_options {
    std::vector<node_id> order = {}; ///< of the nodes; empty: 0, 1, 2 ...
    /// How they are computed; the result is the same.
    live_range_lists::source method = live_range_lists::source::automatic;
};

/// From the live sets of any program, for any order.
///
/// Ensures:    position i is in a range of v if and only if v occupies the i-th step.
/// Complexity: O(nodes + values + touches) time and memory, and the time to list all live sets.
/// Throws:     precondition_error if the order does not name every node once, or `live` is not of p.
[[nodiscard]] live_range_lists live_intervals(snapshot const& p, live_sets const& live,
                                              std::vector<node_id> order = {});

/// The same, with the liveness computed here where it is needed.
///
/// Ensures:    the same ranges; `method()` is the method used.
/// Complexity: in one pass O(V + E + values + touches) and the number of values live at each edge that does
///             not lead to the next node. `automatic`: without loops O((V + E + values + touches) log values),
///             and O(log values) for each range, and each value in which the live sets of two successors
///             differ.
/// Throws:     precondition_error if the order does not name every node once, or the method is `one_pass` and
///             its requirements do not hold.
[[nodiscard]] live_range_lists live_intervals(snapshot const& p, interval_options const& options = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/liveness.ipp>
#endif

#endif
