// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_LARGEST_FIRST_IPP
#define SUBLET_SHARING_IMPL_LARGEST_FIRST_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/sharing/largest_first.hpp>
#include <sublet/sharing/relink_chains.hpp>
#include <sublet/sharing/slot_room.hpp>
#include <sublet/sharing/takers.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

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

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL sized_slot_plan share_largest_first(concurrent_lives const& lives,
                                                conflict_ranges const& conflicts,
                                                std::vector<byte_count> const& size,
                                                largest_first_options const& options)
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
