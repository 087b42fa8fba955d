// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_SLOT_SET_IPP
#define SUBLET_SHARING_IMPL_SLOT_SET_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/slot_set.hpp>

#include <bit>
#include <cstddef>

namespace sublet::detail {

SUBLET_DECL void slot_set::insert(slot_id s)
{
    if (s / 64 >= words_.size()) words_.resize(s / 64 + std::size_t{1});
    words_[s / 64] |= std::uint64_t{1} << s % 64;
}

SUBLET_DECL void slot_set::erase(slot_id s) { words_[s / 64] &= ~(std::uint64_t{1} << s % 64); }

SUBLET_DECL slot_id slot_set::lowest_free(slot_id from) const
{
    std::size_t w = from / 64;
    if (w >= words_.size()) return from;
    std::uint64_t free = ~words_[w] & ~std::uint64_t{0} << from % 64;
    while (free == 0) {
        if (++w == words_.size()) return static_cast<slot_id>(64 * w);
        free = ~words_[w];
    }
    return static_cast<slot_id>(64 * w + static_cast<std::size_t>(std::countr_zero(free)));
}

} // namespace sublet::detail

#endif
