// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_CLIQUES_HPP
#define SUBLET_SHARING_CLIQUES_HPP

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

#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

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

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/cliques.ipp>
#endif

#endif
