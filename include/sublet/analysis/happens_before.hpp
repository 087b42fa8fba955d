// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_HAPPENS_BEFORE_HPP
#define SUBLET_ANALYSIS_HAPPENS_BEFORE_HPP

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

#include <sublet/analysis/ancestor_walk.hpp>
#include <sublet/analysis/column_closure.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/range_sets.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sublet {

/// How questions are answered. The answers are the same.
enum class precedence_means : std::uint8_t {
    automatic, ///< ranges while there is room for them, otherwise columns
    ranges,
    columns,
    search
};

struct precedence_options {
    precedence_means means = precedence_means::automatic;
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
    [[nodiscard]] precedence_means means() const { return means_; }
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
    [[nodiscard]] std::uint64_t count_unreached(bool only_in_doubt) const;

    precedence_means means_;
    std::optional<dependence_violation> violation_;
    std::vector<step_id> position_of_, start_of_; // by step
    std::optional<detail::range_sets> unreached_; // one of these three
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

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/happens_before.ipp>
#endif

#endif
