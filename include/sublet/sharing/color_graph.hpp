// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_COLOR_GRAPH_HPP
#define SUBLET_SHARING_COLOR_GRAPH_HPP

/// Each value gets a slot, and values that interfere get different slots.
///
///     sublet::color(interference(p))   any interference graph: greedy, with a clique as lower bound
///     sublet::color(p)                 a program in strict SSA form: the fewest slots
///
/// For graphs the fewest slots are NP-hard to find, so color() assigns slots greedily in a chosen order
/// (DSATUR, smallest last, by size) in O((V + E) log V); `exact` searches for the fewest bytes. In strict SSA
/// form one pass over the nodes gives the fewest slots, without the interference graph (Hack et al. 2006). A
/// control-flow graph alone is no program: color() would take its edges for interference.

#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/snapshot.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// --- color graph -----------------------------------------------------------------------------------------

/// Each value in turn gets the lowest slot that none of its neighbours has; the heuristic determines the
/// order. All members of a clique interfere, so no plan has fewer slots than it has members.
///
///     a --- b        a: slot 0    b: slot 1    c: slot 0    d: slot 1    e: slot 2
///     |     |
///     e     c        a ring of five needs three slots, though no three of its vertices interfere,
///      \   /         a ring of four needs two
///        d
///
/// Source: Brélaz 1979, Matula and Beck 1983 (see sharing/detail/coloring.hpp); Pemmaraju, Raman and
/// Varadarajan, "Max-coloring and online coloring with bandwidths on interval graphs", TALG, 2011 (by_size,
/// which Caffe2's `memonger` had, too).

namespace sublet {

/// The order in which vertices get slots, and the size of each.
struct coloring_options {
    /// The order in which vertices get slots. Bounds on slots and bytes hold if no slot is fixed.
    enum class heuristic : std::uint8_t {
        automatic,     ///< by_size where sizes differ, else dsatur
        dsatur,        ///< fewest slots to choose from first: for few slots; bipartite: the fewest
        smallest_last, ///< at most degeneracy + 1 slots; chordal: the fewest
        by_size,       ///< largest first: no slot grows, for few bytes; intervals: at most 8 times the fewest
        given,         ///< `order`
        exact          ///< the fewest bytes, by search within the effort; slots numbered by falling size
    };

    coloring_options::heuristic by = coloring_options::heuristic::automatic; ///< the order
    per_value<byte_count> bytes = byte_count{1};      ///< 0: needs no slot
    per_value<slot_id> fixed = no_slot;               ///< a slot that is prescribed
    std::vector<value_id> order = {};                 ///< for `given`: every vertex once; empty: 0, 1, 2 ...
    sublet::effort effort = sublet::effort::balanced; ///< exact: balanced tries 10'000'000 assignments
};

/// A slot for each vertex, and the bounds that prove it. Converts to false if two fixed slots conflict:
/// nothing has a slot.
struct graph_coloring : verdict {
    slot_plan plan;                     ///< the slot of each vertex
    table<slot_id, byte_count> slot_bytes; ///< of the largest occupant
    byte_count total_bytes = 0;            ///< the sum over all slots
    std::vector<value_id> clique; ///< ascending; they all interfere: no plan has fewer slots than members
    byte_count least_bytes = 0;   ///< no plan has fewer bytes

    /// Proven to have the fewest slots, or the fewest bytes. False: not proven.
    [[nodiscard]] bool is_optimal() const { return *this && plan.slots == clique.size(); }
    /// The same for the bytes.
    [[nodiscard]] bool has_least_bytes() const { return *this && total_bytes == least_bytes; }
};

namespace detail {

/// The vertices in the order in which they get slots; for dsatur in any order.
std::vector<value_id> coloring_order(coloring_options::heuristic by, csr_graph const& g,
                                     table<value_id, byte_count> const& bytes,
                                     std::vector<value_id> const& given);

std::optional<counterexample> find_clash(csr_graph const& g, table<value_id, slot_id> const& slot_of);

} // namespace detail

/// Colours an interference graph: a vertex is a value, and each edge stands in the rows of both its ends.
///
/// Ensures:    values that interfere have different slots. A value of 0 bytes has `no_slot`, and a fixed
///             value has its fixed slot; if two fixed ones conflict, the error names the lowest such pair.
///             `slots` also counts the slots below a fixed one; an unused slot has 0 bytes. by_size: of equal
///             sizes the value with more neighbours comes first, then the lower id; for other ties see
///             sharing/detail/coloring.hpp. The order of edges and duplicates in a row make no difference.
/// Complexity: O((V + E) log V) time; O(V + E) memory, and O(highest fixed slot). exact: exponential in the
///             worst case, limited by the effort, after O(V^3 / 64); O(V^2) bits.
/// Throws:     precondition_error for a loop, an edge that stands less often in the row of its other end, a
///             size of `no_size`, an order that does not name every vertex once or comes with another
///             heuristic, or if all slots together exceed 64 bits.
[[nodiscard]] graph_coloring color(csr_graph const& g, coloring_options const& options = {});

/// The same for the result of `interference`. Throws: precondition_error if the graph exceeds its budget.
template <class Found>
    requires requires(Found const& found) {
                 {
                     found.graph()
                     } -> std::same_as<csr_graph const&>;
             }
[[nodiscard]] graph_coloring color(Found const& found, coloring_options const& options = {})
{
    return color(found.graph(), options);
}

/// The same for any graph; values are the indices of its vertices in the order of `vertices(g)`.
template <graph G>
    requires(!std::same_as<G, csr_graph>)
[[nodiscard]] graph_coloring color(G const& g, coloring_options const& options = {})
{
    return color(as_graph(g), options);
}

template <class G>
    requires(!graph<G> && !program<G> && !detail::listed<G> && !requires(G const& found) { found.graph(); })
graph_coloring color(G const&, coloring_options const& = {}, detail::graph_problem<G> = {}) = delete;

// --- strictness ------------------------------------------------------------------------------------------

/// Tests whether a program is in strict SSA form: every value has one definition, which dominates every use.
///
///        0: def a           a is fine: 0 dominates 1, 2 and 3.
///       /        \          b is not: the path over 2 reaches 3 without it. (A phi in 3, which reads b at
///     1: def b    2           the end of 1, would be correct: 1 dominates its own end.)
///       \        /
///        3: use a, use b

/// Whether a program is in strict SSA form. If not, the error is the first fault: a second definition if
/// there is one, otherwise a use that its definition does not dominate, otherwise a use of a value that is
/// never defined. Uses are searched in the order of steps, those at the ends of nodes last.
///
/// A node that the entry does not reach is not dominated by anything reachable, so a use there of a value
/// defined in reachable code is a fault. If your IR allows such uses (LLVM's), leave these nodes out.
///
/// Requires:   `tree` is the dominator tree of the program's graph.
/// Complexity: O(nodes + values + touches).
[[nodiscard]] verdict check_ssa(snapshot const& p, dominator_tree const& tree);

/// The same, with the dominator tree computed here.
[[nodiscard]] inline verdict check_ssa(snapshot const& given)
{
    snapshot listed;
    snapshot const& p = detail::as_control_flow(given, listed);
    return check_ssa(p, dominators(p.graph(), p.predecessors(), depth_first(p.graph())));
}

// --- color chordal ---------------------------------------------------------------------------------------

/// In strict SSA form a live range is a subtree of the dominator tree, and intersection graphs of subtrees
/// are chordal. So assigning the lowest free slot is optimal in any order of the nodes in which dominators
/// come first: the values that occupy slots at a definition are all alive there together. Reverse postorder
/// is such an order.
///
///     0: def a, b               a takes slot 0, b slot 1,
///       /       \               which only 2 reads
///     1: use a   2: use a, b    c and d both take slot 0, because a is dead:
///        def c      def d       they are never alive together
///       \       /
///     3: def e = phi(c, d)      e prefers the slot of c or d, and gets it: it is free
///
/// Source: Hack, Grund and Goos, "Register allocation for programs in SSA-form", CC 2006; the subtrees after
/// Gavril, "The intersection graphs of subtrees in trees are exactly the chordal graphs", J. Combinatorial
/// Theory B 16, 1974.

/// The slots of a program in strict SSA form. Converts to false if it is in no such form, or fixed values
/// conflict.
struct chordal_coloring : verdict {
    slot_plan plan;                         ///< by value; `no_slot` for a value without touches
    std::uint32_t max_live = 0;             ///< the most values that occupy one step: no plan has fewer slots
    step_id max_live_step = no_step;        ///< a step with so many
    std::size_t affinities_kept = 0;        ///< pairs {in, out} of the program with one slot for both

    /// There is a plan, and it is proven to have the fewest slots. False, with fixed values: not proven.
    [[nodiscard]] bool is_optimal() const { return *this && plan.slots == max_live; }
};

/// Colours a program with the live sets `live`. A pair {in, out} that a step declares with `may_overwrite`
/// (in a node's first step also a phi and its operand) is an affinity: each prefers the slot of the other if
/// that is free. A step's result never shares with an operand that the step holds.
///
/// Requires:   `live` is the liveness of `p`; `fixed` is the slot that a value must have, an argument's
///             register for instance, or `no_slot`.
/// Ensures:    values that occupy the same step have different slots. (In a node that the entry does not
///             reach, values from reachable nodes do not count: they are undefined there.) `slots` equals
///             `max_live`, so no plan has fewer; with fixed values the plan is valid, but may have more. A
///             value takes the first free slot among its affinities, in the order of declaration, otherwise
///             the lowest free slot. If the program is not in strict SSA form or fixed values conflict, there
///             is a counterexample instead of a plan.
/// Complexity: O(V + E + values + touches + definitions slots / 64) time, and that of the live-out set of
/// each
///             node and the live-in set of the next one in reverse postorder: their bits / 64, and what
///             differs. O(V + values + touches) memory; with fixed values also what slots_to_avoid says.
/// Throws:     precondition_error if `live` is not of this program, or `fixed` a table of another length.
[[nodiscard]] chordal_coloring color(snapshot const& p, live_sets const& live,
                                     per_value<slot_id> const& fixed = no_slot);

/// The same, with the liveness computed here.
[[nodiscard]] chordal_coloring color(snapshot const& p, per_value<slot_id> const& fixed = no_slot);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/color_graph.ipp>
#endif

#endif
