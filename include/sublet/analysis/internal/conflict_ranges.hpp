// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_CONFLICT_RANGES_HPP
#define SUBLET_ANALYSIS_INTERNAL_CONFLICT_RANGES_HPP

/// Conflict ranges: the begins that exclude a reuse in a partial order, as live ranges with holes.
///
///          ┌──► 1 ──► 2 ──► 3 ──┐       position          0   1   2   3   4   5   6
///     0 ───┤                    ├──► 6  begun 1, ended 2      [=======)   [=======)
///          └──► 4 ──► 5 ────────┘       begun 4, ended 5                  [=======)
///
/// A buffer that begins at 3 or 6 may reuse the bytes of the first; 4 and 5 may run before 2 has ended. Two
/// buffers conflict if and only if the later one begins within the ranges of the other.

///
/// They are found without a test of each pair. Beyond a memory limit they are coarsened, which forbids more
/// reuse.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace sublet::detail {

struct conflict_ranges {
    /// By buffer: the positions, from its first on, at which no buffer may begin that reuses its bytes. The
    /// first is always included; a position at which nothing begins may be included or not.
    buffer_range_lists of;
    /// At most so many pairs of a buffer and a later begin are forbidden only because of the memory limit.
    std::uint64_t undecided = 0;
};

void unite(std::span<live_range const> a, std::span<live_range const> b, std::vector<live_range>& to);

/// Requires:   `lives` are of `g`, which has no error.
/// Ensures:    v can reuse the bytes of u in every execution if no begin of v is below the first position of
///             u or in one of its ranges; if nothing is undecided, only then. Exceptions are buffers without
///             touches and without begins: see `reusable_by`. `max_ranges` (0: 2^24, or 8 for each position
///             and buffer if that is more) are held at once, 8 bytes each. Beyond that all sets are
///             coarsened, which forbids more reuse, the latest begins first.
/// Complexity: O(positions + edges + buffers + r) time, O(positions + buffers + ranges) memory; r = ranges of
///             the successors of all positions and of the ends of all buffers: few if few branches are open.
/// Throws:     precondition_error if `lives` belong to another graph.
[[nodiscard]] conflict_ranges find_conflict_ranges(dependence_graph const& g,
                                                   concurrent_live_ranges const& lives,
                                                   std::uint64_t max_ranges = 0);

/// Ensures:    exact if nothing is undecided; otherwise false for some pairs that could reuse.
/// Complexity: O(begins of v x log of the ranges of u).
[[nodiscard]] bool reusable_by(conflict_ranges const& conflicts, concurrent_live_ranges const& lives,
                               buffer_id u, buffer_id v);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/conflict_ranges.ipp>
#endif

#endif
