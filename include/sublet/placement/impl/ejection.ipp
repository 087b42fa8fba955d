// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_EJECTION_IPP
#define SUBLET_PLACEMENT_IMPL_EJECTION_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/ejection.hpp>

namespace sublet::detail {

/// The largest integer whose square is not above `n`.
[[nodiscard]] constexpr byte_count square_root(byte_count n) noexcept
{
    byte_count root = 0;
    for (byte_count bit = byte_count{1} << 31; bit != 0; bit /= 2)
        if ((root + bit) * (root + bit) <= n) root += bit;
    return root;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL ejection::ejection(placement_shapes const& all, std::uint64_t seed)
    : all_(&all), random_(seed ^ 0x9e3779b97f4a7c15u)
{
    if (random_ == 0) random_ = 1;
    byte_count heaviest = 0;
    for (placement_shape const& s : all.shapes) {
        guess_.push_back(detail::square_root(s.size) * length(s.life));
        heaviest = larger(heaviest, guess_.back());
    }
    unsigned excess = 0; // a guess has 28 bits
    while (heaviest >> excess >> 28 != 0) ++excess;
    for (byte_count& g : guess_) g = (g >> excess) + 1;
    weight_ = guess_;
    origin_.assign(all.size(), no_offset);

    std::uint64_t life = 0;
    for (shape_piece const& p : all.pieces) life += length(p.when);
    std::size_t const positions = all.positions.size() + 1;
    while (positions >> shift_ >= 1024 || (all.pieces.size() << shift_) / 2 < life) ++shift_;
    by_begin_.resize((positions >> shift_) + 2);
    by_end_.resize(by_begin_.size());
}

SUBLET_DECL std::uint64_t
ejection::below(std::uint64_t n) // xorshift: Marsaglia, Journal of Statistical Software 2003
{
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return (random_ >> 11) % n;
}

} // namespace sublet

#endif
