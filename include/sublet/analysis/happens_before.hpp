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
#include <sublet/analysis/unreached.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/live_range.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
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
    explicit precedence(dependence_graph const& g, precedence_options const& options = {})
        : means_(options.means), violation_(g.violation), position_of_(g.position_of)
    {
        if (violation_) return;
        start_of_.reserve(position_of_.size());
        for (step_id s = 0; s != position_of_.size(); ++s) start_of_.push_back(g.start_of(s));
        if (means_ == precedence_means::automatic || means_ == precedence_means::ranges) {
            std::size_t const n = g.positions();
            std::vector<step_id> all;
            all.reserve(n + 1);
            for (step_id p = 0; p <= n; ++p) all.push_back(p);
            std::uint64_t const most = larger(std::uint64_t{1} << 24, 8 * std::uint64_t{n});
            unreached_.emplace(n, options.max_ranges == 0 ? most : options.max_ranges);
            auto has_room = [&](auto const&...) {
                return means_ == precedence_means::ranges || !unreached_->has_forgotten();
            };
            detail::find_unreached(g, all, *unreached_, true, has_room);
            means_ = has_room() ? precedence_means::ranges : precedence_means::columns;
            if (means_ == precedence_means::columns) unreached_.reset();
        }
        if (means_ == precedence_means::columns) columns_.emplace(g.before);
        if (means_ == precedence_means::search) walk_.emplace(g.before);
    }

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
    [[nodiscard]] bool before(step_id a, step_id b)
    {
        if (columns_) return columns_->before(a, b);
        if (walk_) return walk_->before(a, b);
        auto const not_after = (*unreached_)[a];
        std::size_t const at =
            first_that(not_after.size(), [&](std::size_t i) { return b < not_after[i].last; });
        return at == not_after.size() || b < not_after[at].first;
    }
    /// Of `positions` those that come after all of `ends`, in the order given.
    ///
    /// Requires:   all are below positions(); with columns, `positions` should ascend.
    [[nodiscard]] std::vector<step_id> after_all(std::span<step_id const> ends,
                                                 std::span<step_id const> positions)
    {
        std::vector<step_id> found;
        for (step_id p : positions) {
            std::size_t i = 0;
            while (i != ends.size() && ends[i] < p && before(ends[i], p)) ++i;
            if (i == ends.size()) found.push_back(p);
        }
        return found;
    }

    /// How many pairs of positions are ordered; without those of them that are undecided.
    ///
    /// Complexity: ranges: O(positions + ranges). Others: as many steps as pairs, or a 512th of it.
    [[nodiscard]] std::uint64_t ordered_pairs()
    {
        std::uint64_t const n = positions();
        std::uint64_t pairs = 0;
        if (columns_)
            for (std::size_t block = 0; block != columns_->blocks(); ++block) {
                columns_->load(block);
                pairs += columns_->loaded_pairs();
            }
        if (walk_)
            for (step_id b = 0; b != n; ++b) pairs += walk_->ancestors(b);
        if (unreached_) pairs = n * (n - 1) / 2 - count_unreached(false);
        return pairs;
    }
    /// At most so many pairs of positions count as unordered because there was no more room.
    [[nodiscard]] std::uint64_t undecided() const { return unreached_ ? count_unreached(true) : 0; }

private:
    [[nodiscard]] std::uint64_t count_unreached(bool only_in_doubt) const
    {
        std::uint64_t count = 0;
        for (std::size_t t = 0; t != unreached_->owners(); ++t) {
            step_id const from = only_in_doubt ? unreached_->known_until(t) : 0;
            for (live_range r : (*unreached_)[t]) count += length({larger(r.first, from), r.last});
        }
        return count;
    }

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

template <program P>
[[nodiscard]] precedence happens_before(P const& p, dependence_options const& dependence = {},
                                        precedence_options const& options = {})
{
    return precedence(dependences(p, dependence), options);
}

} // namespace sublet

#endif
