// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_COLOR_CHORDAL_HPP
#define SUBLET_SHARING_COLOR_CHORDAL_HPP

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

#include <sublet/analysis/live_sets.hpp>
#include <sublet/analysis/strictness.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <optional>

namespace sublet {

struct chordal_options {
    /// The slot that a value must have, an argument's register for instance, or `no_slot`.
    per_value<slot_id> fixed = no_slot;
};

struct chordal_coloring {
    slot_plan plan;                         ///< by value; `no_slot` for one that nothing touches
    slot_id max_live = 0;                   ///< the most values that occupy one step: no plan has fewer slots
    step_id max_live_step = no_step;        ///< where to count them
    std::size_t affinities_kept = 0;        ///< pairs {in, out} of the program with one slot for both
    std::optional<ssa_violation> violation; ///< why there is no plan
    std::optional<fixed_clash> clash;       ///< or this is why

    /// There is a plan, and it is proven to have the fewest slots. False, with fixed values: not proven.
    [[nodiscard]] bool is_optimal() const { return !violation && !clash && plan.slots == max_live; }
};

/// Colour a program with the live sets `live`.
///
/// A pair {in, out} that a step declares with `may_overwrite` (in a node's first step also a phi and an
/// operand of its) is an affinity: each of the two prefers the slot of the other where that is free. It is no
/// more than a wish: a step's result never shares with an operand that the step holds.
///
/// Requires:   `live` is the liveness of `p`.
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
                                             chordal_options const& options = {});

[[nodiscard]] chordal_coloring color_chordal(snapshot const& p, chordal_options const& options = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/color_chordal.ipp>
#endif

#endif
