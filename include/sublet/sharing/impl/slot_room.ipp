// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_SLOT_ROOM_IPP
#define SUBLET_SHARING_IMPL_SLOT_ROOM_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/slot_room.hpp>

#include <bit>
#include <utility>

namespace sublet::detail {

SUBLET_DECL tenant_masks::tenant_masks(concurrent_lives const& lives, conflict_ranges const& conflicts)
    : lives_(&lives), conflicts_(&conflicts)
{
    // One position is put before all others: there begins what is given.
    std::size_t words = 0;
    for (std::size_t stretches = std::size_t{lives.positions} + 1;;
         stretches = (stretches + wide - 1) / wide) {
        level_.push_back(words);
        words += stretches;
        if (stretches == 1) break;
    }
    words_ = std::vector<std::uint64_t>(2 * words);
}

SUBLET_DECL std::size_t tenant_masks::bytes(step_id positions) { return 19 * (std::size_t{positions} + 1); }

SUBLET_DECL std::uint64_t tenant_masks::against(buffer_id b)
{
    std::uint64_t slots = 0;
    visit(
        b, [&](std::size_t at) { slots |= forbidden(at); }, [&](std::size_t at) { slots |= begun(at); });
    return slots;
}

SUBLET_DECL void tenant_masks::insert(buffer_id b, std::uint64_t slot)
{
    visit(
        b, [&](std::size_t at) { begun(at) |= slot; }, [&](std::size_t at) { forbidden(at) |= slot; });
}

SUBLET_DECL void tenant_masks::erase(buffer_id b, std::uint64_t slot)
{
    visit(
        b, [&](std::size_t at) { begun(at) &= ~slot; }, [&](std::size_t at) { forbidden(at) &= ~slot; });
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL slot_id slot_room::find(buffer_id b)
{
    for (std::size_t g = 0; g != masks_.size(); ++g) {
        std::uint64_t const roomy = taken_[g] & ~masks_[g].against(b);
        if (roomy != 0) return slot_at_[64 * g + static_cast<unsigned>(std::countr_zero(roomy))];
    }
    return no_slot;
}

SUBLET_DECL void slot_room::insert(buffer_id b, slot_id slot)
{
    if (place_of_.size() <= slot) place_of_.resize(std::size_t{slot} + 1, unseen);
    if (place_of_[slot] == forgotten) return;
    bool const is_new = place_of_[slot] == unseen;
    if (is_new) place_of_[slot] = free_place(slot);
    std::uint32_t const at = place_of_[slot];
    masks_[at / 64].insert(b, bit_of(at));
    earlier_[b] = std::exchange(latest_[at], b);
    is_recent_[at] = !is_new;
}

SUBLET_DECL std::uint64_t slot_room::bit_of(std::uint32_t at) { return std::uint64_t{1} << at % 64; }

SUBLET_DECL std::uint32_t slot_room::free_place(slot_id slot)
{
    auto at = static_cast<std::uint32_t>(slot_at_.size());
    if (at == most_) { // go round, but leave those alone that were of use since the last time
        for (; is_recent_[hand_] != 0; hand_ = (hand_ + 1) % at) is_recent_[hand_] = 0;
        at = std::exchange(hand_, (hand_ + 1) % at);
        for (buffer_id b = std::exchange(latest_[at], no_buffer); b != no_buffer; b = earlier_[b])
            masks_[at / 64].erase(b, bit_of(at));
        place_of_[std::exchange(slot_at_[at], slot)] = forgotten;
        return at;
    }
    if (at % 64 == 0) {
        masks_.emplace_back(*lives_, *conflicts_);
        taken_.push_back(0);
    }
    taken_[at / 64] |= bit_of(at);
    slot_at_.push_back(slot);
    latest_.push_back(no_buffer);
    is_recent_.push_back(0);
    return at;
}

} // namespace sublet

#endif
