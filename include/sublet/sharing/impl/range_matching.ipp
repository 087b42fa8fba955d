// SPDX-License-Identifier: BSL-1.0
/// Hopcroft and Karp's phases on rows that are ranges of columns: breadth-first layers from the free rows,
/// then paths along the layers. A column is visited once a phase, since a union-find of the columns that
/// are left skips the others, so no edge is listed.

#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>

#include <sublet/impl/config.hpp>
#include <sublet/sharing/detail/range_matching.hpp>

#include <utility>

// --- reuse ranges ----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL reuse_ranges::reuse_ranges(concurrent_live_ranges const& lives, conflict_ranges const& conflicts,
                                       std::vector<buffer_id> members)
    : lives_(lives), conflicts_(conflicts), members_(std::move(members))
{
    place_of_.reserve(std::size_t{lives.positions} + 1);
    for (std::size_t i = 0; i != members_.size(); ++i) {
        std::size_t const begins = lives.begins[members_[i]].size();
        if (begins > 1) multi_begin_.push_back(static_cast<std::uint32_t>(i));
        if (begins != 0) // the positions after the begin before, up to this one
            place_of_.resize(std::size_t{lives.first(members_[i])} + 1, static_cast<std::uint32_t>(i));
    }
    place_of_.resize(std::size_t{lives.positions} + 1, static_cast<std::uint32_t>(members_.size()));
}

SUBLET_DECL std::uint64_t reuse_ranges::begin_key(concurrent_live_ranges const& lives, buffer_id b)
{
    return lives.begins[b].empty() ? 0 : std::uint64_t{lives.first(b)} + 1;
}

// --- range matching --------------------------------------------------------------------------------------

SUBLET_DECL void remaining_indices::reset(std::size_t count)
{
    next_ = std::vector<std::uint32_t>(count + 1);
    for (std::size_t i = 0; i <= count; ++i) next_[i] = static_cast<std::uint32_t>(i);
}

SUBLET_DECL std::uint32_t remaining_indices::next_at(std::uint32_t at)
{
    while (next_[at] != at) at = next_[at] = next_[next_[at]];
    return at;
}

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
    /// Breadth-first layers of columns, up to the first layer with free columns, of which only these are
    /// kept. False if there are none.
    bool search_columns()
    {
        std::size_t const columns = layer_of_.size();
        free_rows_.clear();
        for (std::size_t r = 0; r != found_.column_of.size(); ++r)
            if (found_.column_of[r] == none) free_rows_.push_back(static_cast<std::uint32_t>(r));
        remaining_.reset(columns);
        layer_of_.assign(columns, none);
        std::vector<std::uint32_t> now = free_rows_, next;
        std::uint32_t layer = 0;
        bool is_last = false;
        for (; !now.empty() && !is_last; ++layer, now.swap(next)) {
            next.clear();
            for (std::uint32_t row : now)
                for (live_range r : rows_[row])
                    for (std::uint32_t c = remaining_.next_at(r.first); c < r.last;
                         c = remaining_.next_at(c + 1)) {
                        remaining_.remove(c);
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
        remaining_.reset(by_layer_.size());
        return true;
    }

    struct path_entry {
        std::uint32_t row;
        std::uint32_t range;  // the next one
        std::uint32_t column; // the last one
    };
    /// Finds the next column of a layer in a range of the row, and removes it.
    bool advance(path_entry& at, std::size_t layer)
    {
        auto const ranges = rows_[at.row];
        std::uint32_t const first = layer_first_[layer], last = layer_first_[layer + 1];
        for (; at.range != ranges.size(); ++at.range) {
            live_range const r = ranges[at.range];
            auto const skipped = static_cast<std::uint32_t>(partition_point(
                last - first, [&](std::size_t i) { return by_layer_[first + i] >= r.first; }));
            std::uint32_t const i = remaining_.next_at(first + skipped);
            if (i >= last || by_layer_[i] >= r.last) continue;
            remaining_.remove(i);
            at.column = by_layer_[i];
            return true;
        }
        return false;
    }

    /// Walks from a free row, layer by layer, to a free column, and flips the pairs on the path.
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
            for (path_entry const& v : path_) {
                found_.column_of[v.row] = v.column;
                found_.row_of[v.column] = v.row;
            }
            ++found_.pairs;
            return;
        }
    }

    live_range_lists const& rows_;
    range_matching found_;
    remaining_indices remaining_; // columns, then places of by_layer_
    std::vector<std::uint32_t> free_rows_, layer_of_, layer_first_, by_layer_;
    std::vector<path_entry> path_;
};

SUBLET_DECL range_matching match_ranges(live_range_lists const& rows, std::size_t columns)
{
    return range_matcher(rows, columns).match();
}

} // namespace sublet::detail
