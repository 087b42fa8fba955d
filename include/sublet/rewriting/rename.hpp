// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_RENAME_HPP
#define SUBLET_REWRITING_RENAME_HPP

/// Writes a slot plan back into a program, or a tree of nested programs, as names: values that share a slot
/// get one name. Renaming takes O(values + versions + slots + touches), and check_rewrite proves that every
/// step reads what it read before. New names repeat none in use, and a log lists which values share and the
/// bytes saved. After Caffe2's memonger and PaddlePaddle's memory transpiler.

#include <sublet/analysis/flatten.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/reporting/internal/printable_text.hpp>
#include <sublet/reporting/names.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

// --- rename ----------------------------------------------------------------------------------------------

///     before               slots           after
///     0: def a             a  0            0: def s            s is new; a and c are gone
///     1: use a, def b      b  1            1: use s, def b     b shares with no other value and stays b
///     2: use b, def c      c  0            2: use b, def s
///     3: use c, def b      b' 1 (b again)  3: use s, def b     all versions of b in one slot: still b
///
/// For executors that allocate by name. Plans are by version, so a value that is written twice may be in two
/// slots, and each touch gets the slot of the version that it touches: renames never chain. Inputs and
/// outputs keep their names, by which the caller knows them. A renamed program can be planned again, and the
/// second plan may merge the names of the first; mark these with `is_slot`, and the program is left as it is.
///
/// Sources: Caffe2's memonger (`apply_assignments`, "Net was already memongered"), and PaddlePaddle's memory
/// transpiler, which renames from one operation on: a version by another name.

namespace sublet {

/// By value of the named program.
struct rename_options {
    per_value<bool> is_slot = false;    ///< a name made by an earlier renaming
    per_value<bool> keeps_name = false; ///< besides inputs and outputs
    bool renames_views = false;         ///< a view takes the name of its storage
};

/// The name of each version: v for the old name of value v, `values` + k for new name k.
struct slot_renaming {
    /// A new name, for a slot that several versions share.
    struct name {
        slot_id slot = no_slot;      ///< the slot that it stands for
        pool_id pool = 0;            ///< of its occupants
        byte_count bytes = 0;        ///< of the largest of its occupants
        value_id largest = no_value; ///< that occupant; its shape and type suit all
        std::size_t occupants = 0;   ///< versions with this name, without views
    };

    std::size_t values = 0;                     ///< how many names there were before: the first new one
    std::vector<slot_renaming::name> new_names; ///< ascending by slot
    table<value_id, value_id> name_of;          ///< of each version
    /// Of each version: the name of its storage, for a view that of its root.
    table<value_id, value_id> storage_of;
    value_id planned_already = no_value; ///< a value that `is_slot`: every value keeps its name
};

/// Assigns names to versions by their slots; `plan` and `options` are by version, as share_slots takes them
/// and with_versions makes them.
///
/// Requires:   the plan is valid for `versioned.program` in some reading; views have the slot of their
///             storage. If a value with views is given and a later version of it is an output, both have one
///             storage (version_options::same_storage), since the value can have only one name.
/// Ensures:    two versions get one new name if and only if the plan gives them one slot, that slot has
///             occupants of several values or not all versions of one, and neither is given, an output, a
///             view or marked to keep its name; all others keep their names. If any value `is_slot`, all do.
///             If each step runs after the steps that the reading puts before it, steps read under the new
///             names what they read before: check_rewrite(versioned.program, renamed_program(versioned,
///             names), {.role = versioned.role, .alias_of = versioned.alias_of, .given_as =
///             names.storage_of, .kept_as = names.storage_of}) proves it.
/// Complexity: O(values + versions + slots) time and memory.
/// Throws:     precondition_error if a table does not have one entry per version or value, or a slot is out
///             of range.
[[nodiscard]] slot_renaming name_slots(versioned_program const& versioned, sized_slot_plan const& plan,
                                       plan_options const& options, rename_options const& naming = {});

/// Reports the new names: `set_input(step, operand, k)` where the step's operand-th use gets new name k, and
/// `set_output` likewise for defs. Uses, and defs, count from 0 in the order in which the program lists them,
/// without those that were `no_value`; `set_at_end(node, operand, k)` is for uses at the end of predecessors.
///
/// Ensures:    each operand is reported once, steps ascend, the inputs of a step come before its outputs.
///             Operands that keep their names are not reported.
/// Complexity: O(touches).
/// Throws:     whatever the callbacks throw.
template <class SetInput, class SetOutput, class SetAtEnd>
    requires std::invocable<SetInput&, step_id, std::size_t, std::size_t> &&
             std::invocable<SetOutput&, step_id, std::size_t, std::size_t> &&
             std::invocable<SetAtEnd&, node_id, std::size_t, std::size_t>
void rename(versioned_program const& versioned, slot_renaming const& names, SetInput set_input,
            SetOutput set_output, SetAtEnd set_at_end)
{
    SUBLET_EXPECTS(names.name_of.size() == versioned.value_of.size(),
                   "sublet: the names belong to another program");
    auto notify = [&](auto& set, auto at, std::size_t operand, value_id version) {
        if (names.name_of[version] < names.values) return;
        set(at, operand, std::size_t{names.name_of[version]} - names.values);
    };
    for (step_id s = 0; s != versioned.program.steps(); ++s) {
        std::size_t inputs = 0, outputs = 0;
        for (touch t : versioned.program.touches(s))
            if (t.defines()) notify(set_output, s, outputs++, t.value);
            else notify(set_input, s, inputs++, t.value);
    }
    if (versioned.program.edge_uses().empty()) return;
    for (node_id n = 0; n != versioned.program.nodes(); ++n) {
        std::size_t operand = 0;
        for (edge_use u : versioned.program.edge_uses(n)) notify(set_at_end, n, operand++, u.value);
    }
}

/// The same for a program without uses at the end of predecessors.
/// Throws: precondition_error if it has one.
template <class SetInput, class SetOutput>
    requires std::invocable<SetInput&, step_id, std::size_t, std::size_t> &&
             std::invocable<SetOutput&, step_id, std::size_t, std::size_t>
void rename(versioned_program const& versioned, slot_renaming const& names, SetInput set_input,
            SetOutput set_output)
{
    SUBLET_EXPECTS(versioned.program.edge_uses().empty(),
                   "sublet: a use at the end of a predecessor needs a third callback");
    rename(versioned, names, std::move(set_input), std::move(set_output),
           [](node_id, std::size_t, std::size_t) {});
}

/// The program under its new names, views by the names of their storage: the input of check_rewrite.
/// Complexity: O(V + E + touches) time and memory.
[[nodiscard]] snapshot renamed_program(versioned_program const& versioned, slot_renaming const& names);

// --- rename tree -----------------------------------------------------------------------------------------

/// Renames the values of a program and of the programs nested in its steps, to any depth.
///
///     0: def x                         0: def s
///     1: loop ───────────┐ captures    1: loop ───────────┐ reported: x is s
///     2: use y           │ x           2: use y           │
///                        └ use x                          └ use s
///
/// A captured value is the outer value, so its new name also holds in the bodies, and in the lists of
/// captures and loop bindings that name it. A value local to a body may share a slot with an outer value if
/// their live ranges are disjoint.
///
/// Plans for a tree are made of the flat program (flatten.hpp), in which a value written in several places is
/// one value and paths are alternatives. So here names belong to values and not to versions.
///
/// Source: Caffe2's memonger, which renames in the step nets of recurrent operators, forward and backward,
/// and passes an argument `<name>.rename` to the operator.

namespace detail {

/// Reports the new names of a tree.
///
/// Semantics:      new name k replaces operand i of a use, or of a def, of a step, counted as in rename();
///                 both names of capture i of a body; or one name in binding i of a body.
/// Ordinary model: a struct that holds a reference to the user's IR.
template <class R>
concept tree_renamer = requires(R& r, program_id p, step_id s, node_id n, std::size_t i, std::size_t k) {
                           r.set_input(p, s, i, k);
                           r.set_output(p, s, i, k);
                           r.set_at_end(p, n, i, k);
                           r.set_capture(p, i, k);
                           r.set_binding(p, i, program_body::binding_part::inner, k);
                       };

} // namespace detail

/// One version per value: the input of name_slots() for a flat tree, or for another program that is planned
/// for control flow.
/// Complexity: O(values), and a copy of the program.
[[nodiscard]] versioned_program values_as_versions(snapshot const& p, plan_options const& options);

/// Reports the new names of a tree; `names` are for the values of `flat`, the flattened form of this tree.
///
/// Ensures:    parents come before their bodies. Within a program captures and bindings come first, then
///             steps ascending, inputs before outputs, then the uses at the ends of nodes. Names that stay
///             are not reported.
/// Complexity: O(touches, captures and bindings of all programs).
/// Throws:     precondition_error if the names belong to other values; whatever the renamer throws.
template <detail::tree_renamer Renamer>
void rename(program_tree const& tree, flat_tree const& flat, slot_renaming const& names, Renamer& renamer)
{
    SUBLET_EXPECTS(flat.flat_of.size() == tree.size() && names.name_of.size() == flat.value_of.size(),
                   "sublet: the names belong to another program");
    for (program_id i = 0; i != tree.size(); ++i) {
        auto notify = [&names](value_id flat_value, auto set) {
            value_id const name = names.name_of[flat_value];
            if (name >= names.values) set(std::size_t{name} - names.values);
        };
        table<value_id, value_id> const& inner = flat.flat_of[i];
        SUBLET_EXPECTS(inner.size() == tree.program_of(i).values(),
                       "sublet: the names belong to another program");
        if (i != 0) {
            program_body const& body = tree.body(i);
            table<value_id, value_id> const& outer = flat.flat_of[body.parent];
            for (std::size_t c = 0; c != body.captures.size(); ++c)
                notify(inner[body.captures[c].inner], [&](std::size_t k) { renamer.set_capture(i, c, k); });
            for (std::size_t b = 0; b != body.bindings.size(); ++b) {
                auto part = [&](table<value_id, value_id> const& of, value_id v,
                                program_body::binding_part which) {
                    if (v != no_value)
                        notify(of[v], [&](std::size_t k) { renamer.set_binding(i, b, which, k); });
                };
                program_body::binding const binding = body.bindings[b];
                part(inner, binding.inner, program_body::binding_part::inner);
                part(outer, binding.initial, program_body::binding_part::initial);
                part(inner, binding.next, program_body::binding_part::next);
                part(outer, binding.result, program_body::binding_part::result);
            }
        }
        snapshot const& p = tree.program_of(i);
        for (step_id s = 0; s != p.steps(); ++s) {
            std::size_t inputs = 0, outputs = 0;
            for (touch t : p.touches(s)) {
                bool const is_def = t.defines();
                std::size_t const operand = is_def ? outputs++ : inputs++;
                notify(inner[t.value], [&](std::size_t k) {
                    if (is_def) renamer.set_output(i, s, operand, k);
                    else renamer.set_input(i, s, operand, k);
                });
            }
        }
        if (p.edge_uses().empty()) continue;
        for (node_id n = 0; n != p.nodes(); ++n) {
            std::size_t operand = 0;
            for (edge_use u : p.edge_uses(n)) {
                notify(inner[u.value], [&](std::size_t k) { renamer.set_at_end(i, n, operand, k); });
                ++operand;
            }
        }
    }
}

// --- unused names ----------------------------------------------------------------------------------------

/// Numbers for new names that no value of a program has yet.
///
///     prefix "slot"      in use: conv1, slot0, slot2, slot07        unused: slot1, slot3, slot4 ...
///
/// Names come from files and from other planners, so no prefix is assumed unused. Source: a fault of Caffe2's
/// memonger (`__m<i>_shared`), where a second plan in one scope merged unrelated values.

/// The lowest `count` numbers that with the prefix give none of the names of values 0 to `names` - 1.
///
/// Ensures:    ascending. The names in use may repeat.
/// Complexity: O(characters + names log names + count) time, O(names + count) memory.
/// Throws:     whatever the names throw; std::bad_alloc.
[[nodiscard]] std::vector<std::uint64_t> unused_names(std::string_view prefix, std::size_t count,
                                                      std::size_t names, names_of<value_id> const& name_of);

// --- sharing log -----------------------------------------------------------------------------------------

/// A log of which value took over which slot, from which value, and how many bytes that saves.
///
///     a: 64 B opens slot 0
///     b: 32 B opens slot 1
///     c: 48 B takes slot 0 from a, saves 48 B
///     d: 40 B takes slot 1 from b, which grows by 8 B, saves 32 B
///     4 values in 2 slots, 2 of them shared: 104 B instead of 184 B
///
/// A value saves its size less the growth of its slot. Sources: the log lines of both planners named above.

/// What each value took over, and the sums.
struct sharing_log {
    /// One value that has a slot.
    struct entry {
        value_id value = no_value; ///< the value
        value_id from = no_value; ///< the occupant of the slot before; `no_value`: none
        slot_id slot = no_slot;   ///< its slot
        byte_count bytes = 0;     ///< its size
        byte_count growth = 0;    ///< of the slot, for this value; its whole size for the first
        bool is_in_place = false; ///< its defining step uses `from`

        /// What the value does not need in addition.
        [[nodiscard]] byte_count saved() const { return bytes - growth; }
        friend bool operator==(sharing_log::entry const&, sharing_log::entry const&) = default;
    };

    std::vector<sharing_log::entry> entries; ///< in the order of definitions; given ones first
    std::uint32_t slots = 0;                 ///< with an occupant
    std::uint32_t shared = 0;                ///< with more than one
    byte_count naive_bytes = 0;              ///< of all values
    byte_count slot_bytes = 0;               ///< of all slots

    /// What all values together do not need.
    [[nodiscard]] byte_count saved() const { return naive_bytes - slot_bytes; }
};

/// The log of a slot plan, in the order in which the steps run (empty: program order). `plan` and `options`
/// are by value: share_slots makes such a plan; translate a plan of buffers to their values first.
///
/// Ensures:    one entry for every value that has a slot and is not a view; the bytes saved by the entries
///             add up to saved().
/// Complexity: O(values log values + steps + touches).
/// Throws:     precondition_error if a table does not have one entry per value, a size is unknown, or a sum
///             exceeds 64 bits.
[[nodiscard]] sharing_log log_sharing(snapshot const& p, slot_plan const& plan, plan_options const& options,
                                      std::vector<node_id> const& order = {});

namespace detail {

/// The entries of one value: the slot that it took over, and the value that took it over next.
[[nodiscard]] std::vector<sharing_log::entry> trace(sharing_log const& log, value_id v);

} // namespace detail

/// Writes one line, as above.
template <detail::text_stream Stream>
void write_log(Stream& stream, sharing_log::entry const& e, names_of<value_id> const& name_of = {})
{
    detail::plain_text<Stream> out{stream};
    std::vector<char> text;
    auto write_name = [&](value_id v) {
        name_of.read(text, v);
        detail::keep_printable(text);
        for (char c : text) out << c;
    };
    write_name(e.value);
    out << ": ";
    detail::write_bytes(out, e.bytes);
    out << (e.from == no_value ? " opens"
            : e.is_in_place    ? " is written over"
                               : " takes")
        << " slot " << e.slot;
    if (e.from != no_value) {
        out << (e.is_in_place ? ", in place of " : " from ");
        write_name(e.from);
        if (e.growth != 0) {
            out << ", which grows by ";
            detail::write_bytes(out, e.growth);
        }
        out << ", saves ";
        detail::write_bytes(out, e.saved());
    }
    out << '\n';
}

namespace detail {

template <detail::text_stream Stream>
void write_total(Stream& stream, sharing_log const& log)
{
    detail::plain_text<Stream> out{stream};
    out << log.entries.size() << " values in " << log.slots << " slots, " << log.shared
        << " of them shared: ";
    detail::write_bytes(out, log.slot_bytes);
    out << " instead of ";
    detail::write_bytes(out, log.naive_bytes);
    out << '\n';
}

} // namespace detail

/// Writes all lines and the sum.
template <detail::text_stream Stream>
void write_log(Stream& stream, sharing_log const& log, names_of<value_id> const& name_of = {})
{
    for (sharing_log::entry const& e : log.entries) write_log(stream, e, name_of);
    detail::write_total(stream, log);
}

/// The same with values by number.
template <detail::text_stream Stream>
Stream& operator<<(Stream& stream, sharing_log const& log)
{
    write_log(stream, log);
    return stream;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/rewriting/impl/rename.ipp>
#endif

#endif
