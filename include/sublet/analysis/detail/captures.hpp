// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DETAIL_CAPTURES_HPP
#define SUBLET_ANALYSIS_DETAIL_CAPTURES_HPP

/// A program of a tree in which each step also touches the outer values that its bodies touch, at any depth.

#include <sublet/analysis/detail/bodies_by_step.hpp>
#include <sublet/analysis/program_tree.hpp>

namespace sublet::detail {

/// Makes each program of a tree with captures; tables of the whole tree are computed once.
class capture_propagator {
public:
    explicit capture_propagator(program_tree const& tree);
    [[nodiscard]] snapshot program_with_captures(program_id program) const;

private:
    program_tree const& tree_;
    /// By program and value: whether a step of the program or of a nested body writes it.
    table<program_id, table<value_id, unsigned char>> written_;
    table<program_id, unsigned char> recomputable_; // each of its steps, and of those of its nested bodies
    bodies_by_step bodies_;
};

/// Ensures:    nodes, edges, values, steps and in-place pairs are those of `program`; a step without bodies
///             keeps its touches, one with bodies has them first. A value that the step itself defines and a
///             body captures is not used by it: the bodies fill it.
/// Complexity: O(touches) of the whole tree, O(b log b) for its b bodies; the touches of a step for each
///             value that its bodies capture or bind, and for each result the bindings of adjacent branches.
/// Throws:     precondition_error if `program` is not in the tree.
[[nodiscard]] snapshot with_captures(program_tree const& tree, program_id program = 0);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/captures.ipp>
#endif

#endif
