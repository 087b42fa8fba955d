// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_DETAIL_BIT_ROWS_HPP
#define SUBLET_DETAIL_BIT_ROWS_HPP

/// Sets of dense numbers: rows of bits, and a set that can be listed. Included by the analyses, ordering and
/// sharing.

#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- bit rows --------------------------------------------------------------------------------------------

/// A matrix of bits in flat words: rows of sets, for instance the values that are alive in each node.
///
///     column   0 1 2 3 ...  63 | 64 65 ...
///     row 0    1 0 0 1       0 |  1  0        every row begins with a word of its own,
///     row 1    0 1 0 0       1 |  0  0        so rows are united and counted a word at a time

namespace sublet::detail {

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

// --- value set -------------------------------------------------------------------------------------------

/// The values that are alive just now, while a walk goes from step to step: they come, go, and are listed.
///
///     list    c  a  f            each value is listed at a place that it knows; who goes leaves his place
///     place   a: 1  c: 0  f: 2   to the last of the list
///
/// Source: Briggs and Torczon, "An efficient representation for sparse sets", ACM LOPLAS 2, 1993; here it is
/// known of who is not listed, too, so that one look tells.

/// All takes O(1), but to make a set O(values), to clear it O(its size).
class sparse_set {
public:
    explicit sparse_set(std::size_t values) : index_(values, no_index) {}

    [[nodiscard]] bool contains(value_id v) const { return index_[v] != no_index; }
    void insert(value_id v);
    /// Whether v was there.
    bool erase(value_id v);
    void clear();

    /// In no particular order; good until the set changes.
    [[nodiscard]] std::span<value_id const> list() const { return {list_.data(), list_.size()}; }

private:
    static constexpr std::uint32_t no_index = ~std::uint32_t{0};
    std::vector<value_id> list_;
    std::vector<std::uint32_t> index_; // by value: its index in the list
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/bit_rows.ipp>
#endif

#endif
