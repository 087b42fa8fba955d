// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_RANK_SET_IPP
#define SUBLET_CHECKING_IMPL_RANK_SET_IPP

#include <sublet/checking/rank_set.hpp>
#include <sublet/impl/config.hpp>

#include <bit>

namespace sublet {

SUBLET_DECL rank_set::rank_set(std::size_t n)
{
    std::size_t words = 0;
    do {
        n = n / 64 + 1;
        begin_[levels_++] = words;
        words += n;
    } while (n != 1);
    words_ = std::vector<std::uint64_t>(words, 0);
}

SUBLET_DECL void rank_set::insert(std::uint32_t r)
{
    for (unsigned level = 0; level != levels_; ++level, r /= 64) word(level, r / 64) |= bit(r);
}

SUBLET_DECL void rank_set::erase(std::uint32_t r)
{
    for (unsigned level = 0; level != levels_; ++level, r /= 64)
        if ((word(level, r / 64) &= ~bit(r)) != 0) return;
}

SUBLET_DECL std::uint32_t rank_set::below(std::uint32_t r) const
{
    for (unsigned level = 0; level != levels_; ++level, r /= 64) {
        std::uint64_t const on_this_side = words_[begin_[level] + r / 64] & (bit(r) - 1);
        if (on_this_side == 0) continue;
        r = r / 64 * 64 + highest(on_this_side);
        while (level-- != 0) r = r * 64 + highest(words_[begin_[level] + r]);
        return r;
    }
    return none;
}

SUBLET_DECL std::uint32_t rank_set::above(std::uint32_t r) const
{
    for (unsigned level = 0; level != levels_; ++level, r /= 64) {
        std::uint64_t const on_this_side = words_[begin_[level] + r / 64] & ~(bit(r) | (bit(r) - 1));
        if (on_this_side == 0) continue;
        r = r / 64 * 64 + lowest(on_this_side);
        while (level-- != 0) r = r * 64 + lowest(words_[begin_[level] + r]);
        return r;
    }
    return none;
}

SUBLET_DECL std::uint64_t rank_set::bit(std::uint32_t r) { return std::uint64_t{1} << r % 64; }

SUBLET_DECL std::uint32_t rank_set::highest(std::uint64_t w)
{
    return 63 - static_cast<std::uint32_t>(std::countl_zero(w));
}

SUBLET_DECL std::uint32_t rank_set::lowest(std::uint64_t w)
{
    return static_cast<std::uint32_t>(std::countr_zero(w));
}

} // namespace sublet

#endif
