// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_RENAME_TREE_HPP
#define SUBLET_REWRITING_RENAME_TREE_HPP

/// Rename what shares a slot in a program and in the programs that its steps hold, to any depth.
///
///     0: def x                         0: def s
///     1: loop ───────────┐ captures    1: loop ───────────┐ is told: x is s now
///     2: use y           │ x           2: use y           │
///                        └ use x                          └ use s
///
/// A captured value is the outer one, so its new name goes down into the bodies with it, and whoever holds
/// the body has to know: a list of captures, or the bindings of a loop, name it again. What a body has for
/// itself may share a slot with what is outside, if both are never there at once.
///
/// Plans for a tree are made of the flat program (flatten.hpp), where a value written in several places is
/// one value and paths are alternatives. So here names are given to values and not to versions.
///
/// Source: Caffe2's memonger, which renames in the step nets of recurrent operators, forward and backward,
/// and tells the operator by an argument `<name>.rename`.

#include <sublet/analysis/flat_tree.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/program_tree.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/rewriting/rename.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// Which of the names in a binding of a body.
enum class binding_part : std::uint8_t { inner, initial, next, result };

/// What is told of a tree's new names.
///
/// Semantics:      new name k takes the place of: operand i of a use, or of a def, of a step, counted as
///                 rename() counts; both names of capture i of a body; a name in binding i of a body.
/// Ordinary model: a struct that holds a reference to the user's IR.
template <class R>
concept tree_renamer = requires(R& r, program_id p, step_id s, node_id n, std::size_t i, std::size_t k) {
                           r.set_input(p, s, i, k);
                           r.set_output(p, s, i, k);
                           r.set_at_end(p, n, i, k);
                           r.set_capture(p, i, k);
                           r.set_binding(p, i, binding_part::inner, k);
                       };

/// The versions of a program in which every value is one: what name_slots() takes of a flat tree, and of any
/// other program that has been planned for control flow.
///
/// Complexity: O(values), and a copy of the program.
[[nodiscard]] versioned_program values_as_versions(snapshot const& p, plan_options const& options);

/// Tell a tree its new names; `names` are of the values of `flat`, which is this tree.
///
/// Ensures:    programs come parents first, steps ascend, and of a step inputs come before outputs; then the
///             uses at the ends of nodes; before all that, captures and bindings of the program itself. What
///             keeps its name is not mentioned.
/// Complexity: O(touches, captures and bindings of all programs).
/// Throws:     precondition_error if the names are of other values; whatever the renamer throws.
template <tree_renamer Renamer>
void rename_tree(program_tree const& tree, flat_tree const& flat, slot_renaming const& names,
                 Renamer& renamer)
{
    SUBLET_EXPECTS(flat.flat_of.size() == tree.size() && names.name_of.size() == flat.value_of.size(),
                   "sublet: these are names of others");
    for (program_id i = 0; i != tree.size(); ++i) {
        auto tell = [&names](value_id flat_value, auto set) {
            value_id const name = names.name_of[flat_value];
            if (name >= names.values) set(std::size_t{name} - names.values);
        };
        std::vector<value_id> const& inner = flat.flat_of[i];
        SUBLET_EXPECTS(inner.size() == tree.program_of(i).values(), "sublet: these are names of others");
        if (i != 0) {
            program_body const& body = tree.body(i);
            std::vector<value_id> const& outer = flat.flat_of[body.parent];
            for (std::size_t c = 0; c != body.captures.size(); ++c)
                tell(inner[body.captures[c].inner], [&](std::size_t k) { renamer.set_capture(i, c, k); });
            for (std::size_t b = 0; b != body.bindings.size(); ++b) {
                auto part = [&](std::vector<value_id> const& of, value_id v, binding_part which) {
                    if (v != no_value)
                        tell(of[v], [&](std::size_t k) { renamer.set_binding(i, b, which, k); });
                };
                body_binding const binding = body.bindings[b];
                part(inner, binding.inner, binding_part::inner);
                part(outer, binding.initial, binding_part::initial);
                part(inner, binding.next, binding_part::next);
                part(outer, binding.result, binding_part::result);
            }
        }
        snapshot const& p = tree.program_of(i);
        for (step_id s = 0; s != p.steps(); ++s) {
            std::size_t inputs = 0, outputs = 0;
            for (touch t : p.touches(s)) {
                bool const is_def = t.kind == touch_kind::def;
                std::size_t const operand = is_def ? outputs++ : inputs++;
                tell(inner[t.value], [&](std::size_t k) {
                    if (is_def) renamer.set_output(i, s, operand, k);
                    else renamer.set_input(i, s, operand, k);
                });
            }
        }
        if (p.edge_uses().empty()) continue;
        for (node_id n = 0; n != p.nodes(); ++n) {
            std::size_t operand = 0;
            for (edge_use u : p.edge_uses(n)) {
                tell(inner[u.value], [&](std::size_t k) { renamer.set_at_end(i, n, operand, k); });
                ++operand;
            }
        }
    }
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/rewriting/impl/rename_tree.ipp>
#endif

#endif
