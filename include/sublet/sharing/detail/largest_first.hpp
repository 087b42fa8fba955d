// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DETAIL_LARGEST_FIRST_HPP
#define SUBLET_SHARING_DETAIL_LARGEST_FIRST_HPP

/// Chains of buffers, largest buffer first, relinked while that saves bytes. Included by
/// sharing/detail/chains.hpp.

#include <sublet/analysis/dependences.hpp>
#include <sublet/plan.hpp>
#include <sublet/sharing/detail/range_matching.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- slot room -------------------------------------------------------------------------------------------

/// Which slots have room for a buffer: 64 of them answered by a word, and no tenant is asked.
///
///     position       0   1   2   3   4   5   6   7     a buffer begins at 2 and conflicts with [2, 6):
///     forbidden in   1   1   .   .   2   2   .   .       slots that forbid to begin at 2      none
///     begun in       1   .   .   .   2   .   .   .       slots in which one begins in [2, 6)  2
///                                                        so it has room in slot 1 only
///
/// A buffer conflicts with a tenant that began before it if it begins where that one forbids it, and with one
/// that begins later if it forbids that itself. So two tables over positions, of bits by slot, hold the whole
/// truth. Either is kept for stretches of 8, 64, 512 ... positions as well, so that a range is written, or
/// read, by a few words a level.

namespace sublet::detail {

/// Both tables, for 64 slots.
class occupant_masks {
    static constexpr step_id fanout = 8; // a stretch holds so many of the level below

public:
    occupant_masks(concurrent_live_ranges const& lives, conflict_ranges const& conflicts);
    [[nodiscard]] static std::size_t bytes(step_id positions);

    /// A bit for each slot that has a tenant in conflict with b.
    std::uint64_t conflicting_slots(buffer_id b);
    void insert(buffer_id b, std::uint64_t slot);
    /// Requires: all other tenants of the slot are taken out as well.
    void erase(buffer_id b, std::uint64_t slot);

private:
    std::uint64_t& forbidden(std::size_t block) { return words_[2 * block]; }
    std::uint64_t& begun(std::size_t block) { return words_[2 * block + 1]; }

    /// `at_begin` for all stretches in which b begins, `in_range` for the largest that make up the positions
    /// at which nobody may begin who takes its bytes.
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
            if (lives_->ends[b].empty()) return; // nobody touches it
        }
        for (step_id at : begins) visit_ancestors(std::size_t{at} + 1);
        for (live_range r : conflicts_->of[b]) decompose({r.first + 1, r.last + 1});
    }

    concurrent_live_ranges const* lives_;
    conflict_ranges const* conflicts_;
    std::vector<std::size_t> level_;   // where it begins
    std::vector<std::uint64_t> words_; // forbidden and begun, of each stretch
};

/// Of more slots than fit into the memory for it (but it fits 64) it forgets one that has had no new tenant
/// for long, and never finds it again.
class slot_fit_index {
    static constexpr std::uint32_t uncached = ~std::uint32_t{0}, evicted = uncached - 1;

public:
    /// Requires: `lives` and `conflicts` belong together and outlive this.
    slot_fit_index(concurrent_live_ranges const& lives, conflict_ranges const& conflicts,
                   std::size_t most_bytes = std::size_t{1} << 26)
        : lives_(&lives), conflicts_(&conflicts), earlier_(lives.buffers(), no_buffer)
    {
        capacity_ = 64 * (most_bytes / occupant_masks::bytes(lives.positions) + 1);
    }

    /// Of the slots with room for b the one that was seen first, or `no_slot`.
    ///
    /// Complexity: O((begins + ranges of b) log positions) for each 64 slots.
    [[nodiscard]] slot_id find(buffer_id b);

    /// b is a tenant of the slot from now on. Slots are numbered densely.
    ///
    /// Complexity: O((begins + ranges of b) log positions), for all calls together.
    void insert(buffer_id b, slot_id slot);

private:
    static std::uint64_t bit_of(std::uint32_t at);

    std::uint32_t free_place(slot_id slot);

    concurrent_live_ranges const* lives_;
    conflict_ranges const* conflicts_;
    std::size_t capacity_;                     // places
    std::vector<occupant_masks> masks_;        // of 64 places each
    std::vector<std::uint64_t> taken_;         // by group of 64 places
    std::vector<slot_id> slot_at_;             // by place
    std::vector<std::uint32_t> place_of_;      // by slot
    std::vector<buffer_id> latest_;            // by place: its last tenant
    std::vector<buffer_id> earlier_;           // by buffer: who came before it
    std::vector<unsigned char> is_referenced_; // by place
    std::uint32_t evict_at_ = 0;
};

// --- relink chains ---------------------------------------------------------------------------------------

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
[[nodiscard]] bool relink_chains(reuse_ranges const& members, std::vector<byte_count> const& sizes,
                                 sized_chains& chains, std::uint64_t& visits);

// --- largest first ---------------------------------------------------------------------------------------

/// Slots that serve every schedule, the largest buffers first: no slot ever grows.
///
///     a: 10 ──► b: 64 ──► c: 48 ──► d: 16        b opens slot 0, 64 bytes
///                                                c conflicts with b and opens slot 1, 48 bytes
///     slot 0    b ─► d                           d has room behind b
///     slot 1    a ─► c                           a has room before c
///
/// A slot is paid for by its first tenant, and all that find room in it later live there for nothing. Who
/// finds none opens another, unless it costs less to link all chains anew (relink_chains).
///
/// The fewest bytes are NP-hard to find even where all positions are ordered. What no plan of slots goes
/// below can be computed, though: least_slot_bytes() of sharing/detail/chains.hpp, which this often meets.
///
/// Source: first fit by falling size as in Pemmaraju, Raman and Varadarajan, "Max-coloring and online
/// coloring with bandwidths on interval graphs", TALG 2011; here over a partial order, and with relinking.

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
[[nodiscard]] sized_slot_plan share_largest_first(concurrent_live_ranges const& lives,
                                                  conflict_ranges const& conflicts,
                                                  std::vector<byte_count> const& size,
                                                  largest_first_options const& options = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/largest_first.ipp>
#endif

#endif
