// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_RANGE_MATCHING_HPP
#define SUBLET_SHARING_RANGE_MATCHING_HPP

/// As many pairs {row, column} as possible, no row and no column in two of them, where the columns that a row
/// may take lie together in ranges.
///
///     column    0   1   2   3           row 0 takes 0; row 1 finds only 0 and makes row 0 move on to 1;
///     row 0     [=======)               row 2 would have row 1 move on, but there is nowhere to go: of three
///     row 1     [===)                   rows for the columns 0 and 1 one stays alone
///     row 2     [===)
///
/// A search from all free rows at once takes each column out as soon as it is found, and who comes later
/// skips it. So a search costs as much as there are ranges and columns, however many pairs the ranges stand
/// for; the relations that storage is shared by are dense, and their ranges few.
///
/// With the pairs comes the proof that there cannot be more: every pair that is allowed has its column among
/// those that the last search has reached, or its row among those that it has not, and the pairs found have
/// exactly one of either kind each.
///
/// Source: Hopcroft and Karp, "An n^(5/2) algorithm for maximum matchings in bipartite graphs", SIAM J.
/// Comput. 1973; the proof is König's, "Graphok és matrixok", Mat. Fiz. Lapok 1931.

#include <sublet/analysis/live_range_lists.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

struct range_matching {
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    std::vector<std::uint32_t> column_of;      ///< by row, or `none`
    std::vector<std::uint32_t> row_of;         ///< by column, or `none`
    std::vector<unsigned char> column_reached; ///< by column: by the last search, from the rows without one
    std::size_t pairs = 0;

    /// Whether the last search has reached a row: those without a column, and those of the columns reached.
    [[nodiscard]] bool is_row_reached(std::size_t row) const
    {
        return column_of[row] == none || column_reached[column_of[row]] != 0;
    }
};

namespace detail {

/// Numbers from 0, some of which have been taken out.
class numbers_left {
public:
    void reset(std::size_t count);
    /// The lowest from `at` on that is left, or the count.
    std::uint32_t from(std::uint32_t at);
    void take(std::uint32_t at) { next_[at] = at + 1; }
    [[nodiscard]] bool is_left(std::size_t at) const { return next_[at] == at; }

private:
    std::vector<std::uint32_t> next_; // leads, in a few leaps, to the next that is left
};

} // namespace detail

/// A maximum matching of rows and columns; row r may take the columns that `rows[r]` holds.
///
/// Requires:   no range goes beyond `columns`.
/// Ensures:    `pairs` is as large as possible. Equal input, equal pairs.
/// Complexity: O(sqrt(pairs)) searches, each of O((rows + ranges) log columns + columns) time; O(rows +
///             columns) memory. No recursion.
[[nodiscard]] range_matching match_ranges(live_range_lists const& rows, std::size_t columns);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/range_matching.ipp>
#endif

#endif
