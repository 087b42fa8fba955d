// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_PREFIX_CLIQUES_HPP
#define SUBLET_SHARING_PREFIX_CLIQUES_HPP

/// The largest clique among the first one, two, three ... vertices of a graph.
///
///     vertices    0   1   2   3   4        1 and 2 interfere with each other and both with 4
///     largest     1   1   2   2   3        {0}, then {1, 2}, then {1, 2, 4}
///
/// If vertices are values and the largest come first, these are the slots that are needed of at least each
/// size, and their sum over all sizes is what no plan goes below. A new vertex makes the largest clique grow
/// by one at most, and only if it is a member: so each asks one question, among its neighbours before it. If
/// those can be dealt out to few classes in which nobody interferes, there is no large clique among them; and
/// if some are left over, one of these is in every clique that is large enough.
///
/// Source: Östergård, "A fast algorithm for the maximum clique problem", Discrete Applied Mathematics 120,
/// 2002 (one vertex after the other); Tomita and Seki, "An efficient branch-and-bound algorithm for finding a
/// maximum clique", DMTCS 2003 (the classes); San Segundo, Rodríguez-Losada and Jiménez, "An exact
/// bit-parallel algorithm for the maximum clique problem", Computers and Operations Research 38, 2011.

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/graph/csr_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

struct prefix_cliques {
    csr_rows cliques;                ///< row i: i + 1 vertices; the last is the first to close such a clique
    std::vector<std::uint32_t> size; ///< by vertex: of the largest clique found among it and those before it
    std::uint64_t nodes = 0;         ///< members tried
    bool is_exact = true;            ///< no search ran out of nodes: there are no larger cliques
};

/// Look for them all. `interferes` has a row for each vertex, and one for each pair in both rows.
///
/// Requires:   no vertex interferes with itself.
/// Ensures:    each row of `cliques` is one; if `is_exact`, none of those that `size` speaks of is larger.
/// Complexity: O(cliques * vertices / 64) time for each node, of which a vertex has `patience` at most;
///             O(largest clique * vertices / 64) memory.
[[nodiscard]] prefix_cliques find_prefix_cliques(bit_rows const& interferes, std::size_t vertices,
                                                 std::uint64_t patience);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/prefix_cliques.ipp>
#endif

#endif
