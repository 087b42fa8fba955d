// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_SLOT_ROOM_HPP
#define SUBLET_SHARING_SLOT_ROOM_HPP

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

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/later_conflicts.hpp>
#include <sublet/live_range.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

namespace detail {

/// Both tables, for 64 slots.
class tenant_masks {
    static constexpr step_id wide = 8; // a stretch holds so many of the level below

public:
    tenant_masks(concurrent_lives const& lives, conflict_ranges const& conflicts);
    [[nodiscard]] static std::size_t bytes(step_id positions);

    /// A bit for each slot that has a tenant in conflict with b.
    std::uint64_t against(buffer_id b);
    void insert(buffer_id b, std::uint64_t slot);
    /// Requires: all other tenants of the slot are taken out as well.
    void erase(buffer_id b, std::uint64_t slot);

private:
    std::uint64_t& forbidden(std::size_t stretch) { return words_[2 * stretch]; }
    std::uint64_t& begun(std::size_t stretch) { return words_[2 * stretch + 1]; }

    /// `at_begin` for all stretches in which b begins, `in_range` for the largest that make up the positions
    /// at which nobody may begin who takes its bytes.
    template <class AtBegin, class InRange>
    void visit(buffer_id b, AtBegin at_begin, InRange in_range) const
    {
        auto const begins = lives_->begins[b];
        auto climb = [&](std::size_t at) {
            for (std::size_t level : level_) {
                at_begin(level + at);
                at /= wide;
            }
        };
        auto cut = [&](live_range r) {
            for (std::size_t level : level_) {
                for (; r.first != r.last && r.first % wide != 0; ++r.first) in_range(level + r.first);
                for (; r.first != r.last && r.last % wide != 0; --r.last) in_range(level + r.last - 1);
                if (r.first == r.last) return;
                r = {r.first / wide, r.last / wide};
            }
        };
        if (begins.empty()) {
            climb(0);
            cut({0, 1});
            if (lives_->ends[b].empty()) return; // nobody touches it
        }
        for (step_id at : begins) climb(std::size_t{at} + 1);
        for (live_range r : conflicts_->of[b]) cut({r.first + 1, r.last + 1});
    }

    concurrent_lives const* lives_;
    conflict_ranges const* conflicts_;
    std::vector<std::size_t> level_;   // where it begins
    std::vector<std::uint64_t> words_; // forbidden and begun, of each stretch
};

} // namespace detail

/// Of more slots than fit into the memory for it (but it fits 64) it forgets one that has had no new tenant
/// for long, and never finds it again.
class slot_room {
    static constexpr std::uint32_t unseen = ~std::uint32_t{0}, forgotten = unseen - 1;

public:
    /// Requires: `lives` and `conflicts` belong together and outlive this.
    slot_room(concurrent_lives const& lives, conflict_ranges const& conflicts,
              std::size_t most_bytes = std::size_t{1} << 26)
        : lives_(&lives), conflicts_(&conflicts), earlier_(lives.buffers(), no_buffer)
    {
        most_ = 64 * (most_bytes / detail::tenant_masks::bytes(lives.positions) + 1);
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

    concurrent_lives const* lives_;
    conflict_ranges const* conflicts_;
    std::size_t most_;                        // places
    std::vector<detail::tenant_masks> masks_; // of 64 places each
    std::vector<std::uint64_t> taken_;        // by group of 64 places
    std::vector<slot_id> slot_at_;            // by place
    std::vector<std::uint32_t> place_of_;     // by slot
    std::vector<buffer_id> latest_;           // by place: its last tenant
    std::vector<buffer_id> earlier_;          // by buffer: who came before it
    std::vector<unsigned char> is_recent_;    // by place
    std::uint32_t hand_ = 0;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/slot_room.ipp>
#endif

#endif
