// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_STRICTNESS_HPP
#define SUBLET_ANALYSIS_STRICTNESS_HPP

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

#include <sublet/graph/dominators.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/graph/traversal.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <optional>

namespace sublet {

enum class ssa_fault : std::uint8_t {
    defined_twice, ///< `step` of `node` writes the value, which an earlier step or the same one has written
    never_defined, ///< it reads the value, and no step writes that
    not_dominated  ///< it reads the value, and some path leads there without the value's def
};

struct ssa_violation {
    ssa_fault what = ssa_fault::defined_twice;
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
        << (v.what == ssa_fault::defined_twice ? " is defined once more in node "
            : v.what == ssa_fault::never_defined
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

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/strictness.ipp>
#endif

#endif
