// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/range_sets.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL void push_ranges(std::vector<live_range>& to, std::span<live_range const> ranges)
{
    std::size_t i = 0;
    for (; i != ranges.size() && !to.empty() && ranges[i].first <= to.back().last; ++i)
        push_range(to, ranges[i]);
    for (; i != ranges.size(); ++i) to.push_back(ranges[i]);
}

SUBLET_DECL range_sets::range_sets(std::size_t owners, std::uint64_t most)
    : at_(owners, 0), most_(smaller(most, std::uint64_t{no_step} / 2))
{
    room_.resize(smaller(owners, static_cast<std::size_t>(most_)) + 1);
}

SUBLET_DECL void range_sets::release(std::size_t owner)
{
    gaps_ += (*this)[owner].size() + std::size_t{at_[owner] != 0};
    at_[owner] = 0;
}

SUBLET_DECL void range_sets::keep(std::size_t owner, std::vector<live_range> const& ranges,
                                  step_id known_until)
{
    if (!known_until_.empty()) known_until_[owner] = known_until;
    if (at_[owner] != 0 && room_[at_[owner]].last == ranges.size()) { // where it was
        for (std::size_t i = 0; i != ranges.size(); ++i) room_[at_[owner] + 1 + i] = ranges[i];
        return;
    }
    release(owner);
    if (ranges.empty()) return;
    bool const is_full = room_.size() - used_ <= ranges.size();
    if (gaps_ > used_ / (is_full ? 4 : 2) + 1024) move_together(widest_);
    std::size_t const needed = used_ + ranges.size() + 1;
    if (room_.size() < needed) {
        auto const limit = static_cast<std::size_t>(most_ + most_ / 16); // a set, then less of all sets
        room_.reserve(larger(needed, smaller(needed + needed / 2, limit)));
        room_.resize(room_.capacity());
    }
    at_[owner] = static_cast<std::uint32_t>(used_);
    room_[used_++] = {static_cast<step_id>(owner), static_cast<step_id>(ranges.size())};
    for (live_range const& r : ranges) room_[used_++] = r;
    widest_ = larger(widest_, ranges.size());
    if (used_ > most_) make_room();
}

SUBLET_DECL void range_sets::move_together(std::size_t widest)
{
    std::size_t to = 1;
    for (std::size_t from = 1, next = 0; from != used_; from = next) {
        live_range const head = room_[from];
        next = from + 1 + head.last;
        if (at_[head.first] != from) continue;
        std::size_t const kept = smaller(std::size_t{head.last}, widest);
        live_range const end = room_[next - 1];
        at_[head.first] = static_cast<std::uint32_t>(to);
        room_[to++] = {head.first, static_cast<step_id>(kept)};
        for (std::size_t i = 1; i <= kept; ++i) room_[to++] = room_[from + i];
        if (kept == head.last) continue;
        step_id& known_until = known_until_[head.first];
        known_until = smaller(known_until, room_[to - 1].last);
        room_[to - 1].last = end.last;
    }
    used_ = to;
    gaps_ = 0;
}

SUBLET_DECL void range_sets::make_room()
{
    move_together(widest_);
    while (std::uint64_t{used_} > most_ - most_ / 4) {
        if (widest_ == 1) {
            most_ = 2 * std::uint64_t{used_};
            return;
        }
        if (known_until_.empty()) known_until_.assign(at_.size(), no_step);
        widest_ -= (widest_ + 3) / 4;
        move_together(widest_);
    }
}

} // namespace sublet::detail
