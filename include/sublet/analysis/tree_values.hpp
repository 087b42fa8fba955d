// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_TREE_VALUES_HPP
#define SUBLET_ANALYSIS_TREE_VALUES_HPP

/// One number for each value of a tree of programs, however many names it has.
///
///     program 0        a   b              0  1
///     body 1           c   d = b             1  2       d captures b
///     body of that     e = d   f             1  3       e captures d, so it is b as well
///
/// A captured value is the outer value itself. All others are new; they are numbered by program, and in
/// each in its own order.

#include <sublet/graph/program_tree.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

struct tree_value {
    program_id program = 0;
    value_id value = no_value;
    friend bool operator==(tree_value, tree_value) = default;
};

struct tree_values {
    std::vector<std::vector<value_id>> flat_of; ///< by program, by value
    std::vector<tree_value> value_of;           ///< by number: the outermost of its names
    friend bool operator==(tree_values const&, tree_values const&) = default;
};

/// Complexity: O(values) of all programs.
/// Throws:     precondition_error for more values than 32-bit ids.
[[nodiscard]] tree_values number_values(program_tree const& tree);

/// By number: the value that it is a view of in the end, or itself.
///
/// Requires:   `alias_of`, by program and value, says what is a view of what; empty: there are none. What it
///             says of captured values is not asked.
/// Complexity: O(values).
/// Throws:     precondition_error where views are not as aliases() asks.
[[nodiscard]] std::vector<value_id> view_roots(tree_values const& values,
                                               std::vector<std::vector<value_id>> const& alias_of);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/tree_values.ipp>
#endif

#endif
