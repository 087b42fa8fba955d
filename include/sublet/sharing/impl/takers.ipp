// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_TAKERS_IPP
#define SUBLET_SHARING_IMPL_TAKERS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/takers.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL takers::takers(concurrent_lives const& lives, conflict_ranges const& conflicts,
                           std::vector<buffer_id> members)
    : lives_(lives), conflicts_(conflicts), members_(std::move(members))
{
    begin_.reserve(members_.size());
    for (std::size_t i = 0; i != members_.size(); ++i) {
        std::size_t const begins = lives.begins[members_[i]].size();
        begin_.push_back(lives.first(members_[i]));
        if (begins == 0) given_ = i + 1;
        if (begins > 1) several_.push_back(static_cast<std::uint32_t>(i));
    }
}

SUBLET_DECL std::uint64_t takers::begin_key(concurrent_lives const& lives, buffer_id b)
{
    return lives.begins[b].empty() ? 0 : std::uint64_t{lives.first(b)} + 1;
}

SUBLET_DECL std::uint32_t takers::place_of(step_id position) const
{
    return static_cast<std::uint32_t>(
        given_ + first_that(size() - given_, [&](std::size_t i) { return begin_[given_ + i] >= position; }));
}

} // namespace sublet

#endif
