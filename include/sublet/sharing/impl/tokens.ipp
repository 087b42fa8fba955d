// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sharing/detail/tokens.hpp>
#include <sublet/sharing/in_place.hpp>

// --- slot choice -----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL slot_chooser::slot_chooser(std::size_t buffers, slot_choice how) : how_(how)
{
    plan_.slot_of = std::vector<slot_id>(buffers, no_slot);
}

SUBLET_DECL sized_slot_plan slot_chooser::finish() &&
{
    for (byte_count bytes : plan_.slot_bytes) plan_.total_bytes = checked_add(plan_.total_bytes, bytes);
    return std::move(plan_);
}

SUBLET_DECL slot_chooser::place slot_chooser::preferred(slot_request const& r) const
{
    place const first = first_of(r.pool), end = first_of(r.pool + 1), none = awake_.end();
    if (first == end) return none;
    if (how_ == slot_choice::most_shared) return first;
    if (how_ == slot_choice::caffe2_sized) return as_in_caffe2(first, end, r.size);
    auto const fits = awake_.lower_bound({r.pool, r.size, 0});
    if (how_ == slot_choice::smallest_sufficient) return fits != end ? fits : none;
    if (fits == first) return fits;
    auto below = fits;
    --below;
    if (fits != end && (how_ == slot_choice::grow_largest || fits->rank - r.size <= r.size - below->rank))
        return fits;
    return awake_.lower_bound({r.pool, below->rank, 0}); // of equally large ones the lowest
}

SUBLET_DECL slot_chooser::place slot_chooser::as_in_caffe2(place first, place end, byte_count size) const
{
    place best = first;
    auto size_of = [this](place at) { return slots_[at->slot].first_size; };
    for (place at = ++first; at != end; ++at)
        if (size_of(at) == size_of(best) || (size_of(best) < size && size_of(best) < size_of(at))) best = at;
    return best;
}

SUBLET_DECL void slot_chooser::sleep(slot_id s, step_id until)
{
    if (until == no_step) return;
    if (asleep_.size() <= until) asleep_.resize(until + std::size_t{1}, no_slot);
    slots_[s].next_asleep = asleep_[until];
    asleep_[until] = s;
}

SUBLET_DECL void slot_chooser::wake_until(step_id position)
{
    now_ = position;
    for (; woken_ != asleep_.size() && woken_ <= position; ++woken_)
        for (slot_id s = asleep_[woken_]; s != no_slot; s = slots_[s].next_asleep)
            wake_slot(s, static_cast<step_id>(woken_));
}

SUBLET_DECL void slot_chooser::wake_slot(slot_id s, step_id at)
{
    open_slot& slot = slots_[s];
    if (slot.first_awake == 0) slot.first_awake = at;
    std::uint64_t const rank = how_ == slot_choice::most_shared    ? ~std::uint64_t{slot.tenants}
                               : how_ == slot_choice::caffe2_sized ? slot.first_awake
                                                                   : plan_.slot_bytes[s];
    awake_.insert({plan_.slot_pool[s], rank, s});
}

} // namespace sublet::detail
