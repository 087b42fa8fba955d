// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LIVE_INTERVALS_HPP
#define SUBLET_ANALYSIS_LIVE_INTERVALS_HPP

/// The live ranges of every value over a linear order of the nodes of a control-flow graph.
///
///     node          0      1             2            0 leads to 1 and to 2
///     position      0      1      2      3
///                 def a  def b  use b  use a
///     a             [======)             [======)     with a hole: on the way through 1 nobody needs it
///     b                    [=============)            fits into that
///
/// A position is in a range of a value if its step defines the value, uses it (unless early), or has it alive
/// behind it; or if it is that of the program's first step, and the value is alive where that begins. Walking
/// the order backwards, what is alive where a node ends opens a range, a definition closes it, and what is
/// still open where the node begins ends there, or goes on if the node before needs it too.
///
/// What is alive where a node ends, `liveness` says. But where all successors have been walked before, the
/// ranges that were open at their beginnings say it too; and what a loop needs at its header is alive
/// throughout the loop. So in strict SSA form the walk does without liveness, if the order keeps loops
/// together and none has several entries.
///
/// Source: Wimmer and Franz, "Linear scan register allocation on SSA form", CGO 2010. Here what the method
/// requires is checked, and from one node to the next ranges stay open.

#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/analysis/live_sets.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/loops.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// A linear order of the nodes in which every loop is a stretch that begins with its header. If no loop has
/// several entries and the entry reaches all nodes, edges but those back to headers lead onwards.  As `loops`
template <graph G>
[[nodiscard]] std::vector<node_id> loop_contiguous_order(G const& g)
{
    return loops(g).preorder;
}

struct interval_options {
    std::vector<node_id> order = {}; ///< of the nodes; empty: 0, 1, 2 ...
    interval_method method = interval_method::automatic;
};

namespace detail {

/// Where the nodes lie in a linear order.
struct node_layout {
    std::vector<node_id> order;
    std::vector<node_id> place; // by node: its index in order
    std::vector<step_id> end;   // by node: the position behind its last step
};

/// Throws: precondition_error if `order`, unless empty, does not name every node once.
node_layout lay_out(snapshot const& p, std::vector<node_id> order);

} // namespace detail

/// From the live sets of the program, whatever it is and whatever the order.
///
/// Ensures:    position i is in a range of v if and only if v occupies the i-th step.
/// Complexity: O(nodes + values + touches) time and memory, and the time to list all live sets.
/// Throws:     precondition_error if the order does not name every node once, or the sets are of another
///             program.
[[nodiscard]] live_range_lists live_intervals(snapshot const& p, live_sets const& live,
                                              std::vector<node_id> order = {});

/// From the program itself.
///
/// Ensures:    the same ranges; `method()` says how they were found.
/// Complexity: as above and as `liveness`; in one pass O(V + E + values + touches) and the number of values
///             alive at each edge that does not lead to the next node.
/// Throws:     precondition_error if the order does not name every node once, or the method is `one_pass` and
///             that is not enough.
[[nodiscard]] live_range_lists live_intervals(snapshot const& p, interval_options const& options = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/live_intervals.ipp>
#endif

#endif
