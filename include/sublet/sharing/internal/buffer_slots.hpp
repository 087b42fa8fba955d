// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_INTERNAL_BUFFER_SLOTS_HPP
#define SUBLET_SHARING_INTERNAL_BUFFER_SLOTS_HPP

/// Slots of buffers that are valid under every schedule, by one of three algorithms: detail/tokens.hpp
/// hands slots from step to step, detail/chains.hpp lets buffers follow each other, the largest first, or
/// finds the fewest chains by a matching. What they return is brought into one form, with the bytes and
/// the pool of each slot.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// The algorithms, in the order of slot_options::strategy_kind.
enum class slot_strategy : std::uint8_t { tokens, chains, fewest };

/// Options for buffers.
struct buffer_slot_options {
    slot_strategy strategy = slot_strategy::tokens;
    slot_choice choice = slot_choice::grow_largest;
    per_value<pool_id, buffer_id> pool = pool_id{0}; // only buffers of one pool share
    per_value<bool, buffer_id> eligible = true;      // false keeps a slot of its own
    std::size_t most_ranges = ~std::size_t{0};
    std::uint64_t visits = 4'000'000;
};

/// Slots of buffers.
struct shared_buffers : sized_slot_plan {
    std::uint64_t undecided = 0;           ///< as shared_slots
    std::vector<buffer_id> antichain = {}; ///< no two of them may share a slot

    [[nodiscard]] bool is_optimal() const { return antichain.size() == slots; }
};

/// Gives every buffer a slot.
///
/// Requires:   `g` has no error, and `lives` belong to `g`.
/// Ensures:    each buffer of a slot may reuse the bytes of the one before it in every execution; a slot is
///             as large as its largest buffer. An input neither reuses nor is reused. 0 bytes have `no_slot`.
///             tokens: of buffers that begin at one position the lower index comes first, and one with
///             several begins gets a new slot.
/// Complexity: tokens: O(positions + edges + sum over edges of the ranges of their ends), and O(log slots +
///             ends x log ranges) for each test of a slot; few tests fail if branches are numbered one after
///             the other. chains and fewest: find_conflict_ranges(), then O((n + tests) log n) or O(sqrt(n))
///             searches of O((n + ranges) log n) each, n = buffers.
/// Throws:     precondition_error for a size that is `no_size`, a pool id that is none, or if all slots
///             together exceed 64 bits.
[[nodiscard]] shared_buffers share_slots(dependence_graph const& g, concurrent_live_ranges const& lives,
                                         per_value<byte_count, buffer_id> const& sizes,
                                         buffer_slot_options const& options = {});

/// The same with known conflicts, those of `lives`. Requires: a strategy other than tokens.
[[nodiscard]] shared_buffers share_slots(concurrent_live_ranges const& lives,
                                         conflict_ranges const& conflicts,
                                         per_value<byte_count, buffer_id> const& sizes,
                                         buffer_slot_options const& options);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/buffer_slots.ipp>
#endif

#endif
