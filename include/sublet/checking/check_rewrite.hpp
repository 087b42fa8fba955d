// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_REWRITE_HPP
#define SUBLET_CHECKING_CHECK_REWRITE_HPP

/// Checks a renaming: every step must read what the same def wrote in the program before.
///
///     before              after                    the last step reads what step 1 wrote, but should read
///     0: def a            0: def x                 what step 0 wrote: b must not be renamed to x as long
///     1: use a, def b     1: use x, def x          as a is needed
///     2: use a, use b     2: use x, use x
///
/// A planner that writes its decisions back into a program renames values to slots, arenas or versions; the
/// steps and their operand positions stay. Both programs are run side by side in one sequential order, and
/// for each name the last def is kept: a read is right if the two last defs agree. O(1) for each touch.
/// Whether other orders are valid too is a question about storage (check_concurrent_plan).

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

/// Properties of the values before, and their names at the start and the end of the program after.
struct rewrite_options {
    /// Inputs, outputs and external values are compared at the borders.
    per_value<value_role> role = value_role::intermediate;
    per_value<value_id> alias_of = no_value; ///< views share the name of their root, or keep their own
    /// Names of given values at the start, of outputs and external values at the end; `no_value`: the number.
    per_value<value_id> given_as = no_value;
    per_value<value_id> kept_as = no_value; ///< the same at the end
    std::vector<node_id> order = {}; ///< empty: 0, 1, 2 ...
};

/// Whether `after` is `before` under other names: true, or the first difference.
///
/// Ensures:    it holds if and only if, in the given order: every use in `after` reads the same touch or
///             given value as the corresponding use in `before`; where a view is made, the name of its root
///             has what the root has; outputs and external values are at the end what they are there; results
///             of a step, and given values, coincide exactly where they did; and so do the pairs of an
///             operand and a result that may be written over it. An operand and a result of one name are such
///             a pair, declared or not: this needs a declaration in `before`, or one name there, and that the
///             step reads no other value by that name; early reads need nothing. A view that has another name
///             than its root is not followed: later writes to the root do not reach it.
/// Complexity: O(V + E + values + touches + pairs log pairs) time, O(V + values) memory.
/// Throws:     precondition_error if `given_as` or `kept_as` names no value of `after`, a property has not
///             one entry for each value, views form a cycle, or the order does not name every node once.
[[nodiscard]] verdict check_rewrite(snapshot const& before, snapshot const& after,
                                    rewrite_options const& options = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_rewrite.ipp>
#endif

#endif
