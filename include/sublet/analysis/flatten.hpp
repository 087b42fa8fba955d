// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_FLATTEN_HPP
#define SUBLET_ANALYSIS_FLATTEN_HPP

/// Trees of programs: one number for each value, the tree as one program, and one program of the tree by
/// itself.

#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

// --- tree values -----------------------------------------------------------------------------------------

/// One number for each value of a tree of programs, however many names it has.
///
///     program 0        a   b              0  1
///     body 1           c   d = b             1  2       d captures b
///     body of that     e = d   f             1  3       e captures d, so it is b as well
///
/// A captured value is the outer value itself. All others are new; they are numbered by program, and in
/// each in its own order.

namespace sublet {

namespace detail {

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

} // namespace detail

// --- flat tree -------------------------------------------------------------------------------------------

/// What becomes of a tree of programs that is flattened, and how one finds back.
///
///     flat step      0       1           2       3         4
///     step_of        whole   beginning   move    whole     end          part
///                    0, 0    0, 1        1, 0    1, 0      0, 1         program and step, or body and move
///
/// Data, made by flatten(): one program with control flow, and for each of its values and steps the program
/// of the tree that it comes from.

enum class flat_part : std::uint8_t {
    whole,     ///< a step without bodies
    beginning, ///< of a step with bodies
    end,       ///< of a step with bodies
    move,      ///< a copy that a binding asks for
    nothing    ///< a place where paths meet
};

struct flat_step {
    flat_part part = flat_part::nothing;
    program_id program = 0; ///< of a move: the body
    step_id step = no_step; ///< of the program; of a move: its number in `moves`
    friend bool operator==(flat_step, flat_step) = default;
};

enum class move_time : std::uint8_t { enter, again, leave };

struct flat_move {
    program_id body = 0;
    move_time when = move_time::enter;
    value_id from = no_value; ///< flat
    value_id to = no_value;   ///< flat
    step_id step = no_step;   ///< flat
    friend bool operator==(flat_move, flat_move) = default;
};

/// Of spares, from `first_spare` on, `value_of` says which value they keep a copy of.
struct flat_tree : detail::tree_values {
    snapshot program;
    value_id first_spare = 0;
    std::vector<flat_step> step_of; ///< by flat step
    std::vector<flat_move> moves;   ///< those of one place stand together, in the order in which to do them
    friend bool operator==(flat_tree const&, flat_tree const&) = default;
};

// --- flatten ---------------------------------------------------------------------------------------------

/// A tree of programs as one program with control flow: what the bodies of a step do stands between the
/// beginning of the step and its end.
///
///     once        branch                     loop
///     begin       begin ──┬──────┐           begin
///     moves in         moves   moves         moves in
///     body             body    body          again? ◄──────┐      moves in:   inner   = initial
///     moves out        moves   moves         │  └► body    │      once more:  inner   = next
///     end         end ◄───┴──────┘           │     moves ──┘      moves out:  result  = inner
///                                            moves out, end
///
/// A captured value is the outer value itself, however deep the capture; a bound one is a value of its own,
/// and the copies that bind it are steps with an in-place pair: where nothing stands against it a plan lets
/// both be the same bytes, and no copy is left. Everything else follows from liveness: what a loop reads is
/// alive throughout it, what only one branch needs is not alive in the other, what a body leaves is dead.
///
/// The copies of one place happen at once as far as the tree is concerned, here one after the other: none
/// writes what another still has to read. Where they run in a circle (x and y change places) a spare value
/// breaks it. So whoever runs the copies in the order of `moves` needs no thought of his own.
///
/// Touches of a step beside its bodies: a use holds its storage from the beginning to the end of the step, an
/// early use at the beginning only (say so of what is just handed to the bodies); a def is at the end, but
/// what a body gives as a result is defined by the body, and what a body captures (a buffer that a loop fills
/// piece by piece) is defined at the beginning.
///
/// What a backward twin reads of a forward step net's values is kept a time step at a time by the caller: in
/// the body such a value is external, or ineligible, for one storage cannot hold those of all the steps.

/// Requires:   `alias_of`, by program and value, says what is a view of what, as in plan_options; it may be
///             left out where there are no views. What it says of captured values is not asked.
/// Ensures:    the steps of the flat program stand in the order of the text, each body where its step is.
/// Complexity: O(V + E + touches) of all programs, O(b log b) for b bodies. No recursion: nesting may be as
///             deep as memory.
/// Throws:     precondition_error where views are not as plan_options asks, or for more values or steps than
///             32-bit ids.
[[nodiscard]] flat_tree flatten(program_tree const& tree,
                                std::vector<std::vector<value_id>> const& alias_of = {});

// --- with captures ---------------------------------------------------------------------------------------

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
#include <sublet/analysis/impl/flatten.ipp>
#endif

#endif
