// SPDX-License-Identifier: BSL-1.0

/// Free slots are ordered by pool and by what the choice compares (size, number of occupants, since when
/// they are free), so that a lookup finds the best of them; blocked slots are lists by the position at
/// which they return.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sharing/detail/tokens.hpp>
#include <sublet/sharing/in_place.hpp>

// --- slot choice -----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL slot_chooser::slot_chooser(std::size_t buffers, slot_choice choice) : choice_(choice)
{
    plan_.slot_of = std::vector<slot_id>(buffers, no_slot);
}

SUBLET_DECL sized_slot_plan slot_chooser::finish() &&
{
    for (byte_count bytes : plan_.slot_bytes) plan_.total_bytes = checked_add(plan_.total_bytes, bytes);
    return std::move(plan_);
}

SUBLET_DECL slot_chooser::candidate slot_chooser::preferred(slot_request const& r) const
{
    candidate const first = first_of(r.pool), end = first_of(r.pool + 1), none = candidates_.end();
    if (first == end) return none;
    if (choice_ == slot_choice::most_shared) return first;
    if (choice_ == slot_choice::caffe2_sized) return as_in_caffe2(first, end, r.size);
    auto const fits = candidates_.lower_bound({r.pool, r.size, 0});
    if (choice_ == slot_choice::smallest_sufficient) return fits != end ? fits : none;
    if (fits == first) return fits;
    auto below = fits;
    --below;
    if (fits != end && (choice_ == slot_choice::grow_largest || fits->rank - r.size <= r.size - below->rank))
        return fits;
    return candidates_.lower_bound({r.pool, below->rank, 0}); // of equal sizes the lowest
}

SUBLET_DECL slot_chooser::candidate slot_chooser::as_in_caffe2(candidate first, candidate end,
                                                               byte_count size) const
{
    candidate best = first;
    auto size_of = [this](candidate at) { return slots_[at->slot].first_size; };
    for (candidate at = ++first; at != end; ++at)
        if (size_of(at) == size_of(best) || (size_of(best) < size && size_of(best) < size_of(at))) best = at;
    return best;
}

SUBLET_DECL void slot_chooser::block(slot_id s, position_id until)
{
    if (until == no_position) return;
    if (blocked_.size() <= until) blocked_.resize(until + std::size_t{1}, no_slot);
    slots_[s].next_blocked = blocked_[until];
    blocked_[until] = s;
}

SUBLET_DECL void slot_chooser::unblock_until(position_id position)
{
    last_begin_ = position;
    for (; unblocked_until_ != blocked_.size() && unblocked_until_ <= position; ++unblocked_until_)
        for (slot_id s = blocked_[unblocked_until_]; s != no_slot; s = slots_[s].next_blocked)
            unblock_slot(s, unblocked_until_);
}

SUBLET_DECL void slot_chooser::unblock_slot(slot_id s, position_id at)
{
    open_slot& slot = slots_[s];
    if (slot.candidate_since == 0) slot.candidate_since = at;
    std::uint64_t const rank = choice_ == slot_choice::most_shared    ? ~std::uint64_t{slot.occupants}
                               : choice_ == slot_choice::caffe2_sized ? +slot.candidate_since
                                                                      : plan_.slot_bytes[s];
    candidates_.insert({plan_.slot_pool[s], rank, s});
}

} // namespace sublet::detail
