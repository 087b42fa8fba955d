// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_RELINK_CHAINS_HPP
#define SUBLET_SHARING_RELINK_CHAINS_HPP

/// Make room in slots that seem full: let chains of buffers exchange their ends.
///
///     slot 0    a ─► b          slot 0    a ─► d       d conflicts with b and with c; but a gives to it as
///     slot 1    c               slot 1    c ─► b       well, and c gives to b
///     slot 2    d
///
/// A slot is a chain of which each buffer gives its bytes to the next. To save one, the first of a chain has
/// to follow another buffer, whose own successor then has to follow a third, and so on, until the last of a
/// chain is met, who has no successor to lose: an alternating path, found by a search that visits each buffer
/// once. Chains cost what their largest buffers cost, so a path is taken only if all of them together cost
/// less than before.
///
/// Source: the augmenting path of Berge, "Two theorems in graph theory", PNAS 1957, here with a price.

#include <sublet/sharing/takers.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// Buffers of one pool in slots.
struct sized_chains {
    std::vector<slot_id> slot_of;       ///< by place in the order of begins
    std::vector<byte_count> slot_bytes; ///< by slot: of its largest tenant
};

/// Look for a way to link the chains anew that costs fewer bytes, from the last slot on, then from the first.
///
/// Requires:   `chains` are chains of `members`; `sizes`, by buffer, add up to less than 2^64.
/// Ensures:    true: they are now, and cost less, and the largest slots have the lowest numbers; false: they
///             are as they were. `visits` grows by the buffers looked at.
/// Complexity: O((members + ranges) log members), and the lengths of the chains along each path that is
/// tried.
[[nodiscard]] bool relink_chains(takers const& members, std::vector<byte_count> const& sizes,
                                 sized_chains& chains, std::uint64_t& visits);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/relink_chains.ipp>
#endif

#endif
