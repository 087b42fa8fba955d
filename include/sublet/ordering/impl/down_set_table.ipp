// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_DOWN_SET_TABLE_IPP
#define SUBLET_ORDERING_IMPL_DOWN_SET_TABLE_IPP

#include <sublet/impl/config.hpp>
#include <sublet/ordering/down_set_table.hpp>

namespace sublet {

SUBLET_DECL std::size_t down_set_table::bytes() const
{
    return bits_.size() * sizeof(word) + hash_.size() * sizeof(std::uint64_t) + ring_.size() * sizeof(id);
}

SUBLET_DECL down_set_table::place down_set_table::number_of(word const* set, std::uint64_t hash)
{
    std::size_t at = hash & (ring_.size() - 1);
    for (; ring_[at] != none; at = (at + 1) & (ring_.size() - 1)) {
        id const other = ring_[at];
        if (hash_[other] != hash) continue;
        std::size_t same = 0;
        while (same != words_ && (*this)[other][same] == set[same]) ++same;
        if (same == words_) return {other, false};
    }
    auto const number = static_cast<id>(hash_.size());
    ring_[at] = number;
    hash_.push_back(hash);
    for (std::size_t i = 0; i != words_; ++i) bits_.push_back(set[i]);
    if (hash_.size() > ring_.size() / 2) grow();
    return {number, true};
}

SUBLET_DECL void down_set_table::grow()
{
    ring_ = std::vector<id>(ring_.size() * 2, none);
    for (id number = 0; number != hash_.size(); ++number) {
        std::size_t at = hash_[number] & (ring_.size() - 1);
        while (ring_[at] != none) at = (at + 1) & (ring_.size() - 1);
        ring_[at] = number;
    }
}

} // namespace sublet

#endif
