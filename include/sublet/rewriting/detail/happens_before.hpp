// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_DETAIL_HAPPENS_BEFORE_HPP
#define SUBLET_REWRITING_DETAIL_HAPPENS_BEFORE_HPP

/// Which steps have ended, in every execution, before another begins? Three ways to know. Included by
/// rewriting/release.hpp.

#include <sublet/analysis/dependences.hpp>
#include <sublet/detail/range_sets.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// --- ancestor walk ---------------------------------------------------------------------------------------

/// Does a come before b? Walk back from b, and no further than a.
///
///     position   0  1  2  3  4  5  6  7         before 7: 5 and 3, then 3 and 1 ...
///     comes      1  1     1     1     b         found from the right to the left; asked for 4,
///     before b   ◄───────────┘                  the walk stops there and goes on when asked for 2
///
/// Edges lead upwards, so whoever comes before b is marked before the walk arrives there: a bit a position
/// and no queue. Nothing is prepared, which is right for few questions, and a walk answers all that are about
/// the same b.

namespace sublet::detail {

/// A precedence_oracle for few questions, or for those with the same b together.
///
/// Memory: a bit a position and its predecessors, four bytes each.
class ancestor_walk {
public:
    /// From the predecessors of each position, all of them lower.
    explicit ancestor_walk(csr_rows before);

    [[nodiscard]] std::size_t positions() const { return before_.rows(); }

    /// Edges lead from a to b.
    ///
    /// Complexity: O(edges among those above a that come before b, + positions / 64), less what has been
    /// walked
    ///             since the last question about another b.
    [[nodiscard]] bool before(step_id a, step_id b)
    {
        walk(b, a);
        return (is_before_[a / 64] >> a % 64 & 1) != 0;
    }

    /// How many come before b.
    [[nodiscard]] std::uint64_t ancestors(step_id b);

private:
    /// Go on until all above `floor` have marked those before them.
    void walk(step_id b, step_id floor);

    csr_rows before_;
    std::vector<std::uint64_t> is_before_; // a bit a position
    step_id from_ = no_step;
    step_id done_ = no_step;
};

// --- column closure --------------------------------------------------------------------------------------

/// Who comes before whom, exactly, for any graph and in little memory: 512 columns of the closure at a time.
///
///     columns   0 .. 511   512 .. 1023   ...        a row says which of the 512 a position comes before;
///     row 0     01101...                            rows go to the predecessors of their position,
///     row 1     00110...                            from the last column of the block downwards:
///     ...                                           row(p) gains row(t) and the bit of t itself
///
/// All columns at once are n^2 bits, which neither a cache nor a machine holds for a million positions. A
/// block of them is one cache line a position. And only who comes before somebody in the block has a row at
/// all: a walk over a bit a position finds them, and the rest costs nothing.
///
/// Source: Warshall, "A theorem on Boolean matrices", Journal of the ACM 1962, where the order of positions
/// makes one pass enough.

/// A precedence_oracle for questions about ascending b, or for few b: each other block costs a pass.
///
/// Memory: 64 bytes a position and its predecessors, four bytes each.
class column_closure {
public:
    static constexpr step_id width = 512;

    /// From the predecessors of each position, all of them lower.
    explicit column_closure(csr_rows before);

    [[nodiscard]] std::size_t positions() const { return before_.rows(); }
    [[nodiscard]] std::size_t blocks() const { return (positions() + width - 1) / width; }

    /// Makes the columns [block * width, block * width + width) ready.
    ///
    /// Complexity: O(edges among those that come before a column of the block, 64 bytes each, + positions /
    /// 64).
    void load(std::size_t block);

    /// Edges lead from a to b.
    [[nodiscard]] bool before(step_id a, step_id b);

    /// Positions 64 * word and following, a bit each: who comes before somebody in the block that is ready.
    [[nodiscard]] std::uint64_t with_row(std::size_t word) const { return has_row_[word]; }

    /// The lowest position of the block that is ready, from `from` on, that all of `ends` come before; the
    /// position behind the block if there is none.
    ///
    /// Requires: `from` is in the block.
    [[nodiscard]] step_id next_after(std::span<step_id const> ends, step_id from) const;

    /// How many pairs of positions are ordered whose later one is in the block that is ready.
    [[nodiscard]] std::uint64_t loaded_pairs() const;

private:
    struct alignas(64) row {
        std::uint64_t bits[width / 64] = {};
    };
    /// Sums of two bits, of four, of eight: without the processor's own instruction, which is not everywhere,
    /// a call of std::popcount a word is most of the time that a block takes.
    [[nodiscard]] static std::uint64_t count(row const& of);
    [[nodiscard]] bool has_row(step_id t) const { return (has_row_[t / 64] >> t % 64 & 1) != 0; }

    void propagate_row(step_id t, row const& from);

    csr_rows before_;
    std::vector<row> rows_;              // by position; of use where has_row
    std::vector<std::uint64_t> has_row_; // a bit a position
    std::size_t loaded_ = ~std::size_t{0};
};

// --- happens before --------------------------------------------------------------------------------------

/// Which steps have ended, in every execution, before another begins?
///
///     0 ──► 1 ──► 3       ends_before(0, 3)      yes
///     └───► 2 ──► ┘       ends_before(1, 2)      no: nobody waits
///
///     automatic = ranges: later positions that each does not reach; a binary search
///            or columns:  512 columns of the closure at a time; good for questions sorted by the later one
///     on request, search: nothing is prepared; good for few questions
///
/// Happens-before is reachability in the graph of dependences. A table of all pairs has 10^12 bits for a
/// million steps, but networks are narrow: what a step does not reach are the branches beside it, a few
/// ranges in a good numbering. Where a graph is no network the columns say the same, block by block.

/// How questions are answered. The answers are the same.
enum class precedence_method : std::uint8_t {
    automatic, ///< ranges while there is room for them, otherwise columns
    ranges,
    columns,
    search
};

struct precedence_options {
    precedence_method method = precedence_method::automatic;
    /// How many ranges, eight bytes each; 0: 2^24, or eight a position if that is more. Of means `ranges` all
    /// become coarser then, and some pairs count as unordered that are not.
    std::uint64_t max_ranges = 0;
};

/// Who comes before whom. A value of its own: it refers to neither program nor graph.
class precedence {
public:
    /// Complexity: ranges: O(positions + edges + ranges of the successors of all positions) time; memory of
    ///             eight bytes a range and 20 a position. Others: O(positions + edges) time; four bytes an
    ///             edge and, a position, 77 for columns or 13 for search.
    explicit precedence(dependence_graph const& g, precedence_options const& options = {});

    /// Which one was taken, never `automatic` unless there is a violation.
    [[nodiscard]] precedence_method method() const { return method_; }
    /// Why there is no order; then nobody comes before anybody.
    [[nodiscard]] std::optional<dependence_violation> const& violation() const { return violation_; }
    [[nodiscard]] std::size_t positions() const
    {
        return unreached_ ? unreached_->owners()
               : columns_ ? columns_->positions()
               : walk_    ? walk_->positions()
                          : 0;
    }

    /// Step a has ended, in every execution, before step b begins.
    ///
    /// Requires:   both are steps of the program.
    [[nodiscard]] bool ends_before(step_id a, step_id b)
    {
        return !violation_ && position_of_[a] < start_of_[b] && before(position_of_[a], start_of_[b]);
    }
    /// The same of positions of the graph.
    ///
    /// Requires:   a < b < positions().
    /// Complexity: ranges: O(log of those of a). Columns: a bit, if b is in the same block as in the question
    ///             before; otherwise the block is loaded. Search: the walk from b to a.
    [[nodiscard]] bool before(step_id a, step_id b);
    /// Of `positions` those that come after all of `ends`, in the order given.
    ///
    /// Requires:   all are below positions(); with columns, `positions` should ascend.
    [[nodiscard]] std::vector<step_id> after_all(std::span<step_id const> ends,
                                                 std::span<step_id const> positions);

    /// How many pairs of positions are ordered; without those of them that are undecided.
    ///
    /// Complexity: ranges: O(positions + ranges). Others: as many steps as pairs, or a 512th of it.
    [[nodiscard]] std::uint64_t ordered_pairs();
    /// At most so many pairs of positions count as unordered because there was no more room.
    [[nodiscard]] std::uint64_t undecided() const { return unreached_ ? count_unreached(true) : 0; }

private:
    [[nodiscard]] std::uint64_t count_unreached(bool only_undecided) const;

    precedence_method method_;
    std::optional<dependence_violation> violation_;
    std::vector<step_id> position_of_, start_of_; // by step
    std::optional<range_sets> unreached_;         // one of these three
    std::optional<column_closure> columns_;
    std::optional<ancestor_walk> walk_;
};

/// The order of positions and steps that holds in every execution.
///
/// Requires:   `g` has been made by `dependences`.
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
