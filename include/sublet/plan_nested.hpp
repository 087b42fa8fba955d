// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_NESTED_HPP
#define SUBLET_PLAN_NESTED_HPP

/// The front door for programs that hold programs: one plan for the whole tree.
///
///     auto planned = sublet::plan_nested(sublet::as_tree(ir), [&](auto i) -> sublet::plan_options {
///         return {.bytes = [&, i](auto v) { return ir.program(i)[v].bytes; }};
///     });
///     planned.offset_of(program, value);      // all of them in one arena
///     planned.copies;                         // those that the plan could not make vanish
///
///     tree ─► flatten ─► plan_flow ─► offsets by program and value, copies that are left
///
/// The two branches of a conditional use the same bytes, a body's are free again when its step has ended, and
/// what a body leaves alone of the values around it stays where it is. The tree is checked as a whole, by
/// check_flow_plan.
///
/// Bodies run where their step stands. For a body that runs beside others, or whose values another program
/// reads later (the forward step net of a recurrent operator, read by its backward twin), the caller has to
/// keep those values himself: they are external, or not eligible, in the body.

#include <sublet/analysis/flatten.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

namespace sublet {

struct planned_nested : planned_flow {
    /// A witness against the flat program, and what it is about in the tree.
    struct refutation {
        witness flat;
        detail::tree_value value; ///< `no_value` where the witness names none
        detail::tree_value other;
        flat_tree::step at; ///< where it names a position
        friend bool operator==(planned_nested::refutation const&,
                               planned_nested::refutation const&) = default;
    };

    flat_tree flat; ///< what was planned: ids in the plan, the report and `refuted` are its ids
    /// The copies of bindings that are still to be made, those of one place in the order in which to make
    /// them; from and to are flat values. The others find their bytes where they belong.
    std::vector<flat_tree::move> copies;
    std::optional<planned_nested::refutation>
        refuted_in_tree; ///< if there is one: `refuted`, in terms of the tree

    /// The first byte of a program's value in the arena of its pool, or `no_offset`.
    [[nodiscard]] byte_count offset_of(program_id program, value_id value) const
    {
        return plan.offset_of(flat.flat_of[program][value]);
    }
};

namespace detail {

/// The options of the flat program, from those of each program of the tree. Pools, in_place and check are the
/// root's. What a body's options say of the values that it captures is not read: they are the outer ones.
///
/// Requires:   `flat` is the tree flattened with these options' views.
/// Complexity: O(values).
/// Throws:     precondition_error where there are not as many options as programs, where a program is to be
///             run in another order, and where a value of a body is an input or an output: only the whole has
///             those, a body has captures and bindings.
[[nodiscard]] plan_options flat_options(flat_tree const& flat, std::vector<plan_options> const& options);

} // namespace detail

/// Plan where every value of every program of a tree lives.
///
/// Requires:   `options` as flat_options() asks.
/// Ensures:    as plan_flow, for the flattened tree: the plan is valid however often loops run and whichever
///             branches are taken, at any depth. A copy whose two values share their bytes is not in
///             `copies`. A value that some path uses before it is written is refused, with its program.
/// Complexity: flatten() and plan_flow().
/// Throws:     precondition_error where a precondition of a stage is broken.
[[nodiscard]] planned_nested plan_nested(program_tree const& tree, std::vector<plan_options> const& options,
                                         flow_options const& how = {});

/// With options from a callable: asked once a program.
template <class OptionsOf>
    requires std::invocable<OptionsOf&, program_id> &&
             std::convertible_to<std::invoke_result_t<OptionsOf&, program_id>, plan_options>
[[nodiscard]] planned_nested plan_nested(program_tree const& tree, OptionsOf options_of,
                                         flow_options const& how = {})
{
    std::vector<plan_options> options;
    for (std::size_t i = 0; i != tree.size(); ++i) options.push_back(options_of(static_cast<program_id>(i)));
    return plan_nested(tree, options, how);
}

/// The sentence of the witness, which speaks of flat values, and who they are.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, planned_nested::refutation const& w)
{
    out << w.flat;
    if (w.value.value != no_value)
        out << "; " << w.flat.value << " is value " << w.value.value << " of program " << w.value.program;
    if (w.other.value != no_value && w.flat.other != w.flat.value)
        out << "; " << w.flat.other << " is value " << w.other.value << " of program " << w.other.program;
    return out;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/plan_nested.ipp>
#endif

#endif
