// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_FEWEST_SLOTS_HPP
#define SUBLET_SHARING_FEWEST_SLOTS_HPP

/// The fewest slots that serve every schedule, and the proof that fewer do not.
///
///         ┌──► b ──┐        b and c: in some schedule the one is written while the other is to be read
///     a ──┤        ├──► d    a: read until both are there, so it gives its bytes to d only
///         └──► c ──┘        chains a ─► d, b and c: three slots; and none of b, c, d gives to another
///
/// A slot is a chain of buffers of which each gives its bytes to the next. "u gives to v" is transitive, so
/// chains that cross can be taken apart: cover the buffers with as few chains as possible, without caring
/// whether they meet. Each buffer is followed by at most one and follows at most one, and each such pair
/// saves a slot: it is a matching, and a largest one leaves the fewest chains. The proof comes with it: as
/// many buffers as there are chains, none of which gives to another.
///
/// Source: Dilworth, "A decomposition theorem for partially ordered sets", Annals of Mathematics 1950;
/// Fulkerson, "Note on Dilworth's decomposition theorem for partially ordered sets", Proc. AMS 1956 (as a
/// matching).

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/later_conflicts.hpp>
#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/sharing/takers.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

struct fewest_slots_options {
    per_value<byte_count> bytes = byte_count{1}; ///< by buffer; 0: needs no slot
    per_value<pool_id> pool = pool_id{0};        ///< by buffer: only buffers of one pool share
    per_value<bool> eligible = true;             ///< by buffer: false keeps a slot of its own
};

struct chain_cover {
    slot_plan plan;
    /// Ascending; no two of them may share a slot. Empty where conflicts were undecided.
    std::vector<buffer_id> antichain;

    /// Proven: no plan that is valid under every schedule has fewer slots. False: not proven.
    [[nodiscard]] bool is_fewest() const;
};

namespace detail {

/// By place, the places of those that it gives to.
live_range_lists ranges_of(takers const& members);

} // namespace detail

/// A slot for each buffer, as few as any plan has that is valid under every schedule.
///
/// Requires:   `conflicts` are those of `lives`.
/// Ensures:    buffers share a slot only if one gives to the other. Where no conflict was undecided,
///             `antichain` has as many members as there are slots, and `is_fewest()`. Slots are numbered by
///             pool and the first begin in them; then come those of the ineligible.
/// Complexity: O(sqrt(n)) searches of O((n + ranges) log n) each, n = buffers; and for each buffer that
///             begins in several positions as many tests as there are buffers.
/// Throws:     precondition_error for a pool id that is none, or 2^32 - 1 ranges or more.
[[nodiscard]] chain_cover fewest_slots(concurrent_lives const& lives, conflict_ranges const& conflicts,
                                       fewest_slots_options const& options = {});

/// What no plan of slots goes below that is valid under every schedule: of the buffers that are at least so
/// large as one, the fewest slots, times the way to the next smaller size, summed over all sizes. `bytes` is
/// looked at as it is.
///
/// Ensures:    0 where conflicts were undecided, for then nothing is known.
/// Complexity: fewest_slots() for each different size.
/// Throws:     as fewest_slots(); precondition_error if the bound exceeds 64 bits.
[[nodiscard]] byte_count least_slot_bytes(concurrent_lives const& lives, conflict_ranges const& conflicts,
                                          fewest_slots_options options);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/fewest_slots.ipp>
#endif

#endif
