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
#include <sublet/live_range.hpp>
#include <sublet/sorting.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
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
    void reset(std::size_t count)
    {
        next_ = std::vector<std::uint32_t>(count + 1);
        for (std::size_t i = 0; i <= count; ++i) next_[i] = static_cast<std::uint32_t>(i);
    }
    /// The lowest from `at` on that is left, or the count.
    std::uint32_t from(std::uint32_t at)
    {
        while (next_[at] != at) at = next_[at] = next_[next_[at]];
        return at;
    }
    void take(std::uint32_t at) { next_[at] = at + 1; }
    [[nodiscard]] bool is_left(std::size_t at) const { return next_[at] == at; }

private:
    std::vector<std::uint32_t> next_; // leads, in a few leaps, to the next that is left
};

class range_matcher {
    static constexpr std::uint32_t none = range_matching::none;

public:
    range_matcher(live_range_lists const& rows, std::size_t columns) : rows_(rows), layer_of_(columns)
    {
        found_.column_of.assign(rows.values(), none);
        found_.row_of.assign(columns, none);
    }

    range_matching match()
    {
        while (search_columns())
            for (std::uint32_t row : free_rows_) augment(row);
        found_.column_reached = std::vector<unsigned char>(layer_of_.size());
        for (std::size_t c = 0; c != layer_of_.size(); ++c) found_.column_reached[c] = layer_of_[c] != none;
        return std::move(found_);
    }

private:
    /// Columns by how many pairs lie between them and a free row, as far as the first layer that has free
    /// ones, and of that only these. False if there are none.
    bool search_columns()
    {
        std::size_t const columns = layer_of_.size();
        free_rows_.clear();
        for (std::size_t r = 0; r != found_.column_of.size(); ++r)
            if (found_.column_of[r] == none) free_rows_.push_back(static_cast<std::uint32_t>(r));
        left_.reset(columns);
        layer_of_.assign(columns, none);
        std::vector<std::uint32_t> now = free_rows_, next;
        std::uint32_t layer = 0;
        bool is_last = false;
        for (; !now.empty() && !is_last; ++layer, now.swap(next)) {
            next.clear();
            for (std::uint32_t row : now)
                for (live_range r : rows_[row])
                    for (std::uint32_t c = left_.from(r.first); c < r.last; c = left_.from(c + 1)) {
                        left_.take(c);
                        layer_of_[c] = layer;
                        if (found_.row_of[c] == none) is_last = true;
                        else next.push_back(found_.row_of[c]);
                    }
        }
        if (!is_last) return false;
        layer_first_.assign(std::size_t{layer} + 1, 0);
        auto is_useful = [&](std::size_t c) {
            return layer_of_[c] != none && (layer_of_[c] + 1 != layer || found_.row_of[c] == none);
        };
        for (std::size_t c = 0; c != columns; ++c)
            if (is_useful(c)) ++layer_first_[layer_of_[c] + 1];
        for (std::size_t l = 1; l <= layer; ++l) layer_first_[l] += layer_first_[l - 1];
        by_layer_ = std::vector<std::uint32_t>(layer_first_.back());
        std::vector<std::uint32_t> to(layer_first_.begin(), layer_first_.end());
        for (std::size_t c = 0; c != columns; ++c)
            if (is_useful(c)) by_layer_[to[layer_of_[c]]++] = static_cast<std::uint32_t>(c);
        left_.reset(by_layer_.size());
        return true;
    }

    /// The next column of a layer that lies in a range of the row, taken out.
    struct visit {
        std::uint32_t row;
        std::uint32_t range;  // that comes next
        std::uint32_t column; // that was taken last
    };
    bool advance(visit& at, std::size_t layer)
    {
        auto const ranges = rows_[at.row];
        std::uint32_t const first = layer_first_[layer], last = layer_first_[layer + 1];
        for (; at.range != ranges.size(); ++at.range) {
            live_range const r = ranges[at.range];
            auto const skipped = static_cast<std::uint32_t>(
                first_that(last - first, [&](std::size_t i) { return by_layer_[first + i] >= r.first; }));
            std::uint32_t const i = left_.from(first + skipped);
            if (i >= last || by_layer_[i] >= r.last) continue;
            left_.take(i);
            at.column = by_layer_[i];
            return true;
        }
        return false;
    }

    /// Walk from a free row, a layer a step, to a free column, and turn all pairs on the way round.
    void augment(std::uint32_t row)
    {
        path_.assign(1, {row, 0, none});
        while (!path_.empty()) {
            if (!advance(path_.back(), path_.size() - 1)) {
                path_.pop_back();
                continue;
            }
            std::uint32_t const next = found_.row_of[path_.back().column];
            if (next != none) {
                path_.push_back({next, 0, none});
                continue;
            }
            for (visit const& v : path_) {
                found_.column_of[v.row] = v.column;
                found_.row_of[v.column] = v.row;
            }
            ++found_.pairs;
            return;
        }
    }

    live_range_lists const& rows_;
    range_matching found_;
    numbers_left left_; // columns, then places of by_layer_
    std::vector<std::uint32_t> free_rows_, layer_of_, layer_first_, by_layer_;
    std::vector<visit> path_;
};

} // namespace detail

/// A maximum matching of rows and columns; row r may take the columns that `rows[r]` holds.
///
/// Requires:   no range goes beyond `columns`.
/// Ensures:    `pairs` is as large as possible. Equal input, equal pairs.
/// Complexity: O(sqrt(pairs)) searches, each of O((rows + ranges) log columns + columns) time; O(rows +
///             columns) memory. No recursion.
[[nodiscard]] inline range_matching match_ranges(live_range_lists const& rows, std::size_t columns)
{
    return detail::range_matcher(rows, columns).match();
}

} // namespace sublet

#endif
