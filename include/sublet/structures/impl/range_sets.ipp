// SPDX-License-Identifier: BSL-1.0

/// All sets lie in one vector, each behind a head with its owner and size. A set is replaced where it is if
/// its size stays, else appended; gaps are closed when they are many. Beyond the limit sets are coarsened:
/// each keeps its first ranges, and the last of these reaches to the end.

#include <sublet/impl/config.hpp>
#include <sublet/structures/internal/range_sets.hpp>

namespace sublet::detail {

SUBLET_DECL void push_ranges(std::vector<live_range>& to, std::span<live_range const> ranges)
{
    std::size_t i = 0;
    for (; i != ranges.size() && !to.empty() && ranges[i].first <= to.back().last; ++i)
        push_range(to, ranges[i]);
    for (; i != ranges.size(); ++i) to.push_back(ranges[i]);
}

SUBLET_DECL range_sets::range_sets(std::size_t owners, std::uint64_t most)
    : head_(owners, 0), most_(smaller(most, std::uint64_t{no_position} / 2))
{
    storage_.resize(smaller(owners, to_size(most_)) + 1);
}

SUBLET_DECL void range_sets::erase(std::size_t owner)
{
    gaps_ += (*this)[owner].size() + std::size_t{head_[owner] != 0};
    head_[owner] = 0;
}

SUBLET_DECL void range_sets::assign(std::size_t owner, std::vector<live_range> const& ranges,
                                    position_id exact_until)
{
    if (!exact_until_.empty()) exact_until_[owner] = exact_until;
    if (head_[owner] != 0 && storage_[head_[owner]].last == ranges.size()) { // replaced in place
        for (std::size_t i = 0; i != ranges.size(); ++i) storage_[head_[owner] + 1 + i] = ranges[i];
        return;
    }
    erase(owner);
    if (ranges.empty()) return;
    bool const is_full = storage_.size() - used_ <= ranges.size();
    if (gaps_ > used_ / (is_full ? 4 : 2) + 1024) compact(widest_);
    std::size_t const needed = used_ + ranges.size() + 1;
    if (storage_.size() < needed) {
        auto const limit = to_size(most_ + most_ / 16); // this set, then coarser sets
        storage_.reserve(larger(needed, smaller(needed + needed / 2, limit)));
        storage_.resize(storage_.capacity());
    }
    head_[owner] = static_cast<std::uint32_t>(used_);
    storage_[used_++] = {position_id::of(owner), position_id::of(ranges.size())};
    for (live_range const& r : ranges) storage_[used_++] = r;
    widest_ = larger(widest_, ranges.size());
    if (used_ > most_) coarsen();
}

SUBLET_DECL void range_sets::compact(std::size_t widest)
{
    std::size_t to = 1;
    for (std::size_t from = 1, next = 0; from != used_; from = next) {
        live_range const head = storage_[from];
        next = from + 1 + head.last;
        if (head_[head.first] != from) continue;
        std::size_t const kept = smaller(std::size_t{head.last}, widest);
        live_range const end = storage_[next - 1];
        head_[head.first] = static_cast<std::uint32_t>(to);
        storage_[to++] = {head.first, position_id::of(kept)};
        for (std::size_t i = 1; i <= kept; ++i) storage_[to++] = storage_[from + i];
        if (kept == head.last) continue;
        position_id& exact_until = exact_until_[head.first];
        exact_until = smaller(exact_until, storage_[to - 1].last);
        storage_[to - 1].last = end.last;
    }
    used_ = to;
    gaps_ = 0;
}

SUBLET_DECL void range_sets::coarsen()
{
    compact(widest_);
    while (std::uint64_t{used_} > most_ - most_ / 4) {
        if (widest_ == 1) {
            most_ = 2 * std::uint64_t{used_};
            return;
        }
        if (exact_until_.empty()) exact_until_.assign(head_.size(), no_position);
        widest_ -= (widest_ + 3) / 4;
        compact(widest_);
    }
}

} // namespace sublet::detail
