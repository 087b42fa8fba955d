// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_FLATTEN_HPP
#define SUBLET_ANALYSIS_FLATTEN_HPP

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

#include <sublet/analysis/flat_tree.hpp>
#include <sublet/graph/program_tree.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// Requires:   `alias_of`, by program and value, says what is a view of what, as in plan_options; it may be
///             left out where there are no views. What it says of captured values is not asked.
/// Ensures:    the steps of the flat program stand in the order of the text, each body where its step is.
/// Complexity: O(V + E + touches) of all programs, O(b log b) for b bodies. No recursion: nesting may be as
///             deep as memory.
/// Throws:     precondition_error where views are not as plan_options asks, or for more values or steps than
///             32-bit ids.
[[nodiscard]] flat_tree flatten(program_tree const& tree,
                                std::vector<std::vector<value_id>> const& alias_of = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/flatten.ipp>
#endif

#endif
