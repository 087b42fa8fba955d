// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DETAIL_LARGEST_FIRST_HPP
#define SUBLET_SHARING_DETAIL_LARGEST_FIRST_HPP

/// Slots valid under every schedule, assigned to the largest buffers first, so that no slot ever grows, and
/// improved by relinking chains while that saves bytes. A heuristic, often at its bound least_slot_bytes().

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/sharing/detail/range_matching.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

// --- slot fit index --------------------------------------------------------------------------------------

/// Finds slots in which a buffer fits, 64 slots at a time by bit masks.
///
///     position       0   1   2   3   4   5   6   7     b begins at 2 and conflicts with begins in [2, 6):
///     forbidden in   1   1   .   .   2   2   .   .       slots that forbid a begin at 2            none
///     begun in       1   .   .   .   2   .   .   .       slots with an occupant begun in [2, 6)    2
///                                                        so b fits into slot 1 only
///
/// A buffer conflicts with an occupant that begins earlier if the occupant forbids begins there, and with one
/// that begins later if it forbids that begin itself. So two tables of slot masks by position decide every
/// test. Both are also kept for blocks of 8, 64, 512 ... positions, so that a range is a few words per level.
/// Where there are many slots, the masks of 512 lie side by side: as much as a cache loads at once.

namespace sublet::detail {

/// Both tables, for a number of slots.
class occupant_masks {
    static constexpr std::uint32_t fanout = 8; // blocks of the level below in a block

public:
    static constexpr std::size_t most_words = 8;
    using mask = std::array<std::uint64_t, most_words>; ///< bit s % 64 of word s / 64 for slot s

    /// For 64 slots a word, of at most `most_words`.
    occupant_masks(concurrent_live_ranges const& lives, conflict_ranges const& conflicts, std::size_t words);
    /// Of one word.
    [[nodiscard]] static std::size_t bytes(std::uint32_t positions);
    [[nodiscard]] std::size_t words() const { return words_; }

    /// A bit for each slot with an occupant that conflicts with b.
    [[nodiscard]] mask conflicting_slots(buffer_id b) const;
    void insert(buffer_id b, std::uint32_t slot);
    /// Requires: all other occupants of the slot are erased as well.
    void erase(buffer_id b, std::uint32_t slot);

private:
    std::size_t forbidden(std::size_t block) const { return 2 * block * words_; }
    std::size_t begun(std::size_t block) const { return (2 * block + 1) * words_; }

    /// `at_begin` for all blocks in which b begins, `in_range` for the maximal blocks that make up the
    /// positions at which no buffer that reuses its bytes may begin.
    template <class AtBegin, class InRange>
    void visit(buffer_id b, AtBegin at_begin, InRange in_range) const
    {
        auto const begins = lives_->begins[b];
        auto visit_ancestors = [&](std::size_t at) {
            for (std::size_t level : level_) {
                at_begin(level + at);
                at /= fanout;
            }
        };
        auto decompose = [&](live_range r) {
            for (std::size_t level : level_) {
                for (; r.first != r.last && r.first % fanout != 0; ++r.first) in_range(level + r.first);
                for (; r.first != r.last && r.last % fanout != 0; --r.last) in_range(level + r.last - 1);
                if (r.first == r.last) return;
                r = {r.first / fanout, r.last / fanout};
            }
        };
        if (begins.empty()) {
            visit_ancestors(0);
            decompose({0, 1});
            if (lives_->ends[b].empty()) return; // nothing touches it
        }
        for (position_id at : begins) visit_ancestors(std::size_t{at} + 1);
        for (live_range r : conflicts_->of[b]) decompose({r.first + 1, r.last + 1});
    }

    concurrent_live_ranges const* lives_;
    conflict_ranges const* conflicts_;
    std::size_t words_;
    std::vector<std::size_t> level_;   // first block of each level
    std::vector<std::uint64_t> table_; // forbidden and begun, by block
};

/// First-fit index over all slots. If the tables exceed `most_bytes` (64 slots always fit), or the slots are
/// more than 2^32 for all buffers together, it evicts a slot without a recent new occupant, and never finds
/// that slot again.
class slot_fit_index {
    static constexpr std::uint32_t uncached = ~std::uint32_t{0}, evicted = uncached - 1;
    static constexpr std::size_t most_visits = std::size_t{1} << 26; // of 64 slots, each buffer sought once

public:
    /// Requires: `lives` and `conflicts` belong together and outlive this.
    slot_fit_index(concurrent_live_ranges const& lives, conflict_ranges const& conflicts,
                   std::size_t most_bytes = std::size_t{1} << 26)
        : lives_(&lives), conflicts_(&conflicts), earlier_(lives.buffers(), no_buffer)
    {
        std::size_t const by_bytes = most_bytes / occupant_masks::bytes(lives.positions) + 1;
        std::size_t const by_visits = most_visits / larger(lives.buffers(), std::size_t{1}) + 1;
        capacity_ = 64 * smaller(by_bytes, by_visits);
    }

    /// Of the slots in which b fits, the one inserted first, or `no_slot`.
    /// Complexity: O((begins + ranges of b) log positions) for each 64 slots.
    [[nodiscard]] slot_id find(buffer_id b);

    /// Makes b an occupant of the slot. Slots are numbered densely.
    /// Complexity: O((begins + ranges of b) log positions), for all calls together.
    void insert(buffer_id b, slot_id slot);

private:
    struct mask_place {
        std::size_t masks;
        std::uint32_t slot;
    };
    static mask_place in_masks(std::uint32_t at);

    std::uint32_t free_place(slot_id slot);

    concurrent_live_ranges const* lives_;
    conflict_ranges const* conflicts_;
    std::size_t capacity_;                     // places
    std::vector<occupant_masks> masks_;        // of 64 places, then of up to 512 each
    std::vector<std::uint64_t> taken_;         // by group of 64 places
    std::vector<slot_id> slot_at_;             // by place
    table<slot_id, std::uint32_t> place_of_;
    std::vector<buffer_id> latest_;            // by place: its last occupant
    table<buffer_id, buffer_id> earlier_;      // the occupant before it
    std::vector<unsigned char> is_referenced_; // by place
    std::uint32_t evict_at_ = 0;
};

// --- relink chains ---------------------------------------------------------------------------------------

/// Relinks chains of buffers so that a slot is saved: an alternating path in the reuse relation.
///
///     slot 0    a ─► b          slot 0    a ─► d       d conflicts with b and with c; but d may reuse a, and
///     slot 1    c               slot 1    c ─► b       b may reuse c
///     slot 2    d
///
/// To save a slot, the first buffer of its chain has to follow another buffer, the successor of that buffer a
/// third one, and so on, until a buffer without successor is reached. The search visits each buffer once.
/// Chains cost as much as their largest buffers, so a path is taken only if the total cost falls.
///
/// Source: the augmenting path of Berge, "Two theorems in graph theory", PNAS 1957, with costs.

struct sized_chains {
    std::vector<slot_id> slot_of;          ///< by place in the order of begins
    table<slot_id, byte_count> slot_bytes; ///< of the largest occupant
};

/// Searches for a path that lowers the bytes, starting from the last slots, then from the first.
///
/// Requires:   `chains` are chains of `members`; `sizes` add up to less than 2^64.
/// Ensures:    true: `chains` costs less, and the largest slots have the lowest numbers; false: it is
///             unchanged. `visits` grows by the buffers visited, and an eighth of their ranges.
/// Complexity: O(ranges + members log members), and the lengths of the chains along each path tried.
[[nodiscard]] bool relink_chains(reuse_ranges const& members, table<buffer_id, byte_count> const& sizes,
                                 sized_chains& chains, std::uint64_t& visits);

// --- largest first ---------------------------------------------------------------------------------------

/// First fit by falling size over a partial order: no slot ever grows.
///
///     a: 10 ──► b: 64 ──► c: 48 ──► d: 16        b opens slot 0, 64 bytes
///                                                c conflicts with b and opens slot 1, 48 bytes
///     slot 0    b ─► d                           d fits after b
///     slot 1    a ─► c                           a fits before c
///
/// The first occupant determines the size of a slot; later ones that fit cost nothing. A buffer that fits
/// nowhere opens a slot, unless relinking chains (relink_chains) costs less. The fewest bytes are NP-hard to
/// find even for a total order.
///
/// Source: first fit by falling size as in Pemmaraju, Raman and Varadarajan, "Max-coloring and online
/// coloring with bandwidths on interval graphs", TALG 2011; here over a partial order, and with relinking.

struct largest_first_options {
    per_value<pool_id, buffer_id> pool = pool_id{0}; ///< only buffers of one pool share
    per_value<bool, buffer_id> eligible = true;      ///< false keeps a slot of its own
    std::uint64_t visits = 4'000'000;     ///< work budget for relinking: buffers and ranges / 8
};

/// Requires:   `conflicts` are those of `lives`; `size` has an entry for each buffer.
/// Ensures:    each buffer in a slot may reuse the bytes of the one before it; a slot is as large as its
///             largest occupant, and a buffer of 0 bytes has `no_slot`. The largest buffer comes first, of
///             equal ones the first to begin; slots are numbered by pool and falling size, those of
///             ineligible buffers last.
/// Complexity: O(n (log n + (1 + ranges of a buffer) (slots / 64) log positions)), n = buffers, and the work
///             that `visits` admits. O(n) memory, and up to 64 MiB for slot_fit_index: if it needs more, some
///             slots are not considered.
/// Throws:     precondition_error for a size that is not known, a pool id that is none, or if all slots
///             together exceed 64 bits.
[[nodiscard]] sized_slot_plan share_largest_first(concurrent_live_ranges const& lives,
                                                  conflict_ranges const& conflicts,
                                                  table<buffer_id, byte_count> const& size,
                                                  largest_first_options const& options = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/largest_first.ipp>
#endif

#endif
