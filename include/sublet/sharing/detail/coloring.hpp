// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DETAIL_COLORING_HPP
#define SUBLET_SHARING_DETAIL_COLORING_HPP

/// What colourings share: a set of slots, orders of vertices, a large clique, and exact colouring. Included
/// by sharing/color_graph.hpp.

#include <sublet/graph/concepts.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

// --- slot set --------------------------------------------------------------------------------------------

/// The slots that are taken just now, and the lowest that is not.
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
    void erase(slot_id s);

    /// Of those from `from` on.  O(taken slots / 64)
    [[nodiscard]] slot_id lowest_free(slot_id from = 0) const;

private:
    std::vector<std::uint64_t> words_;
};

// --- coloring orders -------------------------------------------------------------------------------------

/// Orders of the vertices of a graph, made for giving them slots one after the other.
///
///     a - b - c      smallest last               the last has the fewest neighbours of all (here: e),
///       \ | /                                    the one before it the fewest without it, and so on
///         d - e      largest cardinality first   next is always who has the most neighbours before it
///
/// In the first order every vertex has few neighbours before it: at most the degeneracy of the graph, and no
/// order does better. In the second, in a chordal graph, the neighbours that a vertex has before it are all
/// neighbours of each other (live ranges on a line or on a tree have a chordal interference graph).
///
/// Source: Matula and Beck, "Smallest-last ordering and clustering and graph coloring algorithms", JACM
/// 30(3), 1983; Tarjan and Yannakakis, "Simple linear-time algorithms to test chordality of graphs, test
/// acyclicity of hypergraphs, and selectively reduce acyclic hypergraphs", SIAM J. Computing 13(3), 1984.

struct smallest_last_order {
    std::vector<value_id> order;
    std::uint32_t degeneracy = 0; ///< the most neighbours that a vertex has before it
};

/// Requires:   each edge stands once in the rows of both its ends; no loops.
/// Ensures:    no order has a lower degeneracy. It is filled from the end; of equals the one whose neighbour
///             was taken last, else the lowest id.
/// Complexity: O(V + E) time, O(V) memory.
[[nodiscard]] smallest_last_order smallest_last(csr_graph const& g);

/// Requires:   each edge stands once in the rows of both its ends; no loops.
/// Ensures:    in a chordal graph, the neighbours of a vertex before it are neighbours of each other. Of two
///             equals the one comes whose neighbour came last, else the lowest id.
/// Complexity: O(V + E) time, O(V) memory.
[[nodiscard]] std::vector<value_id> largest_cardinality_first(csr_graph const& g);

// --- cliques ---------------------------------------------------------------------------------------------

/// Values that all interfere with each other: each needs a slot of its own, whatever the plan.
///
///     cliques  {40, 8, 8} bytes     no plan has fewer than 3 slots
///              {16, 16}             or fewer bytes than 40 + 16 + 8
///
/// For the i largest of a clique lie in i slots, each as large as the smallest of them at least: so the i-th
/// largest slot of any plan holds the i-th largest member of every clique.
///
/// The largest clique is hard to find in general. Here each vertex v has one, made from that of u, the last
/// in a colouring order of those neighbours of v that come before it: v, and its neighbours in the clique of
/// u. In a chordal graph, in the order of largest cardinality, no neighbour is lost on that way, and the
/// clique of v is v and all its neighbours before it.

/// What no plan of slots goes below.
struct clique_bound {
    std::vector<value_id> clique; ///< ascending; each needs a slot of its own
    byte_count bytes = 0;         ///< of the slots together, each as large as its largest tenant
};

/// The largest clique found in an interference graph, and the bytes that all found ones show to be needed.
///
/// Requires:   each edge stands once in the rows of both its ends; no loops. `bytes` has an entry for every
///             vertex, and one of 0 bytes has no edges.
/// Ensures:    of equally large cliques the first found. In a chordal graph there is none larger, and
///             `bytes` is what the cliques of the graph show, all of them: it says more than the clique of
///             most bytes. A vertex of 0 bytes is in no clique.
/// Complexity: O(V + E log V) time, O(V + E) memory.
/// Throws:     precondition_error if the bound exceeds 64 bits.
[[nodiscard]] clique_bound find_cliques(csr_graph const& interference, std::vector<byte_count> const& bytes);

// --- dsatur ----------------------------------------------------------------------------------------------

/// Give slots to the vertices of a graph, next always to the one that has the fewest left to choose from.
///
///     a: slot 0 --- b: slot 1       c and d have neighbours in one slot each, e has them in two:
///     |     \       /     |         e is next, for it could be the one that needs a third
///     c         e         d
///
/// In how many slots a vertex has neighbours is its saturation. On a bipartite graph this order finds two
/// slots, for it never leaves a connected part before it is done; in general there is no bound but the
/// largest degree + 1, and it is hard to beat for its price.
///
/// Source: Brélaz, "New methods to color the vertices of a graph", CACM 22(4), 1979. We differ in one thing:
/// a vertex with d neighbours finds one of the slots 0 ... d free, so those above d do not count for it. Thus
/// d + 1 bits hold all that is to be known of its neighbours.

/// Give each of `vertices` the lowest slot that none of its neighbours has, the most saturated first.
///
/// Requires:   each edge stands once in the rows of both its ends; no loops. Vertices that have a slot in
///             `slot_of` keep it and are not in `vertices`; whoever else is not, stays without.
/// Ensures:    no two neighbours have one slot, unless they had. Of equally saturated vertices the next
///             is the one with the most neighbours that wait too, then the lowest id.
/// Complexity: O((V + E) log V) time, O(V + E / 64) memory.
[[nodiscard]] std::vector<slot_id>
color_by_saturation(csr_graph const& g, std::vector<value_id> const& vertices, std::vector<slot_id> slot_of);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/coloring.ipp>
#endif

#endif
