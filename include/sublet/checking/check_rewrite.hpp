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

#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

/// Where a renamed program reads something else than before.
struct rewrite_fault {
    /// What is different.
    enum class kind : std::uint8_t {
        shape,       ///< nodes, edges, steps or kinds of touches differ: no renaming
        read,        ///< a use reads another def
        read_at_end, ///< so does a use at the end of a node; `operand` is its index in edge_uses()
        kept,        ///< an output or external value has another content at the end
        /// results of a step, or given values (no step), were merged, or a value and its view separated
        aliasing,
        /// the permission to write result `name` over operand `value` (names after) was lost or added
        in_place
    };

    /// The def of what is read: a touch of a step; without a step, a given value; or none.
    struct source {
        step_id step = no_step;           ///< the step that writes it; `no_step`: a given value, or none
        std::uint32_t operand = no_value; ///< the index of the touch, or the given value; `no_value`: none
        friend bool operator==(rewrite_fault::source, rewrite_fault::source) = default;
    };

    rewrite_fault::kind what = rewrite_fault::kind::shape; ///< what is different
    step_id step = no_step;              ///< `no_step`: at the end, at the start, or in the graph
    std::uint32_t operand = 0;           ///< index of the touch
    value_id value = no_value;           ///< in the program before
    value_id name = no_value;            ///< in the program after
    rewrite_fault::source expected = {}; ///< before
    rewrite_fault::source found = {};    ///< after
    friend bool operator==(rewrite_fault const&, rewrite_fault const&) = default;
};

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

/// The first way in which `after` is not `before` under other names, or none.
///
/// Ensures:    there is none if and only if, in the given order: every use in `after` reads the same touch or
///             given value as the corresponding use in `before`; where a view is made, the name of its root
///             has what the root has; outputs and external values are at the end what they are there; results
///             of a step, and given values, coincide exactly where they did; and so do the pairs of an operand
///             and a result that may be written over it. An operand and a result of one name are such a pair,
///             declared or not: this needs a declaration in `before`, or one name there, and that the step
///             reads no other value by that name; early reads need nothing. A view that has another name than
///             its root is not followed: later writes to the root do not reach it.
/// Complexity: O(V + E + values + touches + pairs log pairs) time, O(V + values) memory.
/// Throws:     precondition_error if `given_as` or `kept_as` names no value of `after`, a property has not
///             one entry for each value, views form a cycle, or the order does not name every node once.
[[nodiscard]] std::optional<rewrite_fault> check_rewrite(snapshot const& before, snapshot const& after,
                                                         rewrite_options const& options = {});

/// Writes it as a sentence.
template <class Stream>
    requires requires(Stream& out, std::uint32_t number) { out << "text" << number; }
Stream& operator<<(Stream& out, rewrite_fault const& f)
{
    auto source = [&out](rewrite_fault::source from) {
        if (from.step != no_step)
            out << "what step " << +from.step << " writes as its touch " << from.operand;
        else if (from.operand != no_value) out << "the given value " << from.operand;
        else out << "nothing";
    };
    switch (f.what) {
    case rewrite_fault::kind::shape:
        if (f.step == no_step) out << "the programs have different nodes, edges or steps";
        else out << "step " << +f.step << " touches values in another way than before";
        return out;
    case rewrite_fault::kind::aliasing:
        if (f.step != no_step) out << "step " << +f.step << " writes value ";
        else out << "the program is given value ";
        out << +f.value << " as " << +f.name
            << ", but this name has other bytes, or these bytes have another name";
        return out;
    case rewrite_fault::kind::in_place:
        out << "step " << +f.step << " may write " << +f.name << " over " << +f.value
            << " in one of the programs only";
        return out;
    case rewrite_fault::kind::kept: out << "at the end"; break;
    case rewrite_fault::kind::read: out << "at step " << +f.step; break;
    case rewrite_fault::kind::read_at_end: out << "at the end of the node of step " << +f.step; break;
    }
    out << ", value " << +f.value << ", now called " << +f.name << ", is ";
    source(f.found);
    out << " and should be ";
    source(f.expected);
    return out;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_rewrite.ipp>
#endif

#endif
