// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DETAIL_RANGE_MATCHING_HPP
#define SUBLET_SHARING_DETAIL_RANGE_MATCHING_HPP

/// The relation "may reuse the bytes of" as ranges of buffers, and a maximum bipartite matching of rows with
/// ranges of columns (Hopcroft and Karp 1973); the cost depends on the number of ranges, not of pairs.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- reuse ranges ----------------------------------------------------------------------------------------

/// The buffers that may reuse a buffer's bytes, as ranges of buffers in the order of their begins.
///
///     begin         -   0   1   1   2   4        a ends at 1, and what begins at 2 may run before that:
///     buffer        i   a   b   c   d   e          a conflicts with begins in [0, 2) and [2, 3)
///     place         0   1   2   3   4   5          its reuse ranges are the places [5, 6)
///
/// The relation is dense, since most later buffers may reuse most earlier ones, but has few gaps.

namespace sublet::detail {

class reuse_ranges {
public:
    /// Requires: `members` are in the order of `begin_key`; `lives` and `conflicts` belong together and
    ///           outlive this.
    reuse_ranges(concurrent_live_ranges const& lives, conflict_ranges const& conflicts,
                 std::vector<buffer_id> members); // O(members + positions)

    /// Sort key by first begin; inputs come first.
    [[nodiscard]] static std::uint64_t begin_key(concurrent_live_ranges const& lives, buffer_id b);

    [[nodiscard]] std::size_t size() const { return members_.size(); }
    [[nodiscard]] buffer_id operator[](std::size_t place) const { return members_[place]; }

    /// Calls `visit(live_range)` for the places of the buffers that may reuse the one at `place`, ascending.
    /// Complexity: O(ranges), and a test for each member in them that begins at several positions.
    template <class Visit>
    void for_each_range(std::size_t place, Visit visit) const
    {
        buffer_id const u = members_[place];
        auto const end = static_cast<std::uint32_t>(size());
        auto const forbidden = conflicts_.of[u];
        std::size_t r = 0;
        if (lives_.begins[u].empty() && lives_.ends[u].empty()) visit_all({place_of(0), end}, u, visit);
        else
            for (; r != forbidden.size(); ++r)
                visit_all({place_of(forbidden[r].last),
                           r + 1 != forbidden.size() ? place_of(forbidden[r + 1].first) : end},
                          u, visit);
    }

private:
    /// The first place that begins at the position or later.
    [[nodiscard]] std::uint32_t place_of(position_id position) const { return place_of_[position]; }

    /// Visits `places` without members that also begin where u forbids it.
    template <class Visit>
    void visit_all(live_range places, buffer_id u, Visit& visit) const
    {
        std::size_t k = partition_point(multi_begin_.size(),
                                        [&](std::size_t i) { return multi_begin_[i] >= places.first; });
        for (; k != multi_begin_.size() && multi_begin_[k] < places.last; ++k) {
            if (reusable_by(conflicts_, lives_, u, members_[multi_begin_[k]])) continue;
            if (places.first != multi_begin_[k]) visit(live_range{places.first, multi_begin_[k]});
            places.first = multi_begin_[k] + 1;
        }
        if (places.first < places.last) visit(places);
    }

    concurrent_live_ranges const& lives_;
    conflict_ranges const& conflicts_;
    std::vector<buffer_id> members_;
    table<position_id, std::uint32_t> place_of_; // and one more
    std::vector<std::uint32_t> multi_begin_; // places of members with several begins
};

// --- range matching --------------------------------------------------------------------------------------

/// A maximum bipartite matching: as many pairs {row, column} as possible, each row and column in at most one,
/// where the columns allowed for a row form a few ranges.
///
///     column    0   1   2   3           row 0 takes 0; row 1 can only take 0 and moves row 0 to 1,
///     row 0     [=======)               row 2 would move row 1, which has no other column: of three
///     row 1     [===)                   rows for the columns 0 and 1 one stays unmatched
///     row 2     [===)
///
/// A breadth-first search from all free rows removes each column when it is first reached, so it costs as
/// much as there are ranges and columns, however many pairs the ranges contain.
///
/// The last search proves that the matching is maximum: every allowed pair has its column among those reached
/// or its row among those not reached, and each pair of the matching has exactly one of the two (a vertex
/// cover of the same size).
///
/// Source: Hopcroft and Karp, "An n^(5/2) algorithm for maximum matchings in bipartite graphs", SIAM J.
/// Comput. 1973; the proof is König's, "Graphok és matrixok", Mat. Fiz. Lapok 1931.

struct range_matching {
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    std::vector<std::uint32_t> column_of;      ///< by row, or `none`
    std::vector<std::uint32_t> row_of;         ///< by column, or `none`
    std::vector<unsigned char> column_reached; ///< by column: by the last search, from the unmatched rows
    std::size_t pairs = 0;

    /// Whether the last search reached a row: unmatched ones, and those matched with a reached column.
    [[nodiscard]] bool is_row_reached(std::size_t row) const
    {
        return column_of[row] == none || column_reached[column_of[row]] != 0;
    }
};

/// Indices from 0, some of which have been removed: union-find by path compression.
class remaining_indices {
public:
    void reset(std::size_t count);
    /// The lowest remaining index not below `at`, or the count.
    std::uint32_t next_at(std::uint32_t at);
    void remove(std::uint32_t at) { next_[at] = at + 1; }
    [[nodiscard]] bool contains(std::size_t at) const { return next_[at] == at; }

private:
    std::vector<std::uint32_t> next_; // leads to the next remaining index in a few jumps
};

/// A maximum matching of rows and columns; row r may take the columns in `rows[r]`.
///
/// Requires:   no range goes beyond `columns`.
/// Ensures:    `pairs` is as large as possible. Equal input, equal pairs.
/// Complexity: O(sqrt(pairs)) searches, each of O((rows + ranges) log columns + columns) time; O(rows +
///             columns) memory. No recursion.
[[nodiscard]] range_matching match_ranges(live_range_lists const& rows, std::size_t columns);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/range_matching.ipp>
#endif

#endif
