// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_NESTED_HPP
#define SUBLET_PLAN_NESTED_HPP

/// One plan for a tree of programs: operations may contain programs, such as bodies of loops.
///
///     sublet::program_tree tree(program); // add_body() adds each nested program; or as_tree(ir)
///     auto planned = sublet::plan_nested(tree, [](auto) { return sublet::plan_options{.bytes = 8}; });
///     std::cout << planned.offset_of(0, 1) << '\n';            // value 1 of program 0, in one arena for all
///     for (auto m : planned.copies) std::cout << m.from << " to " << m.to << '\n'; // copies that remain
///
///     tree ─► flatten ─► plan_flow ─► offsets by program and value, remaining copies
///
/// nested_executor runs the tree in the arena of the plan, and makes these copies.
///
/// The two branches of a conditional share bytes, the values of a body are dead when its step ends, and outer
/// values that a body does not write stay in place. check_flow_plan checks the tree as a whole.
///
/// A body runs where its step stands. If a body runs concurrently with others, or another program reads its
/// values later (the forward step net of a recurrent operator, read by its backward net), you must keep those
/// values: declare them external or not eligible in the body.

#include <sublet/analysis/flatten.hpp>
#include <sublet/analysis/internal/flat_options.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/plan_flow.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

namespace sublet {

/// A plan for every value of every program of a tree.
struct planned_nested : planned_flow {
    /// A value and its place.
    struct placed_value {
        tree_value value = {};         ///< its program, and its id there
        pool_id pool = 0;              ///< the pool that it lies in
        byte_count offset = no_offset; ///< of its first byte in the arena of the pool
        friend bool operator==(planned_nested::placed_value, planned_nested::placed_value) = default;
    };
    /// Over the values with an offset.
    using iterator = detail::placed_values<planned_nested, tree_value>;

    /// What was planned: the plan, the report and error() use its ids; error() also has those of the tree.
    flat_tree flat;
    /// The copies of bindings that remain; those at one place in the order in which to make them. `from` and
    /// `to` are flat values. All other bindings have source and target in the same bytes.
    std::vector<flat_tree::move> copies;

    /// The first byte of a program's value in the arena of its pool, or `no_offset`.
    [[nodiscard]] byte_count offset_of(program_id program, value_id value) const
    {
        return plan.offset_of(flat.flat_of[program][value]);
    }

    /// The values of each program with an offset, by program and ascending.
    [[nodiscard]] planned_nested::iterator begin() const { return {*this, {0, 0}}; }
    /// The end of these values.
    [[nodiscard]] planned_nested::iterator end() const { return {*this, {programs(), 0}}; }

private:
    friend planned_nested::iterator;

    program_id programs() const noexcept { return program_id::of(*this ? flat.flat_of.size() : 0); }
    static tree_value next(tree_value at) { return {at.program, at.value + 1}; }
    tree_value placed_from(tree_value at) const
    {
        for (; at.program < programs(); at = {at.program + 1, 0})
            for (; at.value < flat.flat_of[at.program].size(); ++at.value)
                if (offset_of(at.program, at.value) != no_offset) return at;
        return {programs(), 0};
    }
    planned_nested::placed_value at(tree_value v) const
    {
        value_id const flat_value = flat.flat_of[v.program][v.value];
        return {v, plan.pool_of(flat_value), plan.offset_of(flat_value)};
    }
};

namespace detail {

/// What a body says of a value that it captures, and what does not hold for the outer value; or else a
/// binding between values of different sizes.
///
/// Requires:   `all` are flat_options() of the others.
/// Ensures:    the first by program, captures before bindings. A fact that has its default is not said.
/// Complexity: O(values).
[[nodiscard]] std::optional<counterexample> unlike_borders(program_tree const& tree, flat_tree const& flat,
                                                           table<program_id, plan_options> const& options,
                                                           plan_options const& all);

} // namespace detail

/// Plans storage for every value of every program of a tree.
///
/// Requires:   `options` has an entry for each program. No program has an order, no body inputs or outputs
/// (it
///             has captures and bindings instead), or pools or a ban on in-place pairs that the root has not.
/// Ensures:    as plan_flow, for the flattened tree: the plan is valid for every number of iterations and
///             every choice of branches, at any depth. A copy between values that share bytes is not in
///             `copies`. A value that is used before it is written on some path is an error, with its
///             program; and so is a body that says of a captured value what does not hold for the outer one
///             (more or fewer bytes, a stricter alignment, another pool), and a binding between values of
///             different sizes.
/// Complexity: flatten() and plan_flow().
/// Throws:     precondition_error if a precondition of a stage is violated, or if there is a previous plan.
[[nodiscard]] planned_nested plan_nested(program_tree const& tree,
                                         table<program_id, plan_options> const& options,
                                         flow_options const& how = {});

/// With options from a callable, called once per program.
template <class OptionsOf>
    requires std::invocable<OptionsOf&, program_id> &&
             std::convertible_to<std::invoke_result_t<OptionsOf&, program_id>, plan_options>
[[nodiscard]] planned_nested plan_nested(program_tree const& tree, OptionsOf options_of,
                                         flow_options const& how = {})
{
    table<program_id, plan_options> options;
    for (program_id i = 0; i != tree.size(); ++i) options.push_back(options_of(i));
    return plan_nested(tree, options, how);
}
/// With the options and names of a listing per program.
///
/// Requires: `tree.program_of(i)` was made of `lists[i]`.
/// Throws:   precondition_error if it is another program.
template <detail::listed L>
[[nodiscard]] planned_nested plan_nested(program_tree const& tree, std::vector<L> const& lists,
                                         flow_options const& how = {})
{
    table<program_id, plan_options> options;
    for (L const& list : lists) {
        auto const i = program_id::of(options.size());
        if (i < tree.size()) detail::expect_program_of(tree, i, list.program());
        list.expect_no_carry("a tree of programs");
        options.push_back(list.sized_options());
    }
    planned_nested planned = plan_nested(tree, options, how);
    if (planned) return planned;
    counterexample& why = planned.figures.error();
    if (auto const [in, v] = why.value_in_tree; v != no_value) lists[in].name(why, why.value(), v);
    if (auto const [in, v] = why.other_in_tree; v != no_value) lists[in].name(why, why.other(), v);
    return planned;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/plan_nested.ipp>
#endif

#endif
