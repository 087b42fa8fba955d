// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_RENAME_HPP
#define SUBLET_REWRITING_RENAME_HPP

/// Write a slot plan back into a program: what shares a slot is called by one name.
///
///     before               slots           after
///     0: def a             a  0            0: def s            s is new; a and c are gone
///     1: use a, def b      b  1            1: use s, def b     b shares with nobody and stays b
///     2: use b, def c      c  0            2: use b, def s
///     3: use c, def b      b' 1 (b again)  3: use s, def b     one name before, one slot: still b
///
/// For executors that allocate by name. Plans are made of versions, so a name that is written twice may be
/// in two slots, and each touch gets the slot of the version that it touches: no chain of renames is there to
/// be resolved. What is given, and what is asked for in the end, is known to the caller by its name and keeps
/// it.
///
/// A program that has been renamed is a program like others, and planning it again may find other slots for
/// the names of the first time. Whoever knows those names says so, and nothing happens.
///
/// Sources: Caffe2's memonger (`apply_assignments`, "Net was already memongered"), and PaddlePaddle's memory
/// transpiler, which renames from one operation on: a version by another name.

#include <sublet/analysis/versions.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace sublet {

/// By value of the program with names.
struct rename_options {
    per_value<bool> is_slot = false;    ///< a name that an earlier renaming made
    per_value<bool> keeps_name = false; ///< beside what is given or an output
    bool renames_views = false;         ///< a view goes by the name of its storage, instead of its own
};

/// A name that takes the place of others.
struct slot_name {
    slot_id slot = no_slot;
    pool_id pool = 0;
    byte_count bytes = 0;        ///< of the largest of its tenants
    value_id largest = no_value; ///< that tenant, whose shape and type will do for all
    std::size_t tenants = 0;     ///< how many versions go by this name, views not counted
};

/// What everything is called: value v of the program by the number v, new name k by `values` + k.
struct slot_renaming {
    std::size_t values = 0;
    std::vector<slot_name> made;         ///< ascending by slot
    std::vector<value_id> name_of;       ///< by version
    std::vector<value_id> storage_of;    ///< by version: the name of its storage, for a view that of its root
    value_id planned_already = no_value; ///< one that is a slot: everything keeps its name
};

/// The names of versions in their slots; `plan` and `options` are by version, as share_by_tokens takes them
/// and with_versions makes them.
///
/// Requires:   the plan is right for `made.program` in some reading; views have the slot of their storage. A
///             value with views that is given, and written again is an output, has one storage for both
///             (version_options::same_storage): it can have one name only.
/// Ensures:    two versions go by one new name if and only if the plan gives them one slot, that slot has
///             tenants of several values or not all versions of one, and neither is given, an output, a view
///             or to keep its name; everything else is called what it was. If anything `is_slot`, all is.
///             Where each step runs after those that the reading puts before it, steps read under the new
///             names what they read before: check_rewrite(made.program, renamed_program(made, names),
///             {.role = made.role, .alias_of = made.alias_of, .given_as = names.storage_of,
///             .kept_as = names.storage_of}) proves it.
/// Complexity: O(values + versions + slots) time and memory.
/// Throws:     precondition_error if a table has not one entry a version or value, or a slot is out of range.
[[nodiscard]] slot_renaming name_slots(versioned_program const& made, sized_slot_plan const& plan,
                                       plan_options const& options, rename_options const& how = {});

/// Tell the user's program its new names: `set_input(step, operand, k)` where the step's operand-th use goes
/// by new name k, and `set_output` likewise of defs. Uses, and defs, count from 0 in the order in which the
/// program named them, without those that were `no_value`; `set_at_end(node, operand, k)` is about what the
/// node uses at the end of predecessors.
///
/// Ensures:    each is called once, steps ascend, the inputs of a step come before its outputs. What keeps
///             its name is not mentioned: a renaming without new names calls nobody.
/// Complexity: O(touches).
/// Throws:     whatever they throw.
template <class SetInput, class SetOutput, class SetAtEnd>
    requires std::invocable<SetInput&, step_id, std::size_t, std::size_t> &&
             std::invocable<SetOutput&, step_id, std::size_t, std::size_t> &&
             std::invocable<SetAtEnd&, node_id, std::size_t, std::size_t>
void rename(versioned_program const& made, slot_renaming const& names, SetInput set_input,
            SetOutput set_output, SetAtEnd set_at_end)
{
    SUBLET_EXPECTS(names.name_of.size() == made.value_of.size(), "sublet: these are names of others");
    auto tell = [&](auto& set, auto at, std::size_t operand, value_id version) {
        if (names.name_of[version] < names.values) return;
        set(at, operand, std::size_t{names.name_of[version]} - names.values);
    };
    for (step_id s = 0; s != made.program.steps(); ++s) {
        std::size_t inputs = 0, outputs = 0;
        for (touch t : made.program.touches(s))
            if (t.kind == touch_kind::def) tell(set_output, s, outputs++, t.value);
            else tell(set_input, s, inputs++, t.value);
    }
    if (made.program.edge_uses().empty()) return;
    for (node_id n = 0; n != made.program.nodes(); ++n) {
        std::size_t operand = 0;
        for (edge_use u : made.program.edge_uses(n)) tell(set_at_end, n, operand++, u.value);
    }
}

/// The same of a program in which nothing is used at the end of predecessors.
///
/// Throws: precondition_error if something is.
template <class SetInput, class SetOutput>
    requires std::invocable<SetInput&, step_id, std::size_t, std::size_t> &&
             std::invocable<SetOutput&, step_id, std::size_t, std::size_t>
void rename(versioned_program const& made, slot_renaming const& names, SetInput set_input,
            SetOutput set_output)
{
    SUBLET_EXPECTS(made.program.edge_uses().empty(),
                   "sublet: a use at the end of a predecessor needs a callback to be renamed");
    rename(made, names, std::move(set_input), std::move(set_output),
           [](node_id, std::size_t, std::size_t) {});
}

/// The program under its new names, views by the names of their storage: what check_rewrite compares.
///
/// Complexity: O(V + E + touches) time and memory.
[[nodiscard]] snapshot renamed_program(versioned_program const& made, slot_renaming const& names);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/rewriting/impl/rename.ipp>
#endif

#endif
