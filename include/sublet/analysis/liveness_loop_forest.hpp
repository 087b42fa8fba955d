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
#include <sublet/analysis/live_sets.hpp>
#include <sublet/analysis/liveness_worklist.hpp>
#include <sublet/analysis/strictness.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/dominators.hpp>
#include <sublet/graph/loops.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/graph/traversal.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet::detail {

/// A value that is needed where its tree of the search begins, and written in that tree, is needed on a path
/// on which nothing has written it.  O(V + touches)
template <std::same_as<snapshot> S>
bool is_read_unwritten(S const& p, crossing_values const& cross, bit_rows const& in,
                       depth_first_forest const& search)
{
    std::vector<node_id> root_of(p.nodes());
    bool needed = false;
    for (node_id n : search.preorder) {
        bool const is_root = search.parent[n] == no_node;
        root_of[n] = is_root ? n : root_of[search.parent[n]];
        for (std::size_t w = 0; is_root && w != in.words(); ++w) needed = needed || in[n][w] != 0;
    }
    for (node_id n = 0; needed && n != p.nodes(); ++n)
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s)
            for (touch t : p.touches(s))
                if (t.kind == touch_kind::def && cross.column[t.value] != no_value &&
                    in.test(root_of[n], cross.column[t.value]))
                    return true;
    return false;
}

/// The same of any loops, also such as are entered in their middle: on a way round, the read may hide.
/// O(V + E + values + touches), and what dominators cost
template <std::same_as<snapshot> S>
bool is_read_undominated(S const& p, depth_first_forest const& search)
{
    auto const violation = find_ssa_violation(p, dominators(p.graph(), p.predecessors(), search));
    return violation && violation->what == ssa_fault::not_dominated;
}

/// Complexity: O((V + E) words + E nesting depth) time, O(V words) memory, words = columns / 64.
/// Throws:     precondition_error if a value is written twice, or read where nothing may have written it.
template <std::same_as<snapshot> S>
dense_sets live_by_loop_forest(S const& p, crossing_values const& cross)
{
    SUBLET_EXPECTS(cross.single_def,
                   "sublet: liveness by loop forest needs SSA form: a value is written twice");
    dense_sets sets = own_reads(cross, p.nodes());
    std::size_t const words = sets.in.words();
    if (words == 0) return sets;
    depth_first_forest const search = depth_first(p.graph());
    loop_forest const forest = loops(p.graph(), p.predecessors(), search);
    bool const reducible = forest.is_reducible();

    auto add = [words](bit_rows::word* to, bit_rows::word const* from) {
        for (std::size_t w = 0; w != words; ++w) to[w] |= from[w];
    };
    pass_through pass(words);
    // Tree by tree of the search: an edge into an earlier one, which may well lead into the middle of a loop,
    // finds its sets complete.
    for (std::size_t begin = 0, end = 0; begin != p.nodes(); begin = end) {
        end = search.left[search.preorder[begin]] + std::size_t{1};
        for (std::size_t i = begin; i != end; ++i) {
            node_id const n = search.postorder[i];
            for (node_id s : p.successors(n)) {
                if (search.is_back_edge(n, s)) continue;
                bool const is_plain = reducible || search.entered[s] < begin;
                add(sets.out[n], sets.in[is_plain ? s : forest.outermost_excluding(s, n)]);
            }
            pass(sets.out[n], cross.writes[n], sets.in[n]);
        }
        for (std::size_t i = begin; i != end; ++i) {
            node_id const n = forest.preorder[i];
            if (node_id const header = forest.parent[n]; header != no_node) {
                add(sets.in[n], sets.in[header]);
                add(sets.out[n], sets.in[header]);
            }
            if (forest.is_header(n)) add(sets.out[n], sets.in[n]); // the next turn begins here
        }
    }
    SUBLET_EXPECTS(reducible ? !is_read_unwritten(p, cross, sets.in, search)
                             : !is_read_undominated(p, search),
                   "sublet: liveness by loop forest needs strict SSA form: a value is read where it may not "
                   "have been written");
    return sets;
}

} // namespace sublet::detail

#endif
