// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_GIVING_NETWORK_HPP
#define SUBLET_ANALYSIS_GIVING_NETWORK_HPP

/// Who may give bytes to whom, as a network that is hardly larger than the program.
///
///     position 1:  ──►(2)──►(3)──► (4)──►(5)     a buffer that begins at 1 takes bytes out at node 2,
///                              └──► (6) ...      one that 1 is the last end of puts bytes in at node 3
///
/// There may be as many pairs of giver and taker as there are buffers squared. But bytes that are free behind
/// a position are free behind all that follow it, so they may as well walk there along the edges of the
/// dependence graph; a giver needs arcs only to where its bytes are free at the earliest.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/later_conflicts.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Two nodes a position: what begins there, and whose last end it is. Behind them a node for each giver whose
/// frontier is another one, and a node for each taker that begins at several positions, if these are few.
///
/// Ensures:    arcs lead from the end of u to the begin of v if and only if u gives to v in every execution;
///             those `loose` may give and take more, those whose conflicts are undecided give less.
/// Complexity: O(positions + edges + buffers + ranges), the walks of frontiers() and a 16th of the visits.
/// Throws:     precondition_error if the weights together exceed 64 bits.
struct giving_network {
    csr_rows arcs;                         // by node, to higher ones but for givers
    std::vector<byte_count> begins, rises; // by node
    std::vector<node_id> begin_of, end_of; // by buffer; `no_node` if it takes nothing, or gives nothing
    node_id first_giver = 0, first_taker = 0;
    std::vector<buffer_id> takers; // by node, from the first of them on
    byte_count total = 0;          // weight of all
    byte_count loose = 0;          // weight of those
    std::uint64_t visits = 0;

    giving_network(dependence_graph const& g, concurrent_lives const& lives, conflict_ranges const& conflicts,
                   std::vector<byte_count> const& weights, std::uint64_t most_visits);
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/giving_network.ipp>
#endif

#endif
