// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_COLUMN_CLOSURE_IPP
#define SUBLET_ANALYSIS_IMPL_COLUMN_CLOSURE_IPP

#include <sublet/analysis/column_closure.hpp>
#include <sublet/impl/config.hpp>

#include <bit>
#include <utility>

namespace sublet {

SUBLET_DECL column_closure::column_closure(csr_rows before)
    : before_(std::move(before)), rows_(before_.rows()), has_row_(before_.rows() / 64 + 1)
{
}

SUBLET_DECL void column_closure::load(std::size_t block)
{
    auto const first = static_cast<step_id>(block * width);
    auto const last = static_cast<step_id>(smaller(positions(), (block + 1) * width));
    for (std::uint64_t& bits : has_row_) bits = 0;
    loaded_ = block;
    for (step_id t = last; t-- != first;) {
        row with_itself = has_row(t) ? rows_[t] : row{};
        with_itself.bits[(t - first) / 64] |= std::uint64_t{1} << t % 64;
        hand_down(t, with_itself);
    }
    for (std::size_t w = first / 64; w-- != 0;)
        for (std::uint64_t left = has_row_[w]; left != 0;) {
            auto const highest = static_cast<unsigned>(std::bit_width(left)) - 1;
            auto const t = static_cast<step_id>(64 * w + highest);
            hand_down(t, rows_[t]);
            left = has_row_[w] & ((std::uint64_t{1} << highest) - 1); // lower ones may have got a row
        }
}

SUBLET_DECL bool column_closure::before(step_id a, step_id b)
{
    if (b / width != loaded_) load(std::size_t{b / width});
    return has_row(a) && (rows_[a].bits[b % width / 64] >> b % 64 & 1) != 0;
}

SUBLET_DECL step_id column_closure::next_after(std::span<step_id const> ends, step_id from) const
{
    step_id const first = from / width * width;
    for (step_id end : ends)
        if (!has_row(end)) return first + width;
    std::uint64_t common = ~std::uint64_t{0} << from % 64;
    for (step_id w = (from - first) / 64; w != width / 64; ++w, common = ~std::uint64_t{0}) {
        for (step_id end : ends) common &= rows_[end].bits[w];
        if (common != 0) return first + 64 * w + static_cast<step_id>(std::countr_zero(common));
    }
    return first + width;
}

SUBLET_DECL std::uint64_t column_closure::loaded_pairs() const
{
    std::uint64_t pairs = 0;
    for (std::size_t w = 0; w != has_row_.size(); ++w)
        for (std::uint64_t left = has_row_[w]; left != 0; left &= left - 1)
            pairs += count(rows_[64 * w + static_cast<unsigned>(std::countr_zero(left))]);
    return pairs;
}

SUBLET_DECL std::uint64_t column_closure::count(row const& of)
{
    constexpr std::uint64_t ones = ~std::uint64_t{0};
    std::uint64_t sums = 0; // eight of them, of at most 64 each
    for (std::uint64_t x : of.bits) {
        x -= x >> 1 & ones / 3;
        x = (x & ones / 5) + (x >> 2 & ones / 5);
        sums += (x + (x >> 4)) & ones / 17;
    }
    return ((sums & ones / 257) + (sums >> 8 & ones / 257)) * (ones / 65535) >> 48;
}

SUBLET_DECL void column_closure::hand_down(step_id t, row const& from)
{
    for (step_id p : before_[t]) {
        row& to = rows_[p];
        std::uint64_t const bit = std::uint64_t{1} << p % 64;
        if ((has_row_[p / 64] & bit) != 0) {
            for (std::size_t i = 0; i != width / 64; ++i) to.bits[i] |= from.bits[i];
        } else {
            to = from;
            has_row_[p / 64] |= bit;
        }
    }
}

} // namespace sublet

#endif
