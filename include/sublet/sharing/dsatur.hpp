// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DSATUR_HPP
#define SUBLET_SHARING_DSATUR_HPP

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

#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// Give each of `vertices` the lowest slot that none of its neighbours has, the most saturated first.
///
/// Requires:   each edge stands once in the rows of both its ends; no loops. Vertices that have a slot in
///             `slot_of` keep it and are not in `vertices`; whoever else is not, stays without.
/// Ensures:    no two neighbours have one slot, unless they had. Of equally saturated vertices the next
///             is the one with the most neighbours that wait too, then the lowest id.
/// Complexity: O((V + E) log V) time, O(V + E / 64) memory.
[[nodiscard]] std::vector<slot_id>
color_by_saturation(csr_graph const& g, std::vector<value_id> const& vertices, std::vector<slot_id> slot_of);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/dsatur.ipp>
#endif

#endif
