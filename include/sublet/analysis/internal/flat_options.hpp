// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_FLAT_OPTIONS_HPP
#define SUBLET_ANALYSIS_INTERNAL_FLAT_OPTIONS_HPP

/// A tree of programs flattened together with the options of each: what planner and executor both begin with.
///
///     program 0   a: 8 bytes                    flat value 0   8 bytes
///     body 1      b = a, c: 16 bytes            flat value 1   16 bytes       b is a: nothing of its own

#include <sublet/analysis/flatten.hpp>
#include <sublet/analysis/program_tree.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

namespace sublet::detail {

/// The options of the flat program, from those of each program of the tree. Effort and check are the root's.
///
/// Requires:   `flat` is the tree flattened with these options' views.
/// Complexity: O(values).
/// Throws:     precondition_error if the numbers of options and programs differ, if options give an order,
///             if a body has pools or forbids in-place pairs and the root does otherwise, or if a value of a
///             body is an input or an output (a body has captures and bindings instead).
[[nodiscard]] plan_options flat_options(flat_tree const& flat,
                                        table<program_id, plan_options> const& options);

/// A flat tree, its options, and those of each program.
struct flat_tree_with_options {
    flat_tree flat;
    plan_options all;                    ///< of the flat program
    table<program_id, plan_options> own; ///< with what steps say of views; tables instead of callables
};

/// Flattens a tree, with what options and steps say of views.
///
/// Requires:   `given` as flat_options() requires.
/// Complexity: flatten().
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] flat_tree_with_options flatten_with_options(program_tree const& tree,
                                                          table<program_id, plan_options> const& given);

/// Throws: precondition_error if program i of the tree is another one.
void expect_program_of(program_tree const& tree, program_id i, snapshot const& p);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/flat_options.ipp>
#endif

#endif
