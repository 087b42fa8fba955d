// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DETAIL_COLORING_HPP
#define SUBLET_SHARING_DETAIL_COLORING_HPP

/// Building blocks of graph colouring: a set of slots, vertex orders, cliques as lower bounds, and DSATUR.
/// All are greedy and take O((V + E) log V) at most. Every graph must have each edge once in the rows of both
/// its ends, and no loops.

#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/internal/values_of_nodes.hpp>

#include <cstdint>
#include <vector>

// --- slot set --------------------------------------------------------------------------------------------

/// A set of occupied slots, and the lowest that is free.
///
///     taken   0  1  _  3         lowest_free() is 2, lowest_free(3) is 4

namespace sublet::detail {

class slot_set {
public:
    void clear() { words_.assign(words_.size(), 0); }

    [[nodiscard]] bool contains(slot_id s) const
    {
        return s / 64 < words_.size() && (words_[s / 64] >> s % 64 & 1) != 0;
    }
    void insert(slot_id s);
    void erase(slot_id s) { erase_if(true, s); }
    /// Without a branch. Requires: s, or a higher slot, was in the set before.
    void erase_if(bool condition, slot_id s) { words_[s / 64] &= ~(std::uint64_t{condition} << s % 64); }
    /// Requires: s, or a higher slot, was in the set before.
    void insert_again(slot_id s) { words_[s / 64] |= std::uint64_t{1} << s % 64; }

    /// The lowest free slot from `from` on.  O(taken slots / 64)
    [[nodiscard]] slot_id lowest_free(slot_id from = 0) const;

private:
    std::vector<std::uint64_t> words_;
};

// --- neighbours ------------------------------------------------------------------------------------------

/// The values that interfere with v, in an interference graph of which each vertex is the value with its
/// number.
[[nodiscard]] inline values_of_nodes values_next_to(csr_graph const& g, value_id v)
{
    return values_of_nodes(g[node_id::of(+v)]);
}

// --- coloring orders -------------------------------------------------------------------------------------

/// Vertex orders for greedy colouring.
///
///     a - b - c      smallest last               the last has the lowest degree (here: e), the one before it
///       \ | /                                    the lowest degree in the graph without e, and so on
///         d - e      largest cardinality first   next is the vertex with the most neighbours before it
///
/// In the first order every vertex has at most degeneracy many neighbours before it, and no order has a lower
/// maximum. In the second, if the graph is chordal, the neighbours of a vertex before it form a clique (live
/// ranges on a line or a tree have a chordal interference graph).
///
/// Source: Matula and Beck, "Smallest-last ordering and clustering and graph coloring algorithms", JACM
/// 30(3), 1983; Tarjan and Yannakakis, "Simple linear-time algorithms to test chordality of graphs, test
/// acyclicity of hypergraphs, and selectively reduce acyclic hypergraphs", SIAM J. Computing 13(3), 1984.

struct smallest_last_order {
    std::vector<value_id> order;
    std::uint32_t degeneracy = 0; ///< the most neighbours that a vertex has before it
};

/// Ensures:    no order has a lower degeneracy. It is filled from the end; of equal degrees the vertex with
///             the neighbour removed last, else the lowest id.
/// Complexity: O(V + E) time, O(V) memory.
[[nodiscard]] smallest_last_order smallest_last(csr_graph const& g);

/// Ensures:    in a chordal graph, the neighbours of a vertex before it form a clique. Of equals the vertex
///             with the neighbour that came last, else the lowest id.
/// Complexity: O(V + E) time, O(V) memory.
[[nodiscard]] std::vector<value_id> largest_cardinality_first(csr_graph const& g);

// --- cliques ---------------------------------------------------------------------------------------------

/// Cliques of an interference graph as lower bounds: each member needs a slot of its own in every plan.
///
///     cliques  {40, 8, 8} bytes     no plan has fewer than 3 slots
///              {16, 16}             or fewer bytes than 40 + 16 + 8
///
/// The i largest members of a clique lie in i slots, each at least as large as the smallest of them: the i-th
/// largest slot of any plan is at least as large as the i-th largest member of every clique.
///
/// The largest clique is NP-hard to find. Here each vertex v extends the clique of u, the last in a colouring
/// order of the neighbours of v before it: v, and its neighbours in the clique of u. In a chordal graph, in
/// the order of largest cardinality, that is v and all its neighbours before it.

struct clique_bound {
    std::vector<value_id> clique; ///< ascending; each needs a slot of its own
    byte_count bytes = 0;         ///< of all slots together
};

/// The largest clique found in an interference graph, and the bytes that all cliques found prove necessary.
///
/// Requires:   `bytes` has an entry for every vertex, and one of 0 bytes has no edges.
/// Ensures:    of equally large cliques the first found. In a chordal graph none is larger, and `bytes` is
///             the bound by all cliques of the graph together, which is at least the bytes of the heaviest. A
///             vertex of 0 bytes is in no clique.
/// Complexity: O(V + E log V) time, O(V + E) memory.
/// Throws:     precondition_error if the bound exceeds 64 bits.
[[nodiscard]] clique_bound find_cliques(csr_graph const& interference,
                                        table<value_id, byte_count> const& bytes);

// --- dsatur ----------------------------------------------------------------------------------------------

/// DSATUR: the next vertex to get a slot is always the one with the fewest slots to choose from.
///
///     a: slot 0 --- b: slot 1       c and d have neighbours in one slot each, e has them in two:
///     |     \       /     |         e is next, because it may need a third slot
///     c         e         d
///
/// The saturation of a vertex is the number of slots that its neighbours have. On a bipartite graph this
/// order finds two slots, since it finishes each connected component first; in general the only bound is the
/// largest degree + 1.
///
/// Source: Brélaz, "New methods to color the vertices of a graph", CACM 22(4), 1979. One difference: a vertex
/// with d neighbours finds a free slot in 0 ... d, so slots above d do not count for its saturation, and
/// d + 1 bits per vertex suffice.

/// Gives each of `vertices` the lowest slot that none of its neighbours has, the most saturated first.
///
/// Requires:   vertices that have a slot in `slot_of` keep it and are not in `vertices`; other vertices
///             outside it stay without a slot.
/// Ensures:    no two neighbours have one slot, unless they had. Of equally saturated vertices the next one
///             has the most uncoloured neighbours, then the lowest id.
/// Complexity: O((V + E) log V) time, O(V + E / 64) memory.
[[nodiscard]] table<value_id, slot_id> color_by_saturation(csr_graph const& g,
                                                           std::vector<value_id> const& vertices,
                                                           table<value_id, slot_id> slot_of);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/coloring.ipp>
#endif

#endif
