// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_TREE_VALUES_HPP
#define SUBLET_ANALYSIS_INTERNAL_TREE_VALUES_HPP

/// Numbers the values of a tree of programs: one number for all names of a value.
///
///     program 0        a   b              0  1
///     body 1           c   d = b          2  1       d captures b
///     body of that     e = d   f          1  3       e captures d, so it is b as well
///
/// A captured value has the number of the outer value. The others get new numbers, by program, then by value.

#include <sublet/analysis/program_tree.hpp>
#include <sublet/core/ids.hpp>

#include <vector>

namespace sublet::detail {

struct tree_values {
    table<program_id, table<value_id, value_id>> flat_of; ///< the number of each value of each program
    table<value_id, tree_value> value_of;                 ///< of each number: the outermost of its names
    friend bool operator==(tree_values const&, tree_values const&) = default;
};

/// Complexity: O(values) of all programs.
/// Throws:     precondition_error for more values than 32-bit ids.
[[nodiscard]] tree_values number_values(program_tree const& tree);

/// By number: the root that it is a view of, or itself.
///
/// Requires:   `alias_of`, by program and value, is the value that it is a view of; empty: no views. Entries
///             of captured values are ignored.
/// Complexity: O(values).
/// Throws:     precondition_error as group_views().
[[nodiscard]] table<value_id, value_id> view_roots(tree_values const& values,
                                                   table<program_id, std::vector<value_id>> const& alias_of);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/tree_values.ipp>
#endif

#endif
