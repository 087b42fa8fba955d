// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_RANK_SET_HPP
#define SUBLET_CHECKING_RANK_SET_HPP

/// A set of numbers below n that knows who stands next to whom.
///
///     is any of these 64 words in use?    ... 1 0 1            one bit a word
///     is this number in the set?          ... 0000 0010  0000 0000  1001 0000
///
/// A bit for each number, a bit for each word of these that is not empty, and so on up to a single word. The
/// next member below or above is found by going up until a word has one on that side, and down again.
///
/// Complexity: every operation O(log n) to the base of 64; n bits and a 63rd more of memory.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

class rank_set {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    explicit rank_set(std::size_t n);

    [[nodiscard]] bool contains(std::uint32_t r) const { return (words_[r / 64] >> r % 64 & 1) != 0; }

    void insert(std::uint32_t r);
    void erase(std::uint32_t r);

    /// The largest member below r, or `none`.
    [[nodiscard]] std::uint32_t below(std::uint32_t r) const;
    /// The smallest member above r, or `none`.
    [[nodiscard]] std::uint32_t above(std::uint32_t r) const;

private:
    static std::uint64_t bit(std::uint32_t r);
    static std::uint32_t highest(std::uint64_t w);
    static std::uint32_t lowest(std::uint64_t w);
    std::uint64_t& word(unsigned level, std::uint32_t index) { return words_[begin_[level] + index]; }

    std::vector<std::uint64_t> words_; // level by level
    std::size_t begin_[6] = {};        // 64^6 exceeds 2^32
    unsigned levels_ = 0;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/rank_set.ipp>
#endif

#endif
