// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_COLOR_GRAPH_HPP
#define SUBLET_SHARING_COLOR_GRAPH_HPP

/// Colouring of interference graphs: any graph by DSATUR with a clique as bound, and chordal ones without
/// building them.

#include <sublet/analysis/liveness.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/control_flow.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// --- color graph -----------------------------------------------------------------------------------------

/// Give every value a slot so that values that interfere never share one, whatever their interference graph.
///
///     a --- b        a: slot 0    b: slot 1    c: slot 0    d: slot 1    e: slot 2
///     |     |
///     e     c        a ring of five needs three slots, though no three of it interfere;
///      \   /         a ring of four needs two
///        d
///
/// A program with branches can have any graph, and for any graph the fewest slots are hard to find. So each
/// value takes, when its turn comes, the lowest slot that none of its neighbours has, and all depends on
/// whose turn comes when. With the answer comes a clique, values that all interfere: no plan has fewer slots
/// than that has members, and where the plan has no more, it is optimal.
///
/// Source: Brélaz 1979, Matula and Beck 1983 (see sharing/detail/coloring.hpp); Pemmaraju, Raman and
/// Varadarajan, "Max-coloring and online coloring with bandwidths on interval graphs", TALG, 2011 (by_size,
/// which Caffe2's `memonger` had, too).

namespace sublet {

struct coloring_options {
    /// Whose turn comes first. What is said here of slots and bytes holds if no slot is fixed.
    enum class heuristic : std::uint8_t {
        automatic,     ///< by_size where sizes differ, else dsatur
        dsatur,        ///< who has the fewest slots to choose from: for few slots; bipartite: the fewest
        smallest_last, ///< at most degeneracy + 1 slots; chordal: the fewest
        by_size,       ///< the largest: no slot grows, for few bytes; intervals: at most 8 times the fewest
        given,         ///< as the caller says
        exact ///< none: the fewest bytes, by search, as far as `nodes` reach; slots the largest first
    };

    coloring_options::heuristic by = coloring_options::heuristic::automatic;
    per_value<byte_count> bytes = byte_count{1}; ///< 0: needs no slot
    per_value<slot_id> fixed = no_slot;          ///< a slot that is prescribed
    std::vector<value_id> order = {};            ///< for `given`: every vertex once; empty: 0, 1, 2 ...
    std::uint64_t nodes = 10'000'000;            ///< of `exact`: so many slots are tried for values at most
};

struct graph_coloring {
    slot_plan plan;
    std::vector<byte_count> slot_bytes; ///< by slot: of its largest tenant
    byte_count total_bytes = 0;
    std::vector<value_id> clique; ///< ascending; they all interfere, so no plan has fewer slots than these
    byte_count least_bytes = 0;   ///< no plan has fewer bytes
    std::optional<slot_plan::clash> clash; ///< the fixed slots cannot be kept: nothing has a slot

    /// Proven to have the fewest slots. False: not proven.
    [[nodiscard]] bool is_optimal() const { return !clash && plan.slots == clique.size(); }
    /// Proven to have the fewest bytes. False: not proven.
    [[nodiscard]] bool has_least_bytes() const { return !clash && total_bytes == least_bytes; }
};

namespace detail {

/// The vertices in the order in which they are to have a slot; for dsatur in any.
std::vector<value_id> coloring_order(coloring_options::heuristic by, csr_graph const& g,
                                     std::vector<byte_count> const& bytes,
                                     std::vector<value_id> const& given);

std::optional<slot_plan::clash> find_clash(csr_graph const& g, std::vector<slot_id> const& slot_of);

} // namespace detail

/// Colour an interference graph: a vertex is a value, and each edge stands in the rows of both its ends.
///
/// Ensures:    values that interfere have different slots. A value of 0 bytes has `no_slot`, and a fixed one
///             the slot that it is fixed to; if two of those clash, the lowest pair is the answer. `slots`
///             counts what lies below a fixed slot too; a slot that nobody takes has 0 bytes. by_size, of
///             equal sizes the one with more neighbours comes first, then the lower id; other ties: see the
///             orders. The order of the edges, and how often one stands in a row, makes no difference.
/// Complexity: O((V + E) log V) time; O(V + E) memory, and O(the highest fixed slot). exact: exponential in
///             the worst case, but for `nodes`, after O(V^3 / 64); O(V^2) bits.
/// Throws:     precondition_error for a loop, an edge that stands less often in the row of its other end, a
///             size of `no_size`, an order that does not name every vertex once or is given unasked, or if
///             all slots together exceed 64 bits.
[[nodiscard]] graph_coloring color_graph(csr_graph const& g, coloring_options const& options = {});

/// The same of what `interference` finds, which knows whether it fitted.
///
/// Throws: precondition_error if it did not.
template <class Found>
    requires requires(Found const& found) {
                 {
                     found.fits()
                     } -> std::same_as<bool>;
                 {
                     found.graph()
                     } -> std::same_as<csr_graph const&>;
             }
[[nodiscard]] graph_coloring color_graph(Found const& found, coloring_options const& options = {})
{
    return color_graph(found.graph(), options);
}

/// The same of any graph; values are the numbers of its vertices in the order of `vertices(g)`.
template <graph G>
    requires(!std::same_as<G, csr_graph>)
[[nodiscard]] graph_coloring color_graph(G const& g, coloring_options const& options = {})
{
    return color_graph(as_graph(g), options);
}

// --- strictness ------------------------------------------------------------------------------------------

/// Is the program in strict SSA form: is every value written once, and is that before every read of it,
/// whichever way the program takes?
///
///        0: def a           a is fine: 0 dominates 1, 2 and 3.
///       /        \          b is not: over 2 one comes to 3 without it. (A phi in 3, which reads b where 1
///     1: def b    2           ends, would mend it: 1 dominates the end of 1.)
///       \        /
///        3: use a, use b
///
/// In strict SSA form the live range of a value is a subtree of the dominator tree, which is what makes
/// liveness a matter of two passes and colouring exact.

struct ssa_violation {
    enum class kind : std::uint8_t {
        defined_twice, ///< `step` of `node` writes the value, which an earlier step or the same one has
                       ///< written
        never_defined, ///< it reads the value, and no step writes that
        not_dominated  ///< it reads the value, and some path leads there without the value's def
    };

    ssa_violation::kind what = ssa_violation::kind::defined_twice;
    value_id value = no_value;
    node_id node = no_node;
    step_id step = no_step; ///< for a use at the end of `node` its last
    friend bool operator==(ssa_violation, ssa_violation) = default;
};

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, node_id number) { out << "text" << number; }
Stream& operator<<(Stream& out, ssa_violation const& v)
{
    out << "value " << v.value
        << (v.what == ssa_violation::kind::defined_twice ? " is defined once more in node "
            : v.what == ssa_violation::kind::never_defined
                ? " is never defined, and used in node "
                : " is used where its definition does not dominate, in node ")
        << v.node << ", step " << v.step;
    return out;
}

/// What stands in the way of strict SSA form: a second def if there is one, otherwise a use that the def does
/// not dominate, otherwise a use of what is never defined. Of uses the first in the order of steps, those at
/// the ends of nodes after all others.
///
/// A node that the entry does not reach belongs to another tree, so what is defined in the entry's does not
/// dominate it, though no way leads there on which that could matter. Whose IR allows such uses (LLVM's does)
/// leaves these nodes out.
///
/// Requires:   `tree` is the dominator tree of the program's graph.
/// Complexity: O(nodes + values + touches).
[[nodiscard]] std::optional<ssa_violation> find_ssa_violation(snapshot const& p, dominator_tree const& tree);

[[nodiscard]] inline std::optional<ssa_violation> find_ssa_violation(snapshot const& p)
{
    return find_ssa_violation(p, dominators(p.graph(), p.predecessors(), depth_first(p.graph())));
}

// --- color chordal ---------------------------------------------------------------------------------------

/// Give every value of a program in strict SSA form a slot, with as few slots as possible, on any
/// control-flow graph.
///
///     0: def a, b               a takes slot 0, b slot 1
///       /       \             which is needed in 2 only
///     1: use a   2: use a, b    where a has died, c and d both take slot 0:
///        def c      def d       they are never alive together
///       \       /
///     3: def e = phi(c, d)      e would rather have the slot of c or d, and gets it: it is free
///
/// Colouring a graph is hard in general. But in strict SSA form a live range is a subtree of the dominator
/// tree, graphs of subtrees are chordal, and going down that tree the lowest slot that is free will do: what
/// occupies slots where a value is defined is all alive there at once. So the number of slots is the most
/// values alive at one step, no plan has fewer, and the interference graph is never built.
///
/// Source: Hack, Grund and Goos, "Register allocation for programs in SSA-form", CC 2006; the subtrees after
/// Gavril, "The intersection graphs of subtrees in trees are exactly the chordal graphs", J. Combinatorial
/// Theory B 16, 1974.

struct chordal_coloring {
    slot_plan plan;                         ///< by value; `no_slot` for one that nothing touches
    slot_id max_live = 0;                   ///< the most values that occupy one step: no plan has fewer slots
    step_id max_live_step = no_step;        ///< where to count them
    std::size_t affinities_kept = 0;        ///< pairs {in, out} of the program with one slot for both
    std::optional<ssa_violation> violation; ///< why there is no plan
    std::optional<slot_plan::clash> clash;  ///< or this is why

    /// There is a plan, and it is proven to have the fewest slots. False, with fixed values: not proven.
    [[nodiscard]] bool is_optimal() const { return !violation && !clash && plan.slots == max_live; }
};

/// Colour a program with the live sets `live`.
///
/// A pair {in, out} that a step declares with `may_overwrite` (in a node's first step also a phi and an
/// operand of its) is an affinity: each of the two prefers the slot of the other where that is free. It is no
/// more than a wish: a step's result never shares with an operand that the step holds.
///
/// Requires:   `live` is the liveness of `p`; `fixed` is the slot that a value must have, an argument's
///             register for instance, or `no_slot`.
/// Ensures:    values that occupy the same step have different slots. (In a node that the entry does not
///             reach those from elsewhere do not count: nothing has defined them there.) `slots` equals
///             `max_live`, so that no plan has fewer, unless values are fixed to slots: then it is valid and
///             may have more. A value takes the first free slot of a partner, in the order in which the pairs
///             are declared, otherwise the lowest that is free. There is no plan, but a witness, if the
///             program is not in strict SSA form or fixed values clash.
/// Complexity: O(V + E + values + touches + size of all live-in sets + (V + definitions) slots / 64) time,
///             O(V + values + touches) memory; with fixed values also what slots_to_avoid says.
/// Throws:     precondition_error if `live` is not of this program, or `fixed` a table of another length.
[[nodiscard]] chordal_coloring color_chordal(snapshot const& p, live_sets const& live,
                                             per_value<slot_id> const& fixed = no_slot);

[[nodiscard]] chordal_coloring color_chordal(snapshot const& p, per_value<slot_id> const& fixed = no_slot);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/color_graph.ipp>
#endif

#endif
