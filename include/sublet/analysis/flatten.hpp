// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_FLATTEN_HPP
#define SUBLET_ANALYSIS_FLATTEN_HPP

/// A tree of programs made from nested ones, flattened to one program, and each program of it with the
/// effects of its bodies. Flattening is O(V + E + touches), and O(b log b) for b bodies. Nothing is
/// recursive: only memory limits the depth.

#include <sublet/analysis/detail/list_bodies.hpp>
#include <sublet/analysis/internal/tree_values.hpp>
#include <sublet/analysis/program_tree.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// The tree of a program with nodes that contain programs, to any depth.
///
/// Ensures:    bodies are numbered parents first, those of one program by node and in the order of bodies(n).
/// Complexity: O(V + E + touches + b log b) in all programs, b = bodies; bodies(n) is called once per node.
/// Throws:     as add_body, and any exception of the program.
template <nested_program P>
[[nodiscard]] program_tree as_tree(P const& p)
{
    program_tree tree(p);
    std::vector<detail::unlisted_program> open{{&p, 0, &detail::list_bodies<P>}};
    for (std::size_t i = 0; i != open.size(); ++i) {
        detail::unlisted_program const next = open[i]; // the vector grows
        next.list(next, tree, open);
    }
    return tree;
}

// --- flat tree -------------------------------------------------------------------------------------------

/// The result of flatten(): one program with control flow, and the origin of its values and steps.
///
///     flat step      0       1           2       3         4
///     step_of        whole   beginning   move    whole     end          part
///                    0, 0    0, 1        1, 0    1, 0      0, 1         program and step, or body and move

/// `flat_of[i][v]` is the flat value that value v of program i is, and `value_of[f]` the outermost name of
/// flat value f; of a spare value, from `first_spare` on, that of the value that it holds a copy of.
struct flat_tree : detail::tree_values {
    /// What a flat step stands for.
    enum class part : std::uint8_t {
        whole,     ///< a step without bodies
        beginning, ///< of a step with bodies
        end,       ///< of a step with bodies
        move,      ///< a copy for a binding
        nothing    ///< a join of control flow
    };

    /// The origin of a flat step.
    struct step {
        flat_tree::part part = flat_tree::part::nothing; ///< what it stands for
        program_id program = 0; ///< for a move: the body
        step_id step = no_step; ///< in the program; for a move: its index in `moves`
        friend bool operator==(flat_tree::step, flat_tree::step) = default;
    };

    /// When a move is made: at entry of a body, before the next iteration, at exit.
    enum class move_time : std::uint8_t { enter, again, leave };

    /// A copy of a value for a binding.
    struct move {
        program_id body = 0;                                     ///< the body with the binding
        flat_tree::move_time when = flat_tree::move_time::enter; ///< at which of its borders
        value_id from = no_value; ///< flat
        value_id to = no_value;   ///< flat
        step_id step = no_step;   ///< flat
        friend bool operator==(flat_tree::move, flat_tree::move) = default;
    };

    snapshot program;         ///< the flat program
    value_id first_spare = 0; ///< from here on values are spare ones; each breaks a cycle of moves
    table<step_id, flat_tree::step> step_of; ///< of each flat step
    std::vector<flat_tree::move> moves;      ///< those of one place are adjacent, in execution order
    friend bool operator==(flat_tree const&, flat_tree const&) = default;
};

// --- flatten ---------------------------------------------------------------------------------------------

/// Flattens a tree to one program with control flow: the bodies of a step come between its beginning and end.
///
///     once        branch                     loop
///     begin       begin ──┬──────┐           begin
///     moves in         moves   moves         moves in
///     body             body    body          header ◄──────┐      moves in:   inner   = initial
///     moves out        moves   moves         │  └► body    │      iteration:  inner   = next
///     end         end ◄───┴──────┘           │     moves ──┘      moves out:  result  = inner
///                                            moves out, end
///
/// A captured value is the outer value itself. A bound value is copied by a step with an in-place pair:
/// unless they conflict, a plan can give both the same bytes, and no copy remains. Liveness does the rest: a
/// value that a loop reads is live throughout it, a value that one branch needs is not live in the other.
///
/// A step with bodies is not run again: neither its beginning nor its end alone computes its results. Steps
/// of bodies say what they said.
///
/// The copies of one place are parallel in the tree, and sequential in the flat program and in `moves`: none
/// overwrites a value that another has yet to read. A spare value breaks a cycle.
///
/// Touches of a step with bodies: a use holds its storage from the beginning to the end of the step, an early
/// use at the beginning only (for values that are just passed to the bodies); a def is at the end, but a
/// result of a body is defined by the body, and a value that a body captures (a buffer that a loop fills
/// piece by piece) is defined at the beginning.
///
/// If a backward loop reads values of a forward loop, the caller keeps them for each iteration: in the body
/// such a value is external or ineligible, because one storage cannot hold those of all iterations.

/// Flattens a tree.
///
/// Requires:   `alias_of`, by program and value, is the value that it is a view of, as in plan_options;
///             empty: no views. Entries of captured values are ignored.
/// Ensures:    the steps of the flat program are in the order of the text, each body at its step.
/// Complexity: O(V + E + touches) of all programs, O(b log b) for b bodies.
/// Throws:     precondition_error for views that plan_options does not allow, or for ids beyond 32 bits.
[[nodiscard]] flat_tree flatten(program_tree const& tree,
                                table<program_id, std::vector<value_id>> const& alias_of = {});

// --- with captures ---------------------------------------------------------------------------------------

/// One program of a tree, in which each step also touches the outer values that its bodies touch.
///
///     0: a = ...                       0: def a
///     1: b = while { ... a ... }       1: use a, def b      the capture is a use of the step,
///     2: use b                         2: use b             so a is live until then
///
/// For plans of this program without its bodies. A value that is captured, or is the initial value of a
/// binding, is used by the step; a result of a body is defined by it; a value that is captured and written,
/// at any depth, is both, because it may be written in part, or not on every path; and so is a result that
/// not all branches of a choice define. A step with bodies may run again if it and all steps of its bodies
/// say so.

/// All programs of a tree, each with what its bodies touch.
///
/// Ensures:    nodes, edges, values, steps and in-place pairs are those of the program; a step without bodies
///             keeps its touches, one with bodies has them first. A value that the step itself defines and a
///             body captures is not used by it: the bodies fill it.
/// Complexity: O(touches) of all programs, O(b log b) for b bodies; the touches of a step for each value that
///             its bodies capture or bind, and for each result the bindings of adjacent branches.
[[nodiscard]] table<program_id, snapshot> each_with_captures(program_tree const& tree);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/flatten.ipp>
#endif

#endif
