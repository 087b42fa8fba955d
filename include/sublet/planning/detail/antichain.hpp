// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_ANTICHAIN_HPP
#define SUBLET_PLANNING_DETAIL_ANTICHAIN_HPP

/// A lower bound for plans that are valid under every schedule: the heaviest antichain of buffers.
///
///     a: 4 ──► b: 3 ──► d: 2         b and c may be live together, and so may a and either of them:
///        └───► c: 1 ──► ┘            only d may reuse a. {a, b, c} is the heaviest antichain: 8 bytes
///
/// Buffers of which none may reuse the bytes of another need separate bytes. By Dilworth's theorem the
/// heaviest such set weighs the total weight less the largest amount of reuse. Reuse is a flow in the
/// dependence graph itself (detail/reuse_network.hpp): supply where the bytes of a buffer become free,
/// unlimited capacity on edges, and demand at each position for the bytes that begin there.
///
/// Chains, forks and joins are contracted first. The flow through what is left is built node by node: freed
/// bytes move along, and where they do not suffice, augmenting paths fetch excess from elsewhere. The
/// positions that no excess can reach are the cut: a buffer that begins in it and becomes free outside is a
/// member of the antichain. The flow only proposes members; a separate test proves them.
///
/// Source: Dilworth, "A decomposition theorem for partially ordered sets", Annals of Mathematics 1950;
/// Ford and Fulkerson, "Flows in networks", Princeton 1962. New here: the network is the program's own graph.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/core/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

struct antichain {
    std::vector<buffer_id> members; ///< ascending; none may reuse another
    byte_count bytes = 0;           ///< weight of the members
    byte_count upper_bound = 0;     ///< no antichain weighs more
    bool is_exact = false;          ///< bytes == upper_bound
    std::uint64_t visits = 0;       ///< work of the searches: positions and nodes visited
};

/// Removes members for which it is not shown that no other member may reuse their bytes, and those of
/// `multi_begin` that may reuse bytes of another.
///
/// There are two tests. If the cut is closed downwards, it suffices that one end has no successor in the cut:
/// all that follows that end lies outside. If the conflicts are decided, it suffices that no other member
/// begins outside the conflict ranges.
///
/// Requires: a member is given, or its first begin is in the `cut`, or it is one of `multi_begin`, which
///           ascends.
void keep_proved(dependence_graph const& g, concurrent_live_ranges const& lives,
                 conflict_ranges const& conflicts, std::vector<buffer_id> const& multi_begin,
                 table<position_id, unsigned char> const& cut, std::vector<buffer_id>& members);

/// The usual work budget.
[[nodiscard]] std::uint64_t antichain_visits(dependence_graph const& g, std::size_t buffers);

/// The heaviest antichain of buffers, of which `weights` are; or a heavy one.
///
/// Requires:   `lives` are of `g`, and `conflicts` of both. For the bound of one pool, the buffers of other
///             pools have weight 0: such buffers are no members.
/// Ensures:    `bytes` is a valid lower bound in any case, since members are proved without the flow. The
///             result is the heaviest and known to be, unless the visits are spent, conflicts are undecided,
///             or so many buffers begin at several positions that comparing them with all others takes more
///             than a 16th of the visits. `visits` is the work budget of positions and nodes to visit; 0:
///             antichain_visits(), which are 2^25, or 64 for each position and buffer if that is more.
/// Complexity: O(positions + edges + buffers + ranges) and the searches: in the worst case one through the
///             whole graph for each position; none if the graph is series-parallel, O(1) each where branches
///             are short. As much memory.
/// Throws:     precondition_error if the sum of weights exceeds 64 bits.
[[nodiscard]] antichain heaviest_antichain(dependence_graph const& g, concurrent_live_ranges const& lives,
                                           conflict_ranges const& conflicts,
                                           table<buffer_id, byte_count> const& weights,
                                           std::uint64_t visits = 0);

/// Computes the conflicts.
[[nodiscard]] inline antichain heaviest_antichain(dependence_graph const& g,
                                                  concurrent_live_ranges const& lives,
                                                  table<buffer_id, byte_count> const& weights,
                                                  std::uint64_t visits = 0)
{
    return heaviest_antichain(g, lives, find_conflict_ranges(g, lives), weights, visits);
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/antichain.ipp>
#endif

#endif
