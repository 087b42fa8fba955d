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
#include <sublet/contract.hpp>
#include <sublet/keyed.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/sharing/relink_chains.hpp>
#include <sublet/sharing/slot_room.hpp>
#include <sublet/sharing/takers.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

struct largest_first_options {
    per_value<pool_id> pool = pool_id{0}; ///< by buffer: only buffers of one pool share
    per_value<bool> eligible = true;      ///< by buffer: false keeps a slot of its own
    /// No more chains are linked anew once so many buffers have been looked at for that. A count and not a
    /// time, so that the same problem has the same answer everywhere.
    std::uint64_t visits = 4'000'000;
};

namespace detail {

/// Slots for the buffers of one pool, which come in the order given.
class slots_in_turn {
public:
    slots_in_turn(concurrent_lives const& lives, conflict_ranges const& conflicts,
                  std::vector<byte_count> const& size, std::uint64_t& visits)
        : lives_(lives), conflicts_(conflicts), size_(size), visits_(visits), room_(lives, conflicts)
    {
    }

    sized_chains fill(std::vector<buffer_id> const& in_turn)
    {
        chains_.slot_of.reserve(in_turn.size());
        for (buffer_id b : in_turn) {
            slot_id const found = room_.find(b);
            chains_.slot_of.push_back(found != no_slot ? found
                                                       : static_cast<slot_id>(chains_.slot_bytes.size()));
            if (found == no_slot) {
                chains_.slot_bytes.push_back(size_[b]);
                if (is_relinked(in_turn)) continue;
            }
            room_.insert(b, chains_.slot_of.back());
        }
        return std::move(chains_);
    }

private:
    /// Whether those that have come have other slots now, and the newest none of its own.
    bool is_relinked(std::vector<buffer_id> const& in_turn)
    {
        // Not for the sake of the thousand smallest slots of training, or of constants.
        byte_count const cost = chains_.slot_bytes.back();
        bytes_ = checked_add(bytes_, cost);
        if (visits_ < in_turn.size() || cost < bytes_ / 1024) return false;
        if (by_begin_.empty()) {
            for (std::uint32_t i = 0; i != in_turn.size(); ++i)
                by_begin_.push_back({takers::begin_key(lives_, in_turn[i]), in_turn[i], i});
            sort_keyed(by_begin_);
        }
        std::vector<buffer_id> members;
        sized_chains chains{{}, chains_.slot_bytes};
        for (keyed const& k : by_begin_)
            if (k.who < chains_.slot_of.size()) {
                members.push_back(in_turn[k.who]);
                chains.slot_of.push_back(chains_.slot_of[k.who]);
            }
        std::uint64_t visits = in_turn.size();
        bool const is_better =
            relink_chains(takers(lives_, conflicts_, std::move(members)), size_, chains, visits);
        visits_ -= smaller(visits, visits_);
        if (!is_better) return false;
        chains_.slot_bytes = std::move(chains.slot_bytes);
        bytes_ = 0;
        for (byte_count slot : chains_.slot_bytes) bytes_ += slot;
        std::size_t next = 0;
        for (keyed const& k : by_begin_)
            if (k.who < chains_.slot_of.size()) chains_.slot_of[k.who] = chains.slot_of[next++];
        std::vector<keyed> by_slot;
        for (std::uint32_t i = 0; i != chains_.slot_of.size(); ++i)
            by_slot.push_back({chains_.slot_of[i], 0, i});
        sort_keyed(by_slot);
        room_ = slot_room(lives_, conflicts_);
        for (keyed const& k : by_slot) room_.insert(in_turn[k.who], static_cast<slot_id>(k.key));
        return true;
    }

    concurrent_lives const& lives_;
    conflict_ranges const& conflicts_;
    std::vector<byte_count> const& size_;
    std::uint64_t& visits_; // that are left
    byte_count bytes_ = 0;  // of all slots
    slot_room room_;
    sized_chains chains_; // slot_of by turn
    std::vector<keyed> by_begin_;
};

} // namespace detail

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
[[nodiscard]] inline sized_slot_plan share_largest_first(concurrent_lives const& lives,
                                                         conflict_ranges const& conflicts,
                                                         std::vector<byte_count> const& size,
                                                         largest_first_options const& options = {})
{
    std::size_t const buffers = lives.buffers();
    SUBLET_EXPECTS(size.size() == buffers, "sublet: a table has not one entry for each buffer");
    auto const pool_of = options.pool.tabulate(buffers);
    auto const eligible = options.eligible.tabulate(buffers);
    std::vector<keyed> order;
    for (buffer_id b = 0; b != buffers; ++b) {
        SUBLET_EXPECTS(pool_of[b] != no_value, "sublet: a pool id is out of range");
        SUBLET_EXPECTS(size[b] != no_size, "sublet: a buffer of unknown size cannot share a slot");
        if (size[b] != 0 && eligible[b]) order.push_back({falling(size[b]), takers::begin_key(lives, b), b});
    }
    sort_keyed(order);
    bool is_by_pool = true;
    for (std::size_t i = 0; i != order.size(); ++i) {
        order[i] = {pool_of[order[i].who], i, order[i].who};
        is_by_pool = is_by_pool && (i == 0 || order[i - 1].key <= order[i].key);
    }
    if (!is_by_pool) sort_keyed(order);

    sized_slot_plan plan;
    plan.slot_of.assign(buffers, no_slot);
    auto add_slot = [&plan](byte_count cost, pool_id pool) {
        plan.slot_bytes.push_back(cost);
        plan.slot_pool.push_back(pool);
        plan.total_bytes = checked_add(plan.total_bytes, cost);
        return plan.slots++;
    };
    std::uint64_t visits = options.visits;
    std::vector<buffer_id> in_turn;
    for (std::size_t i = 0; i != order.size(); ++i) {
        in_turn.push_back(order[i].who);
        if (i + 1 != order.size() && order[i + 1].key == order[i].key) continue;
        sized_chains const chains = detail::slots_in_turn(lives, conflicts, size, visits).fill(in_turn);
        for (std::size_t k = 0; k != in_turn.size(); ++k)
            plan.slot_of[in_turn[k]] = plan.slots + chains.slot_of[k];
        for (byte_count cost : chains.slot_bytes) add_slot(cost, pool_of[order[i].who]);
        in_turn.clear();
    }
    for (buffer_id b = 0; b != buffers; ++b)
        if (size[b] != 0 && !eligible[b]) plan.slot_of[b] = add_slot(size[b], pool_of[b]);
    return plan;
}

} // namespace sublet

#endif
