// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_LARGEST_FIRST_HPP
#define SUBLET_SHARING_LARGEST_FIRST_HPP

/// Slots that serve every schedule, the largest buffers first: no slot ever grows.
///
///     a: 10 ──► b: 64 ──► c: 48 ──► d: 16        b opens slot 0, 64 bytes
///                                                c conflicts with b and opens slot 1, 48 bytes
///     slot 0    b ─► d                           d has room behind b
///     slot 1    a ─► c                           a has room before c
///
/// A slot is paid for by its first tenant, and all that find room in it later live there for nothing. Who
/// finds none opens another, unless it costs less to link all chains anew (relink_chains.hpp).
///
/// The fewest bytes are NP-hard to find even where all positions are ordered. What no plan of slots goes
/// below can be computed, though: least_slot_bytes() of fewest_slots.hpp, which this often meets.
///
/// Source: first fit by falling size as in Pemmaraju, Raman and Varadarajan, "Max-coloring and online
/// coloring with bandwidths on interval graphs", TALG 2011; here over a partial order, and with relinking.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/later_conflicts.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

struct largest_first_options {
    per_value<pool_id> pool = pool_id{0}; ///< by buffer: only buffers of one pool share
    per_value<bool> eligible = true;      ///< by buffer: false keeps a slot of its own
    /// No more chains are linked anew once so many buffers have been looked at for that. A count and not a
    /// time, so that the same problem has the same answer everywhere.
    std::uint64_t visits = 4'000'000;
};

/// A slot for each buffer; `sizes` has an entry for each.
///
/// Requires:   `conflicts` are those of `lives`.
/// Ensures:    of buffers in one slot each gives to the next; a slot is as large as its largest tenant, and a
///             buffer of 0 bytes has `no_slot`. Buffers come the largest first, of equal ones the first to
///             begin; slots are numbered by pool and falling size, then come those of the ineligible.
/// Complexity: O(n (log n + (1 + ranges of a buffer) (slots / 64) log positions)), n = buffers, and what
///             `visits` admits. O(n) memory, and up to 64 MiB for the tables of who has room: where they
///             would be larger, not all slots are looked at.
/// Throws:     precondition_error for a size that is not known, a pool id that is none, or if all slots
///             together exceed 64 bits.
[[nodiscard]] sized_slot_plan share_largest_first(concurrent_lives const& lives,
                                                  conflict_ranges const& conflicts,
                                                  std::vector<byte_count> const& size,
                                                  largest_first_options const& options = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/largest_first.ipp>
#endif

#endif
