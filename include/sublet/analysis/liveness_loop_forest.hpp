// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LIVENESS_LOOP_FOREST_HPP
#define SUBLET_ANALYSIS_LIVENESS_LOOP_FOREST_HPP

/// Liveness of a program in strict SSA form in two passes, without iteration.
///
///     pass 1, postorder: as if there were no back edges        pass 2, from the outside in: what is alive
///                                                              where a loop begins is so throughout it
///         1 <--.     a is used in 2 only:                          1 <--.     a: 1, 2, 3
///         2    |     a: 1, 2                                       2    |
///         3 ---'                                                   3 ---'
///
/// Why that is enough: a value whose def dominates its uses and which is alive at the header of a loop was
/// defined outside, so that the next turn of the loop needs it as this one does. In an irreducible loop an
/// edge into the middle counts as one to the header: of the outermost loop that it enters.
///
/// Source: Boissinot, Brandner, Darte, Dupont de Dinechin and Rastello, "A Non-iterative Data-flow Algorithm
/// for Computing Liveness Sets in Strict SSA Programs", APLAS 2011.

#include <sublet/analysis/crossing.hpp>
#include <sublet/analysis/liveness_worklist.hpp>
#include <sublet/graph/snapshot.hpp>

namespace sublet::detail {

/// Complexity: O((V + E) words + E nesting depth) time, O(V words) memory, words = columns / 64.
/// Throws:     precondition_error if a value is written twice, or if its def does not dominate its uses and
///             that makes a difference: the sets are right or there are none.
dense_sets live_by_loop_forest(snapshot const& p, crossing_values const& cross);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/liveness_loop_forest.ipp>
#endif

#endif
