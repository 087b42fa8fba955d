// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_STRUCTURES_INTERNAL_BIT_ROWS_HPP
#define SUBLET_STRUCTURES_INTERNAL_BIT_ROWS_HPP

/// Stores sets of dense numbers in two forms: a bit matrix, united and counted a word of 64 at a time, and a
/// sparse set with insert, erase and lookup in O(1). Source of the sparse set: Briggs and Torczon, "An
/// efficient representation for sparse sets", ACM LOPLAS 2, 1993.

#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- bit rows --------------------------------------------------------------------------------------------

/// A bit matrix in flat words: a set per row, for instance the values live in each node.
///
///     column   0 1 2 3 ...  63 | 64 65 ...
///     row 0    1 0 0 1       0 |  1  0        every row begins with a new word,
///     row 1    0 1 0 0       1 |  0  0        so rows are united and counted a word at a time

namespace sublet::detail {

inline constexpr std::uint32_t no_column = ~std::uint32_t{0}; ///< none of a bit matrix

/// The bits behind the last column of a row, up to the end of the word, stay 0.
class bit_rows {
public:
    using word = std::uint64_t;
    static constexpr std::size_t word_bits = 64;

    bit_rows() = default;
    /// O(rows * columns / 64)
    bit_rows(std::size_t rows, std::size_t columns) : words_(words_for(columns)), bits_(rows * words_) {}

    [[nodiscard]] static constexpr std::size_t words_for(std::size_t columns)
    {
        return columns / word_bits + (columns % word_bits != 0);
    }
    [[nodiscard]] std::size_t words() const { return words_; } ///< per row
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
    /// The number of bits set in a row.  O(words)
    [[nodiscard]] std::size_t count(std::size_t row) const;

private:
    std::size_t words_ = 0;
    std::vector<word> bits_;
};

// --- sparse set ------------------------------------------------------------------------------------------

/// A sparse set of values with constant-time insert and erase that can be listed, for sweeps over steps.
///
///     list     c  a  f            erase moves the last value of the list to the index of the erased one
///     index    a: 1  c: 0  f: 2
///
/// Absent values have the index `no_index`, so `contains` needs one lookup. Every operation takes O(1),
/// except the constructor, O(values), and clear, O(size).
class sparse_set {
public:
    explicit sparse_set(std::size_t values) : index_(values, no_index) {}

    [[nodiscard]] bool contains(value_id v) const { return index_[v] != no_index; }
    void insert(value_id v);
    /// Whether v was in the set.
    bool erase(value_id v);
    void clear();

    /// In no particular order; valid until the set changes.
    [[nodiscard]] std::span<value_id const> list() const { return {list_.data(), list_.size()}; }

private:
    static constexpr std::uint32_t no_index = ~std::uint32_t{0};
    std::vector<value_id> list_;
    table<value_id, std::uint32_t> index_; // of each value in the list
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/structures/impl/bit_rows.ipp>
#endif

#endif
