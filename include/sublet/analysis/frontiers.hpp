// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_FRONTIERS_HPP
#define SUBLET_ANALYSIS_FRONTIERS_HPP

/// Where, in every execution, the bytes of each buffer are free at the earliest.
///
///     0 ──► 1 ──► 3 ──► 4       ends {1}:     what follows 1 is free, and all behind it
///     └───► 2 ──► ┘             ends {1, 2}:  3 is free, and all behind it
///
/// What comes after all ends of a buffer is closed upwards, so its lowest positions say all. Nearly always
/// they are what follows the last end. If not, a walk from any one of the ends finds them, if it turns back
/// wherever a position is free. Ends differ: one may lead through half of the program before it meets the
/// others, and another meet them at once. So each has two steps, then each has eight times as many, until one
/// has finished.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

/// By buffer.
struct frontier_rows {
    std::vector<step_id> last_end;     ///< the frontier is what follows this end; or `no_step`
    csr_rows lowest;                   ///< then it is these; ascending
    std::vector<unsigned char> is_cut; ///< no walk has finished: what follows `last_end` is free, or not yet
    std::uint64_t visits = 0;          ///< positions that were looked at
};

namespace detail {

/// One buffer after the other over the same graph.
class frontier_walk {
public:
    explicit frontier_walk(csr_rows const& after) : after_(after), seen_(after.rows(), 0) {}

    /// Whether all ways from `end` to where it is free have been walked; then they lead to `found`.
    template <class IsFree>
    bool walk(step_id end, std::size_t steps, IsFree is_free)
    {
        ++walks_;
        found.clear();
        open_.assign(1, end);
        while (!open_.empty()) {
            step_id const x = open_.back();
            open_.pop_back();
            for (step_id y : after_[x]) {
                if (seen_[y] == walks_) continue;
                if (steps-- == 0) return false;
                seen_[y] = walks_;
                ++visits;
                (is_free(y) ? found : open_).push_back(y);
            }
        }
        return true;
    }

    std::vector<step_id> found;
    std::uint64_t visits = 0;

private:
    csr_rows const& after_;
    std::vector<std::uint32_t> seen_; // by position: in which walk
    std::vector<step_id> open_;
    std::uint32_t walks_ = 0;
};

} // namespace detail

/// The frontiers of the buffers that `is_wanted`; the others have none, nor have outputs.
///
/// Requires:   `before` and `after` are the rows of a graph of which `lives` are positions. `is_free(b, x)`
/// is
///             asked of what some end of b leads to, and is true only if all do; where it is false though all
///             do, x is of no interest.
/// Ensures:    unless cut, a position of interest comes after all ends of b if and only if it follows
///             `last_end[b]`, or is in `lowest[b]` or comes after one of these. A buffer without ends is free
///             from the start: all positions that wait for nothing are its frontier.
/// Complexity: O(positions + edges) and the walks, which end together when there have been `most_visits`:
///             O(ends x length of the shortest walk from one of them) for each buffer.
template <class IsWanted, class IsFree>
[[nodiscard]] frontier_rows frontiers(csr_rows const& before, csr_rows const& after,
                                      concurrent_lives const& lives, IsWanted is_wanted, IsFree is_free,
                                      std::uint64_t most_visits)
{
    detail::frontier_walk walk(after);
    frontier_rows frontier;
    frontier.lowest.reserve(lives.buffers(), 0);
    frontier.last_end.assign(lives.buffers(), no_step);
    frontier.is_cut.assign(lives.buffers(), 0);
    auto walk_from_ends = [&](buffer_id b, std::span<step_id const> ends) {
        auto is_free_here = [&](step_id x) { return is_free(b, x); };
        for (std::size_t steps = 2; walk.visits < most_visits; steps *= 8)
            for (std::size_t i = ends.size(); i-- != 0;) {
                std::uint64_t const before_it = walk.visits;
                if (!walk.walk(ends[i], steps, is_free_here)) continue;
                if (i + 1 == ends.size() && walk.found.size() == walk.visits - before_it)
                    frontier.last_end[b] = ends[i]; // it turned back at once
                return;
            }
        frontier.last_end[b] = ends.back();
        frontier.is_cut[b] = 1;
    };
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        std::span<step_id const> const ends = lives.ends[b];
        if (is_wanted(b) && !lives.is_kept(b)) {
            if (ends.size() == 1) {
                frontier.last_end[b] = ends[0];
            } else if (ends.empty()) {
                for (step_id x = 0; x != after.rows(); ++x)
                    if (before[x].empty()) frontier.lowest.append(x);
            } else {
                walk_from_ends(b, ends);
            }
            if (ends.size() > 1 && frontier.last_end[b] == no_step) {
                sort_ascending(walk.found);
                for (step_id x : walk.found) {
                    bool is_lowest = true;
                    for (step_id y : before[x])
                        if (y > ends.back() && is_free(b, y)) is_lowest = false;
                    if (is_lowest) frontier.lowest.append(x);
                }
            }
        }
        frontier.lowest.close_row();
    }
    frontier.visits = walk.visits;
    return frontier;
}

} // namespace sublet

#endif
