// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LATER_CONFLICTS_HPP
#define SUBLET_ANALYSIS_LATER_CONFLICTS_HPP

/// Who must not take whose bytes, if only a partial order of the steps is known: live ranges with holes.
///
///          ┌──► 1 ──► 2 ──► 3 ──┐       position          0   1   2   3   4   5   6
///     0 ───┤                    ├──► 6  begun 1, ended 2      [=======)   [=======)
///          └──► 4 ──► 5 ────────┘       begun 4, ended 5                  [=======)
///
/// What begins at 3 or 6 may take the bytes of the first; 4 and 5 may run before 2 has ended.
///
/// Number the positions in any topological order. Who begins at a lower number than u never gets its bytes;
/// who begins at a higher one gets them unless that lies in u's own range, or is a position that some end of
/// u does not reach. Those lie together, in branches that were numbered as a whole. So a few ranges say it
/// all: two buffers conflict if and only if the one that begins later does so within the ranges of the other,
/// and no pair of them is ever tested.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/live_range.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

struct conflict_ranges {
    /// By buffer: the positions, from its first on, at which nobody may begin who takes its bytes. The first
    /// is always among them; one at which nothing begins may be or not.
    live_range_lists of;
    /// At most so many pairs, of a buffer and a later begin, are forbidden because there was no more room.
    std::uint64_t undecided = 0;
};

struct conflict_options {
    /// How many ranges are held at once, eight bytes each, before all are made coarser, which only forbids
    /// and forbids first who begins last. 0: 2^24, or eight for each position and buffer if that is more.
    std::uint64_t max_ranges = 0;
};

namespace detail {

/// The union of both, in `to`.
void unite(std::span<live_range const> a, std::span<live_range const> b, std::vector<live_range>& to);

} // namespace detail

/// The positions that conflict with each buffer.
///
/// Requires:   `lives` are of `g`, which has no violation.
/// Ensures:    u gives its bytes to v in every execution if no begin of v is below the first position of u or
///             in one of its ranges; where nothing is undecided, only then. Exceptions are buffers without
///             touches and without begins: `gives_to` knows them.
/// Complexity: O(positions + edges + buffers + r) time, r = ranges of the successors of all positions and of
///             the ends of all buffers: few where few branches are open at once. O(positions + buffers +
///             ranges) memory.
/// Throws:     precondition_error if `lives` are of another graph.
[[nodiscard]] conflict_ranges later_conflicts(dependence_graph const& g, concurrent_lives const& lives,
                                              conflict_options const& options = {});

/// u can hand its bytes to v in every execution.
///
/// Ensures:    exact where nothing is undecided; otherwise never true where it should be false.
/// Complexity: O(begins of v x log of the ranges of u).
[[nodiscard]] bool gives_to(conflict_ranges const& conflicts, concurrent_lives const& lives, buffer_id u,
                            buffer_id v);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/later_conflicts.ipp>
#endif

#endif
