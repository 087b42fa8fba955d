// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_UNREACHED_POSITIONS_HPP
#define SUBLET_ANALYSIS_INTERNAL_UNREACHED_POSITIONS_HPP

/// For each position, the later positions that it does not reach.
///
///          ┌──► 1 ──► 2 ──► 3 ──┐        6, 5, 4: none     3, 2, 1: 4 and 5     0: none
///     0 ───┤                    ├──► 6
///          └──► 4 ──► 5 ────────┘        in reverse order: for t, the intersection over its successors s of
///                                        {between t and s} + {not reached by s}
///
/// The positions that a position does not reach are parallel branches. Each branch is numbered contiguously,
/// so a few ranges describe them; where branches join, none is left.

#include <sublet/analysis/dependences.hpp>
#include <sublet/core/internal/arithmetic.hpp>
#include <sublet/structures/internal/range_sets.hpp>

#include <span>
#include <vector>

namespace sublet::detail {

/// Removes from `ranges` what is not in `others`, but keeps what lies below `from`.
///
/// Requires:   `others` begin at `from` or after it.
void intersect_from(std::vector<live_range>& ranges, position_id from, std::span<live_range const> others,
                    std::vector<live_range>& old);

/// Calls `visit(t, ranges, known)` for t from the last position to the first, until it returns false. The
/// ranges are the positions after t that t does not reach: exactly below `known`, a superset from there on.
///
/// Requires:   `next` of each position is the next one of interest, or the number of positions; ranges begin
///             and end at such only. `sets` has an owner for each position. Sets that no predecessor needs
///             any more are erased, unless `keep_all`.
/// Complexity: O(positions + edges + ranges of the successors of all positions).
template <class Visit>
void find_unreached(dependence_graph const& g, table<position_id, position_id> const& next, range_sets& sets,
                    bool keep_all, Visit visit)
{
    auto const positions = position_id::of(g.positions());
    std::vector<live_range> current, scratch;
    for (position_id t = positions; t-- != 0;) {
        auto const after = g.after[t];
        position_id known = no_position;
        current.clear();
        push_range(current, {next[t + 1], after.empty() ? positions : next[after[0]]});
        for (position_id s : after) {
            if (s == after[0]) push_ranges(current, sets[s]);
            else intersect_from(current, next[s], sets[s], scratch);
            known = smaller(known, sets.exact_until(s));
        }
        if (!keep_all)
            for (position_id s : after)
                if (g.before[s].front() == t) sets.erase(s);
        if (keep_all || !g.before[t].empty()) sets.assign(t, current, known);
        if (!visit(t, current, known)) return;
    }
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/unreached_positions.ipp>
#endif

#endif
