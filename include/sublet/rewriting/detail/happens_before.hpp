// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_DETAIL_HAPPENS_BEFORE_HPP
#define SUBLET_REWRITING_DETAIL_HAPPENS_BEFORE_HPP

/// Happens-before: whether one step has ended, in every execution, before another begins. The relation is
/// reachability in the dependence graph, and the answers are exact unless memory for ranges runs out. Ranges
/// of unreached positions answer by binary search, blocks of the transitive closure by a bit, and a backward
/// walk needs no preparation.

#include <sublet/analysis/dependences.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/structures/internal/range_sets.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// --- ancestor walk ---------------------------------------------------------------------------------------

/// Reachability by a backward walk from b, no further than a.
///
///     position   0  1  2  3  4  5  6  7         before 7: 5 and 3, then 3 and 1
///     comes      1  1     1     1     b         found from right to left; a query for 4 stops the walk
///     before b   ◄───────────┘                  there, and a query for 2 continues it
///
/// Edges lead upwards, so a position is marked before the walk arrives at it: one bit per position and no
/// queue. There is no preparation, which suits few queries, and one walk answers all queries with the same b.

namespace sublet::detail {

/// A precedence_oracle for few queries, or for queries grouped by b.
/// Memory: one bit per position, and four bytes per predecessor.
class ancestor_walk {
public:
    /// From the predecessors of each position, all of them lower.
    explicit ancestor_walk(csr_rows<position_id, position_id> before);

    [[nodiscard]] std::size_t positions() const { return before_.rows(); }

    /// Whether edges lead from a to b.
    /// Complexity: O(edges among positions above a that reach b, + positions / 64), less what has been walked
    ///             since the last query about another b.
    [[nodiscard]] bool before(position_id a, position_id b)
    {
        walk(b, a);
        return (is_before_[a / 64] >> a % 64 & 1) != 0;
    }

    [[nodiscard]] std::uint64_t ancestors(position_id b);

private:
    /// Continues the walk until all positions above `floor` have marked their predecessors.
    void walk(position_id b, position_id floor);

    csr_rows<position_id, position_id> before_;
    std::vector<std::uint64_t> is_before_; // one bit per position
    position_id from_ = no_position;
    position_id done_ = no_position;
};

// --- column closure --------------------------------------------------------------------------------------

/// Exact reachability for any graph in little memory: 512 columns of the transitive closure at a time.
///
///     columns   0 .. 511   512 .. 1023   ...        a row: which of the 512 its position reaches
///     row 0     01101...                            rows go to predecessors,
///     row 1     00110...                            from the last column of the block downwards:
///     ...                                           row(p) gains row(t) and the bit of t itself
///
/// All columns at once are n^2 bits, too many for a million positions. A block of them is one cache line per
/// position. Only a position that reaches the block has a row; a walk with one bit per position finds these.
///
/// Source: Warshall, "A theorem on Boolean matrices", Journal of the ACM 1962; positions are topologically
/// ordered, so one pass suffices.

/// A precedence_oracle for queries with ascending b, or few different b: each change of block costs a pass.
/// Memory: 64 bytes per position, and four bytes per predecessor.
class column_closure {
public:
    static constexpr std::uint32_t width = 512;

    /// From the predecessors of each position, all of them lower.
    explicit column_closure(csr_rows<position_id, position_id> before);

    [[nodiscard]] std::size_t positions() const { return before_.rows(); }
    [[nodiscard]] std::size_t blocks() const { return (positions() + width - 1) / width; }

    /// Loads the columns [block * width, block * width + width).
    /// Complexity: O(edges among positions that reach the block, 64 bytes each, + positions / 64).
    void load(std::size_t block);

    [[nodiscard]] bool before(position_id a, position_id b);

    /// One bit for each of the positions from 64 * word: whether it reaches the loaded block.
    [[nodiscard]] std::uint64_t with_row(std::size_t word) const { return has_row_[word]; }

    /// The lowest position of the loaded block, from `from` on, that all of `ends` reach; the position after
    /// the block if there is none.
    /// Requires: `from` is in the block.
    [[nodiscard]] position_id next_after(std::span<position_id const> ends, position_id from) const;

    /// The number of ordered pairs of positions with the later one in the loaded block.
    [[nodiscard]] std::uint64_t loaded_pairs() const;

private:
    struct alignas(64) row {
        std::uint64_t bits[width / 64] = {};
    };
    /// Counts bits by sums of two, four and eight bits: where the processor has no instruction for it,
    /// std::popcount per word would take most of the time of a block.
    [[nodiscard]] static std::uint64_t count(row const& of);
    [[nodiscard]] bool has_row(position_id t) const { return (has_row_[t / 64] >> t % 64 & 1) != 0; }

    void propagate_row(position_id t, row const& from);

    csr_rows<position_id, position_id> before_;
    table<position_id, row> rows_;       // valid where has_row
    std::vector<std::uint64_t> has_row_; // one bit per position
    std::size_t loaded_ = ~std::size_t{0};
};

// --- happens before --------------------------------------------------------------------------------------

/// Whether one step has ended, in every execution, before another begins.
///
///     0 ──► 1 ──► 3       ends_before(0, 3)      yes
///     └───► 2 ──► ┘       ends_before(1, 2)      no: neither waits for the other
///
///     automatic = ranges: later positions that each does not reach; a binary search
///            or columns:  512 columns of the closure at a time; for queries sorted by the later position
///     on request, search: no preparation; for few queries
///
/// Happens-before is reachability in the dependence graph. A table of all pairs has 10^12 bits for a million
/// steps, but networks are narrow: a step fails to reach only the branches parallel to it, a few ranges in a
/// good numbering.

/// How queries are answered. The answers are the same.
enum class precedence_method : std::uint8_t {
    automatic, ///< ranges if they fit into `max_ranges`, otherwise columns
    ranges,
    columns,
    search
};

struct precedence_options {
    precedence_method method = precedence_method::automatic;
    /// How many ranges, eight bytes each; 0: 2^24, or eight per position if that is more. With the method
    /// `ranges` they become coarser beyond that, and some ordered pairs count as unordered.
    std::uint64_t max_ranges = 0;
};

/// The happens-before relation. It holds no reference to program or graph. Without an order it has the error
/// of the graph, and no step is ordered before another.
class precedence : public verdict {
public:
    /// Complexity: ranges: O(positions + edges + ranges of the successors of all positions) time; memory of
    ///             eight bytes per range and 20 per position. Others: O(positions + edges) time; four bytes
    ///             per edge and, per position, 77 for columns or 13 for search.
    explicit precedence(dependence_graph const& g, precedence_options const& options = {});

    /// The method chosen, never `automatic` unless there is an error.
    [[nodiscard]] precedence_method method() const { return method_; }
    [[nodiscard]] std::size_t positions() const
    {
        return unreached_ ? unreached_->owners()
               : columns_ ? columns_->positions()
               : walk_    ? walk_->positions()
                          : 0;
    }

    /// Step a has ended, in every execution, before step b begins.
    /// Requires:   both are steps of the program.
    [[nodiscard]] bool ends_before(step_id a, step_id b)
    {
        return *this && position_of_[a] < start_of_[b] && before(position_of_[a], start_of_[b]);
    }
    /// The same for positions of the graph.
    ///
    /// Requires:   a < b < positions().
    /// Complexity: ranges: O(log of those of a). Columns: O(1) if b is in the loaded block; otherwise the
    ///             block is loaded. Search: the walk from b to a.
    [[nodiscard]] bool before(position_id a, position_id b);
    /// Those of `positions` that come after all of `ends`, in the given order.
    /// Requires:   all are below positions(); with columns, `positions` should ascend.
    [[nodiscard]] std::vector<position_id> after_all(std::span<position_id const> ends,
                                                     std::span<position_id const> positions);

    /// The number of ordered pairs of positions, without the undecided ones.
    /// Complexity: ranges: O(positions + ranges). Others: O(pairs), or a 512th of it.
    [[nodiscard]] std::uint64_t ordered_pairs();
    /// At most this many ordered pairs count as unordered because of `max_ranges`.
    [[nodiscard]] std::uint64_t undecided() const { return unreached_ ? count_unreached(true) : 0; }

private:
    [[nodiscard]] std::uint64_t count_unreached(bool only_undecided) const;

    precedence_method method_;
    table<step_id, position_id> position_of_, start_of_;
    std::optional<range_sets> unreached_; // one of these three
    std::optional<column_closure> columns_;
    std::optional<ancestor_walk> walk_;
};

/// The order of positions and steps that holds in every execution.
/// Requires:   `g` was made by `dependences`.
[[nodiscard]] inline precedence happens_before(dependence_graph const& g,
                                               precedence_options const& options = {})
{
    return precedence(g, options);
}

[[nodiscard]] inline precedence happens_before(snapshot const& p, dependence_options const& dependence = {},
                                               precedence_options const& options = {})
{
    return precedence(dependences(p, dependence), options);
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/rewriting/impl/happens_before.ipp>
#endif

#endif
