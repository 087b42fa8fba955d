// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_BIT_ROWS_HPP
#define SUBLET_ANALYSIS_BIT_ROWS_HPP

/// A matrix of bits in flat words: rows of sets, for instance the values that are alive in each node.
///
///     column   0 1 2 3 ...  63 | 64 65 ...
///     row 0    1 0 0 1       0 |  1  0        every row begins with a word of its own,
///     row 1    0 1 0 0       1 |  0  0        so rows are united and counted a word at a time

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// Bits behind the last column of a row are there up to the end of a word, and stay 0.
class bit_rows {
public:
    using word = std::uint64_t;
    static constexpr std::size_t word_bits = 64;

    bit_rows() = default;
    /// No bit is set.  O(rows * columns / 64)
    bit_rows(std::size_t rows, std::size_t columns) : words_(words_for(columns)), bits_(rows * words_) {}

    [[nodiscard]] static constexpr std::size_t words_for(std::size_t columns)
    {
        return columns / word_bits + (columns % word_bits != 0);
    }
    [[nodiscard]] std::size_t words() const { return words_; } ///< of a row
    [[nodiscard]] word* operator[](std::size_t row) { return bits_.data() + row * words_; }
    [[nodiscard]] word const* operator[](std::size_t row) const { return bits_.data() + row * words_; }

    [[nodiscard]] bool test(std::size_t row, std::size_t column) const
    {
        return ((*this)[row][column / word_bits] >> column % word_bits & 1) != 0;
    }
    void set(std::size_t row, std::size_t column)
    {
        (*this)[row][column / word_bits] |= word{1} << column % word_bits;
    }
    /// How many bits of a row are set.  O(words)
    [[nodiscard]] std::size_t count(std::size_t row) const;

private:
    std::size_t words_ = 0;
    std::vector<word> bits_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/bit_rows.ipp>
#endif

#endif
