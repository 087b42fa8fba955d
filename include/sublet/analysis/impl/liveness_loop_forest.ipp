// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_LIVENESS_LOOP_FOREST_IPP
#define SUBLET_ANALYSIS_IMPL_LIVENESS_LOOP_FOREST_IPP

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/analysis/liveness_loop_forest.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/loops.hpp>
#include <sublet/graph/traversal.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet::detail {

SUBLET_DECL dense_sets live_by_loop_forest(snapshot const& p, crossing_values const& cross)
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
    // If a def does not dominate a use, that shows where the def stands, for what is alive throughout a loop
    // must not be defined in it, or where an edge into the middle of a loop counted as one to its header.
    bool is_strict = true;
    for (node_id n = 0; n != p.nodes(); ++n) {
        for (std::uint32_t c : cross.writes[n]) is_strict = is_strict && !sets.in.test(n, c);
        if (reducible) continue;
        for (node_id s : p.successors(n)) {
            bit_rows::word const* const needed = sets.in[s];
            for (std::size_t w = 0; w != words; ++w)
                is_strict = is_strict && (needed[w] & ~sets.out[n][w]) == 0;
        }
    }
    SUBLET_EXPECTS(is_strict,
                   "sublet: liveness by loop forest needs strict SSA form: a value is read where it "
                   "may not have been written");
    return sets;
}

} // namespace sublet::detail

#endif
