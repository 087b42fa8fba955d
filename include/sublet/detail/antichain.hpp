// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_DETAIL_ANTICHAIN_HPP
#define SUBLET_DETAIL_ANTICHAIN_HPP

/// Bytes that no plan can do without if it is to be valid under every schedule.
///
///     a: 4 ──► b: 3 ──► d: 2         b and c may be there at the same time, and so may a and either of them:
///        └───► c: 1 ──► ┘            a gives to d alone. {a, b, c} is the heaviest antichain: 8 bytes
///
/// Buffers of which neither gives to the other under every schedule need bytes of their own, all of them at
/// once. The most such buffers can weigh is by Dilworth's theorem the weight of all, less the most that can
/// be given on; and what is given on is a flow down the graph of dependences itself
/// (detail/reuse_network.hpp): it rises where the bytes of a buffer are free, runs along edges of
/// unlimited width, and at every position as much as begins there may leave it.
///
/// The flow is made from one position to the next: freed bytes are taken along, and where they are too few
/// others are fetched that rest elsewhere (detail/reuse_network.hpp). Positions where none were to
/// be had, and those that were searched in vain, are the cut: who begins in it and is not free in it is a
/// member of the antichain. So the flow only proposes; the members are proved without it.
///
/// Source: Dilworth, "A decomposition theorem for partially ordered sets", Annals of Mathematics 1950;
/// Ford and Fulkerson, "Flows in networks", Princeton 1962. Ours is that the network is the program's own.

#include <sublet/analysis/dependences.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

namespace detail {

struct antichain {
    std::vector<buffer_id> members; ///< ascending; none gives to another
    byte_count bytes = 0;           ///< what they weigh
    byte_count upper_bound = 0;     ///< no antichain weighs more
    bool is_exact = false;          ///< bytes == upper_bound
    std::uint64_t visits = 0;       ///< of positions and nodes, by searches
};

/// Leave out members that cannot be shown to give to no other, and those of `multi_begin` that others give to.
///
/// There are two ways to show it. If the cut is closed, holding with each position all that come before it,
/// one end is enough that leads to no position of the cut directly: all that comes after that end lies
/// outside. And if the conflicts are decided, it is enough that no other member begins outside the ranges.
///
/// Requires: a member is given, or its first begin is in the `cut`, or it is one of `multi_begin`, which ascend.
void keep_proved(dependence_graph const& g, concurrent_live_ranges const& lives,
                 conflict_ranges const& conflicts, std::vector<buffer_id> const& multi_begin,
                 std::vector<unsigned char> const& cut, std::vector<buffer_id>& members);

/// The heaviest set of buffers of which none gives to another, `weights` by buffer; or one that is heavy.
///
/// Requires:   `lives` are of `g`, and `conflicts` of both. To have the bound of one pool, let the buffers of
///             others weigh nothing: those are no members.
/// Ensures:    `bytes` is a lower bound in any case: that no member gives to another is shown apart from the
///             flow. The heaviest is found, and known to be, unless visits run out, conflicts are undecided,
///             or so many buffers begin at several positions that to compare these with all would take more
///             than a 16th of the visits. `visits` is how many positions searches for frontiers, and how many
///             nodes searches for bytes, may visit; 0: 2^25, or 64 for each position and buffer if more.
/// Complexity: O(positions + edges + buffers + ranges) and the searches: in the worst case one through the
///             whole graph for each position; O(1) each where branches are short. As much memory.
/// Throws:     precondition_error if the weights together exceed 64 bits.
[[nodiscard]] antichain heaviest_antichain(dependence_graph const& g, concurrent_live_ranges const& lives,
                                           conflict_ranges const& conflicts,
                                           std::vector<byte_count> const& weights, std::uint64_t visits = 0);

/// The same, if the conflicts are not needed for anything else.
[[nodiscard]] inline antichain heaviest_antichain(dependence_graph const& g,
                                                  concurrent_live_ranges const& lives,
                                                  std::vector<byte_count> const& weights,
                                                  std::uint64_t visits = 0)
{
    return heaviest_antichain(g, lives, find_conflict_ranges(g, lives), weights, visits);
}

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/antichain.ipp>
#endif

#endif
