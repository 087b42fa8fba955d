// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_WITH_CAPTURES_HPP
#define SUBLET_ANALYSIS_WITH_CAPTURES_HPP

/// One program of a tree by itself, in which a step touches what its bodies touch of the values around them.
///
///     0: a = ...                       0: def a
///     1: b = while { ... a ... }       1: use a, def b      the capture is a use of the step
///     2: use b                         2: use b             so a is not given away before
///
/// For those who plan only this program, and leave the bodies to somebody else. A value that is captured or
/// brought into a body is used by the step; one that a body gives as a result is defined by it; one that is
/// captured and written, at any depth, is both, for it may be written in part, or not on every path; and so
/// is a result that not all the branches of a choice give.

#include <sublet/graph/program.hpp>
#include <sublet/graph/program_tree.hpp>
#include <sublet/graph/snapshot.hpp>

#include <vector>

namespace sublet {

namespace detail {

/// By program, by value: whether a step of the program or of a body inside writes it.
std::vector<std::vector<unsigned char>> written_in(program_tree const& tree);

} // namespace detail

/// Ensures:    nodes, edges, values, steps and in-place pairs are those of `program`; a step without bodies
///             has the touches that it had, one with bodies has them first. A value that the step itself
///             defines and a body captures is not used by it: bodies fill it.
/// Complexity: O(touches) of the whole tree, O(b log b) for its b bodies; a step's touches for each value
///             that its bodies capture or bind, and the bindings of the branches beside for each result.
/// Throws:     precondition_error if `program` is not in the tree.
[[nodiscard]] snapshot with_captures(program_tree const& tree, program_id program = 0);

/// By program, what with_captures() makes of each. The whole tree is looked through once for all of them.
///
/// Complexity: O(touches) of the whole tree, O(b log b) for its b bodies, and for each step what
///             with_captures() says.
[[nodiscard]] std::vector<snapshot> each_with_captures(program_tree const& tree);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/with_captures.ipp>
#endif

#endif
